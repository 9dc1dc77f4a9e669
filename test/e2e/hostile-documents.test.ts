import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const HEALTHY = 1_000;
const FRONTMATTER_CHARS = 256 * 1024;
const fill = (unit: string) => unit.repeat(Math.floor((FRONTMATTER_CHARS - 100) / unit.length));

/** Frontmatter that took a reader from seconds to for ever, or gigabytes. */
const HOSTILE: Record<string, string> = {
  'complex-keys': `x: ${'? '.repeat(700)}x`,
  'complex-lines': Array.from({ length: 700 }, (_, level) => `${' '.repeat(level)}?`).join('\n'),
  'maps-as-keys': `${'{'.repeat(25)}a: 1${'}: 1'.repeat(25)}`,
  aliases: `a: &a 1\nx: [${'*a, '.repeat(18_000)}]`,
  'long-aliases': `a: &a "${'x'.repeat(200_000)}\\n"\nsvc: {x: [${Array(90).fill('*a').join(', ')}]}`,
  anchors: `x: [${Array.from({ length: 10_000 }, (_, nth) => `&a${nth} 1`).join(', ')}]`,
  lists: `x: ${fill('[')}`,
  maps: `x: ${fill('{a: ')}`,
  items: `x:\n${fill('- ')}`,
  indents: Array.from({ length: 700 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
  keys: Array.from({ length: 20_000 }, (_, nth) => `k${nth}: v`).join('\n'),
  tags: `tags: [${Array(30_000).fill('t').join(', ')}]`,
  errors: fill('@a: 1\n'),
  outcome: `outcome: ${'x'.repeat(300_000)}`,
};

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

const documentOf = (frontmatter: string) => `---\n${frontmatter}\n---\nbody\n`;

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe('a store with hostile documents', () => {
  it('[DSP-1] lists every other fiber at once, starts them, and reports each hostile document by its path', async () => {
    daemon = await startTestDaemon({
      prepare(home) {
        for (let nth = 0; nth < HEALTHY; nth += 1)
          write(home.documentPath(`healthy/n${nth}`), documentOf(`name: N ${nth}`));
        for (const [id, text] of Object.entries(HOSTILE)) write(home.documentPath(id), documentOf(text));
        home.fiber('armed');
      },
    });
    const rows = async () => (await daemon!.fibers()).filter((row) => row.id.startsWith('healthy/n'));
    await until('the listing', async () => (await rows()).length === HEALTHY);
    await until('the worker', async () => (await daemon!.row('armed'))?.runtime?.state === 'running');

    const culprits = Object.keys(HOSTILE).map((id) => daemon!.home.documentPath(id));
    const state = await daemon.state();
    expect(state.document_errors.count).toBe(culprits.length);
    expect(state.document_errors.first.map((one) => one.path)).toEqual(culprits.toSorted());
    for (const id of Object.keys(HOSTILE)) expect((await daemon.row(id))?.error, id).toBeTypeOf('string');
    const status = (await daemon.home.svc('status', '--json')).stdout;
    const check = (await daemon.home.svc('fiber', 'check')).stdout;
    for (const path of culprits) {
      expect(status).toContain(path);
      expect(check).toContain(path);
    }
    expect((await daemon.home.svc('status')).stdout).toMatch(
      /^fault\tdocuments\t\d+ cannot be read\t\tsvc fiber check$/m,
    );
    expect((await daemon.home.svc('daemon', 'status')).stdout).toContain('Documents with an error');
  });

  it('[DSP-1] keeps working when healthy documents become hostile while it runs', async () => {
    daemon = await startTestDaemon({
      prepare(home) {
        for (const id of Object.keys(HOSTILE)) write(home.documentPath(id), documentOf(`name: ${id}`));
        home.fiber('good', { front: { status: 'open' } });
      },
    });
    await until('the listing', async () => (await daemon!.fibers()).length > Object.keys(HOSTILE).length);
    for (const [id, text] of Object.entries(HOSTILE)) write(daemon.home.documentPath(id), documentOf(text));
    for (const id of Object.keys(HOSTILE))
      await until(`the error of ${id}`, async () => (await daemon!.row(id))?.error !== undefined);

    const edit = (body: object) => daemon!.http.post('/fiber-edit', { fiber_id: 'good', ...body });
    expect((await edit({ outcome: 'x'.repeat(300_000) })).status).toBe(400);
    const tags = Array(30_000).fill('t');
    expect((await edit({ tags })).status).toBe(400);
    const set = Object.fromEntries(Array.from({ length: 1_000 }, (_, nth) => [`k${nth}`, nth]));
    expect((await edit({ set })).status).toBe(400);
    expect((await edit({ outcome: 'fine' })).status).toBe(200);
    expect((await daemon.row('good'))?.outcome).toBe('fine');
    expect((await daemon.http.post('/fiber-edit', { fiber_id: 'complex-keys', outcome: 'x' })).status).toBe(
      422,
    );

    write(daemon.home.documentPath('complex-keys'), documentOf('name: "fixed\\x21"'));
    await until('the fix', async () => (await daemon!.row('complex-keys'))?.name === 'fixed!');
    const { components } = await daemon.version();
    expect(components.filter((one) => one.restarts > 0)).toEqual([]);
  });
});
