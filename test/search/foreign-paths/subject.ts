import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../../src/base/clock.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { nestFiber } from '../../../src/fibers/nest.ts';
import { proveStore } from '../../../src/fibers/prove-store.ts';
import { encodeCatalogue } from '../../../src/fibers/search/catalogue.ts';
import { FiberSearch } from '../../../src/fibers/search/search-catalogue.ts';
import { openStore } from '../../../src/fibers/store.ts';
import { createDisks } from '../../../src/platform/disks.ts';
import { createFileReader } from '../../../src/platform/file-reader.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { type Action, faultOf, type Ground, type Layout, pathOf } from './layout.ts';

/** The process that works on stores with links. It tells each step before it begins, and what is wrong after each case. */
const ground = JSON.parse(process.argv[2] ?? '') as Ground;
const disks = createDisks({ clock: systemClock, runner: createRunner() });
const files = createFileReader(systemClock, disks);
const base = join(ground.root, '.fibers');
const tell = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const layout = JSON.parse(line) as Layout;
  const wrong: string[] = [];
  try {
    await work(layout, wrong);
  } catch (error) {
    wrong.push(`it broke off: ${error instanceof Error ? error.stack : String(error)}`);
  }
  tell({ wrong });
}
disks.stop();

async function work(layout: Layout, wrong: string[]): Promise<void> {
  tell({ step: 'prove' });
  if ((await proveStore(disks, ground.root, layout)) !== 'answers') wrong.push('the store counts as silent');
  const store = openStore(ground.root, {
    lockTimeoutMs: 100,
    follow: () => layout.follow,
    answering: () => disks.answering(),
  });
  const { entries, healthy, follow } = layout;
  const asked = async (what: string, run: () => unknown): Promise<string | null> => {
    try {
      await run();
      return null;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) wrong.push(`${what}: ${messageOf(error)}`);
      return messageOf(error);
    }
  };
  const list = () => {
    const { documents, errors } = store.list();
    for (const id of healthy) {
      const row = documents.find((one) => one.id === id);
      if (row === undefined || row.error !== undefined) wrong.push(`${id} is not listed: ${row?.error}`);
    }
    for (const entry of entries) {
      const path = pathOf(entry, base);
      const said = errors.find((one) => one.path === path)?.message ?? null;
      const says = faultOf(entry, follow);
      if (says === null ? said !== null : said?.includes(says) !== true)
        wrong.push(`${entry.place}, ${entry.kind}: the list says ${said}`);
    }
  };
  const steps: Record<Action, () => unknown> = {
    list,
    places: () => store.places(),
    async read() {
      for (const { name } of entries) await asked('read', () => store.read(name));
      for (const id of healthy) if (store.read(id).body === '') wrong.push(`${id} has no body`);
    },
    async edit() {
      for (const { name } of entries.filter(({ place }) => place !== 'lock'))
        await asked('edit', () => store.edit(name, { set: { outcome: 'x' }, unset: [] }));
      for (const id of healthy) {
        const said = await asked('edit', () => store.edit(id, { set: { outcome: 'y' }, unset: [] }));
        if (said !== null) wrong.push(`${id} cannot be edited: ${said}`);
      }
    },
    async 'create below'() {
      for (const { name, place } of entries)
        if (place === 'folder' || place === 'document')
          await asked('create', () => store.create({ name: 'New', slug: 'new', parent: name }));
    },
    async nest() {
      for (const { name } of entries.filter(({ place }) => place !== 'lock'))
        await asked('nest', () => nestFiber(store, healthy[0]!, name));
    },
    search() {
      const rows = encodeCatalogue(store.list().documents, {
        followed: follow ? [ground.root] : [],
        answering: disks.answering(),
      });
      new FiberSearch().search('c', { query: 'body', limit: 50 }, rows);
    },
    async file() {
      const silent = await asked('file', () => files.stamp(join(ground.dead, 'a.txt')));
      if (silent?.includes('does not answer') !== true) wrong.push(`a file of the dead disk: ${silent}`);
      for (const entry of entries)
        if (entry.place !== 'journal') await asked('file', () => files.stat(pathOf(entry, base)));
      const well = await asked('file', () => files.stamp(join(ground.outside, 'out.md')));
      if (well !== null) wrong.push(`a healthy file cannot be read: ${well}`);
    },
  };
  // A fiber that was nested has another id, so that nothing can be said of it afterwards.
  const actions = [
    ...layout.actions.filter((one) => one !== 'nest'),
    ...layout.actions.filter((one) => one === 'nest'),
  ];
  for (const action of actions) {
    tell({ step: action });
    await steps[action]();
  }
}
