import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Dispatched } from '../../src/contract/http/dispatch.ts';
import type { Rehearsal } from '../../src/contract/http/rehearsal.ts';
import { unifiedDiff } from '../../src/fibers/text-diff.ts';
import { type RealAppServer, startRealAppServer } from './app-server.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon;
let server: RealAppServer | undefined;
afterEach(async () => {
  await server?.stop();
  await daemon.stop();
});

const untimed = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T');

/** Everything that a real run would move: the document, the runs, the conversations, what the model saw. */
async function traces(path: string) {
  const { data } = await server!.ask<{ data: { id: string }[] }>('thread/list', {});
  return {
    text: readFileSync(path, 'utf8'),
    launches: daemon.launches().length,
    blocked: (await daemon.state()).blocked,
    conversations: data.map(({ id }) => id),
    requests: daemon.stub.requests.length,
  };
}

/** What a command says that it would do, once it is seen that nothing moved. */
async function rehearsed(path: string, ...argv: string[]): Promise<Rehearsal> {
  const before = await traces(path);
  const shown = JSON.parse(await daemon.svc(...argv, '--dry-run', '--json')) as Rehearsal;
  expect(await traces(path)).toEqual(before);
  return shown;
}

/** The rehearsal with the ids of the real run in place of its own. */
function asRun(text: string, shown: Rehearsal, run: Dispatched, launch_id: string): string {
  const { minted } = shown;
  const ids: [string | undefined, string][] = [
    [minted.run_id, run.run_id],
    [minted.launch_id, launch_id],
    ['<conversation>', run.thread_id ?? ''],
  ];
  return ids.reduce(
    (now, [from, to]) => (from === undefined ? now : now.replaceAll(from, to)),
    untimed(text),
  );
}

it('[WPL-1] [WPL-3] [WRK-4] rehearses the install, the first and the resumed run of an app conversation exactly as the real ones write and send', async () => {
  daemon = await startRealDaemon('codex', {
    async prepare({ home, root, env }) {
      server = await startRealAppServer(root, env);
      return { SVC_APP_SERVER: server.setting, HOME: home };
    },
  });
  await daemon.add('talk');
  const { path } = await daemon.rowWhere('talk', () => true);
  // The daemon is not released, so that nothing but a person starts the fiber.
  const install = [
    'install',
    'talk',
    '--surface',
    'app',
    '--agent',
    'codex',
    '--project-dir',
    daemon.project_dir,
  ];
  let before = readFileSync(path, 'utf8');
  const installed = await rehearsed(path, ...install);
  await daemon.svc(...install);
  expect(installed.documents[0]?.diff).toContain('surface: app');
  expect(untimed(installed.documents[0]?.diff ?? '')).toBe(
    untimed(unifiedDiff(relative(daemon.store, path), before, readFileSync(path, 'utf8'))),
  );
  await daemon.rowWhere('talk', ({ svc, held }) => svc?.surface === 'app' && held !== undefined);

  const threads: (string | null | undefined)[] = [];
  for (const more of [[], ['--message', 'And on, "please".']]) {
    const command = ['dispatch', 'talk', ...more];
    before = readFileSync(path, 'utf8');
    const shown = await rehearsed(path, ...command);
    expect(shown).toMatchObject({ dry_run: true, command: null, ends: [] });
    const sent = daemon.stub.requests.length;
    await daemon.svc(...command);
    const { runtime } = await daemon.rowWhere('talk', (row) => row.runtime?.phase === 'waiting');
    const launch = daemon.launches().at(-1)!;
    const run = { ...runtime, run_id: launch.run_id } as unknown as Dispatched;
    threads.push(runtime?.thread_id);
    await expect.poll(() => daemon.stub.requests.length, { timeout: WITHIN_MS }).toBeGreaterThan(sent);
    const seen = daemon.stub.requests[sent]?.turns.map(({ text }) => text) ?? [];
    const prompt = asRun(shown.prompt ?? '', shown, run, launch.launch_id);
    expect(prompt).toContain('Fiber: talk');
    expect(seen.map(untimed)).toContain(prompt);
    expect(asRun(shown.documents[0]?.diff ?? '', shown, run, launch.launch_id)).toBe(
      untimed(unifiedDiff(relative(daemon.store, path), before, readFileSync(path, 'utf8'))),
    );
    await daemon.svc('kill', 'talk', '--yes');
    await daemon.rowWhere('talk', (row) => row.runtime === undefined);
  }
  expect(threads[0]).toBeDefined();
  // The second run went on with the first one’s conversation, as its rehearsal had said.
  expect(threads[1]).toBe(threads[0]);
});
