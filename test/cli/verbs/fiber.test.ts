import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_DOCUMENT_BYTES } from '../../../src/fibers/document.ts';
import { runVerb } from '../../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../../fixtures/fibers/temp-store.ts';

let temp: TempStore;
beforeEach(() => {
  temp = createTempStore();
});
afterEach(() => temp.remove());
const run = (args: string[], options: Parameters<typeof runVerb>[1] = {}) =>
  runVerb(['fiber', ...args], { env: { SVC_STORES: temp.root }, ...options });

describe('svc fiber', () => {
  it('lists no second path to a store that is listed, and names the first', async () => {
    const [store, alias] = [join(temp.root, 'one'), join(temp.root, 'two')];
    const env = { SVC_STORES: store };
    expect(await run(['init', store], { env })).toMatchObject({ code: 0 });
    symlinkSync(store, alias);
    expect(await run(['init', alias, '--poll'], { env })).toMatchObject({
      err: expect.stringContaining(`${alias} is the store ${store}`),
    });
  });

  it('[DSP-7] says of a list that could not be written that this file alone was left as it was', async () => {
    const store = join(temp.root, 'new');
    const { err } = await run(['init', store], { env: { SVC_STORES: '', SVC_CONFIG_DIR: '/proc/none' } });
    expect(existsSync(join(store, '.fibers'))).toBe(true);
    expect(err).toMatch(/stores\.json cannot be written: .+; that file was not changed; /);
  });

  it('says of a listed store that is away to mount its disk first', async () => {
    const away = join(temp.root, 'away');
    for (const args of [['add', 'x'], ['ls'], ['add', 'x', '--store', away]])
      expect((await run(args, { env: { SVC_STORES: away } })).err).toMatch(
        /away cannot be read .+mount its disk/,
      );
    const elsewhere = await run(['add', 'x', '--store', away]);
    expect(elsewhere.err).toContain('is not a store; make it one with: svc fiber init');
  });

  it('makes a store, adds a fiber, edits, shows, lists and removes it', async () => {
    const dir = join(temp.root, 'project');
    expect(await run(['init', 'project'], { cwd: temp.root })).toMatchObject({
      code: 0,
      out: `Store ${dir}\nThe daemon does not work on it, since SVC_STORES names other folders; add it there.\n`,
    });
    const inProject = { env: { SVC_STORES: dir } };
    const added = await run(
      [
        'add',
        'Rewrite it',
        '--tag',
        'a',
        'b',
        '--due',
        '2026-02-14',
        '--body',
        '-',
        '--status',
        'open',
        '--json',
      ],
      { ...inProject, stdin: 'Do this.' },
    );
    const { fiber } = JSON.parse(added.out);
    expect(fiber).toMatchObject({
      id: 'rewrite-it',
      tags: ['a', 'b'],
      due: '2026-02-14',
      body: 'Do this.\n',
    });
    const edited = await run(
      [
        'edit',
        fiber.uid,
        '--outcome',
        'Done',
        '--tag',
        'c',
        '--untag',
        'a',
        '--set',
        'svc.agent=pi',
        'tempered=true',
        '--unset',
        'due',
      ],
      inProject,
    );
    expect(edited).toMatchObject({ code: 0, error: null });
    const shown = JSON.parse((await run(['show', 'rewrite-it', '--json'], inProject)).out).fiber;
    expect(shown).toMatchObject({ outcome: 'Done', tags: ['b', 'c'], svc: { agent: 'pi' }, tempered: true });
    expect(shown.due).toBeUndefined();
    expect((await run(['show', 'rewrite-it', '--body-only'], inProject)).out).toBe('Do this.\n');
    expect((await run(['show', 'rewrite-it'], inProject)).out).toMatch(
      /^fiber\s+rewrite-it\n.*name\s+Rewrite it\n/s,
    );
    expect((await run(['ls', '--svc', '--tag', 'b'], inProject)).out).toBe(
      'rewrite-it\topen\t\t\tRewrite it\n',
    );
    expect((await run(['ls', '--status', 'closed'], inProject)).out).toBe('No fibers.\n');
    expect((await run(['rm', 'rewrite-it', '--yes'], inProject)).code).toBe(0);
    expect(JSON.parse((await run(['ls', '--json'], inProject)).out)).toEqual({ fibers: [], errors: [] });
  });

  it('shows what a removal would take with it, and takes just that', async () => {
    await temp.store.create({ name: 'a' });
    await temp.store.create({ name: 'b', parent: 'a' });
    temp.write('a/notes.txt', 'mine');
    for (const dry of [['--dry-run'], []])
      expect(await run(['rm', 'a', '--yes', ...dry])).toMatchObject({ error: 'conflict' });
    const shown = await run(['rm', 'a', '--recursive', '--dry-run']);
    expect(shown).toMatchObject({ code: 0, error: null });
    expect(shown.out).toContain('remove a and, beside it, b, notes.txt');
    expect(shown.out).toContain('-name: a');
    expect(temp.store.list().documents).toHaveLength(2);
    expect((await run(['rm', 'a', '--recursive', '--yes'])).code).toBe(0);
    expect(temp.store.list().documents).toEqual([]);
  });

  it('removes a document that cannot be read, and says so before', async () => {
    temp.write('a/a.md', 'x'.repeat(MAX_DOCUMENT_BYTES + 1));
    expect(await run(['rm', 'a', '--dry-run'])).toMatchObject({ code: 0, error: null });
    expect(await run(['rm', 'a', '--yes'])).toMatchObject({ code: 0, error: null });
    expect(existsSync(join(temp.root, '.fibers/a'))).toBe(false);
  });

  it('refuses an edit with an outdated digest', async () => {
    const { digest } = await temp.store.create({ name: 'a' });
    expect((await run(['edit', 'a', '--outcome', 'one', '--expected-digest', digest])).code).toBe(0);
    expect(await run(['edit', 'a', '--outcome', 'two', '--expected-digest', digest])).toMatchObject({
      error: 'conflict',
    });
  });

  it.each([
    [['add', 'x', '--status', 'done'], 'invalid_request'],
    [['add', 'x', '--parent', 'nobody'], 'fiber_not_found'],
    [['add', ' '], 'invalid_request'],
    [['edit', 'a'], 'invalid_request'],
    [['edit', 'a', '--set', 'nonsense'], 'invalid_request'],
    [['edit', 'a', '--set', 'x=[1'], 'invalid_request'],
    [['show', 'nobody'], 'fiber_not_found'],
    [['show', '../a'], 'invalid_request'],
  ])('refuses %j', async (args, error) => {
    await temp.store.create({ name: 'a' });
    expect(await run(args)).toMatchObject({ code: null, error });
  });

  it('reports a store that cannot be read as an error, beside the fibers of the others', async () => {
    await temp.store.create({ name: 'a' });
    const outcome = await run(['ls'], { env: { SVC_STORES: `${temp.root},${temp.root}/nowhere` } });
    expect(outcome.code).toBe(1);
    expect(outcome.out).toContain('a\topen\t');
    expect(outcome.err).toContain('svc fiber init');
    const find = await run(['show', 'b'], { env: { SVC_STORES: `${temp.root},${temp.root}/nowhere` } });
    expect(find.error).toBe('store_unavailable');
  });

  it('checks the documents and exits with 1 while one is invalid', async () => {
    await temp.store.create({ name: 'a' });
    expect(await run(['check'])).toMatchObject({ code: 0, out: '1 checked, 0 to fix\n' });
    temp.write('bad/bad.md', '---\nname: [\n---\n');
    const outcome = await run(['check', '--json']);
    expect(outcome.code).toBe(1);
    expect(JSON.parse(outcome.out)).toMatchObject({
      checked: 2,
      problems: [{ message: expect.stringContaining('line 3') }],
    });
    renameSync(join(temp.root, '.fibers/bad'), join(temp.root, '.fibers/renamed'));
    temp.write('renamed/bad.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\n---\n');
    writeFileSync(join(temp.root, '.fibers/a/.DS_Store'), '');
    const [from, to] = ['bad', 'renamed'].map((name) => join(temp.root, '.fibers/renamed', `${name}.md`));
    expect(await run(['check'])).toMatchObject({
      code: 1,
      out: expect.stringContaining(`run: mv ${from} ${to}\n1 checked, 1 to fix\n`),
    });
  });

  it('takes the stores from stores.json, else from the current folder, else says what to do', async () => {
    await temp.store.create({ name: 'a' });
    writeFileSync(join(temp.root, 'stores.json'), JSON.stringify({ version: 1, stores: [temp.root] }));
    expect((await run(['show', 'a'], { env: { SVC_CONFIG_DIR: temp.root } })).code).toBe(0);
    writeFileSync(join(temp.root, 'stores.json'), '{');
    expect((await run(['show', 'a'], { env: { SVC_CONFIG_DIR: temp.root } })).error).toBe('invalid_config');
    rmSync(join(temp.root, 'stores.json'));
    expect((await run(['show', 'a'], { env: {}, cwd: join(temp.root, '.fibers/a') })).code).toBe(0);
    expect(await run(['ls'], { env: {}, cwd: '/' })).toMatchObject({ error: 'store_not_found' });
  });

  it('prints hostile names without terminal control sequences', async () => {
    temp.write('h/h.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nname: "x\\e[2Jy\\nz"\nstatus: open\n---\n');
    expect((await run(['ls'])).out).toContain('h\topen\t\t\tx\\u001b[2Jy z\n');
  });
});
