import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renameLinks } from '../../src/fibers/links.ts';
import { finishNest, nestFiber, planNest } from '../../src/fibers/nest.ts';
import { rehearsedNest } from '../../src/fibers/rehearsed-write.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

let temp: TempStore;
beforeEach(async () => {
  temp = createTempStore();
  await temp.store.create({
    name: 'work',
    body: 'See [[old/loader]] and [[old/loader/part#Now|it]], not [[old/loaders]].\n',
  });
  await temp.store.create({ name: 'old' });
  await temp.store.create({
    name: 'loader',
    parent: 'old',
    body: 'I am [[old/loader]].\n',
    outcome: 'Look at [[old/loader/part]].',
  });
  await temp.store.create({ name: 'part', parent: 'old/loader' });
  temp.write('old/loader/data.csv', 'a,b\n');
});
afterEach(() => temp.remove());
const at = (path: string) => join(temp.root, '.fibers', path);
const hidden = () => readdirSync(at('.')).filter((name) => name.startsWith('.'));

describe('nestFiber', () => {
  it('[WPL-12] moves the folder with children and companions, and rewrites every link to a moved id', async () => {
    const { uid } = temp.store.read('old/loader');
    const nested = await nestFiber(temp.store, 'old/loader', 'work');
    expect(nested).toEqual({
      id: 'old/loader',
      new_id: 'work/loader',
      rewritten: expect.any(Array),
      unwritten: [],
    });
    expect(nested.rewritten.sort()).toEqual(['work', 'work/loader']);
    expect(temp.store.read('work/loader')).toMatchObject({
      uid,
      body: 'I am [[work/loader]].\n',
      outcome: 'Look at [[work/loader/part]].',
    });
    expect(temp.store.read('work').body).toBe(
      'See [[work/loader]] and [[work/loader/part#Now|it]], not [[old/loaders]].\n',
    );
    expect(temp.store.locate('work/loader/part')).not.toBeNull();
    expect(readFileSync(at('work/loader/data.csv'), 'utf8')).toBe('a,b\n');
    expect(existsSync(at('old/loader'))).toBe(false);
    expect(hidden()).toEqual([]);
    // Nothing is left locked at the new place.
    await temp.store.edit('work/loader', { set: { due: '2026-02-02' } });
  });

  it('moves a fiber to the top, and a bare document with its children below another', async () => {
    await nestFiber(temp.store, 'old/loader', null);
    expect(temp.store.read('loader').body).toBe('I am [[loader]].\n');
    temp.write('bare.md', '---\nname: Bare\n---\n[[bare/kid]]\n');
    temp.write('bare/kid/kid.md', '---\nname: Kid\n---\n');
    await nestFiber(temp.store, 'bare', 'work');
    expect(temp.store.read('work/bare').body).toBe('[[work/bare/kid]]\n');
    expect(temp.store.locate('work/bare/kid')).not.toBeNull();
    expect(existsSync(at('bare.md')) || existsSync(at('bare'))).toBe(false);
  });

  it('does nothing if the fiber is already there', async () => {
    const { digest } = temp.store.read('old/loader');
    expect(await nestFiber(temp.store, 'old/loader', 'old')).toMatchObject({
      new_id: 'old/loader',
      rewritten: [],
    });
    expect(temp.store.read('old/loader').digest).toBe(digest);
  });

  it.each([
    ['itself', 'old/loader', 'old/loader', 'invalid_request'],
    ['its child', 'old/loader', 'old/loader/part', 'invalid_request'],
    ['nobody', 'old/loader', 'nowhere', 'fiber_not_found'],
    ['what is taken', 'old/loader', 'taken', 'already_exists'],
    ['a fiber that is not there', 'gone', 'work', 'fiber_not_found'],
  ])('[WPL-12] refuses to move it under %s, and moves nothing', async (_what, id, parent, code) => {
    await temp.store.create({ name: 'taken' });
    await temp.store.create({ name: 'loader', parent: 'taken' });
    await expect(nestFiber(temp.store, id, parent)).rejects.toMatchObject({ code });
    expect(temp.store.locate('old/loader')).not.toBeNull();
    expect(hidden()).toEqual([]);
  });

  it('[FIB-1] [RPL-3] refuses to move one to the top level under the name of the feed of all hosts', async () => {
    await temp.store.create({ name: 'Composite', parent: 'work' });
    await expect(nestFiber(temp.store, 'work/composite', null)).rejects.toMatchObject({
      code: 'already_exists',
    });
    expect(temp.store.locate('work/composite')).not.toBeNull();
    expect(hidden()).toEqual([]);
  });

  it('continues after a document that cannot be written, and names it', async () => {
    temp.write('broken/broken.md', '---\nname: [\n---\n[[old/loader]]\n');
    const { unwritten, rewritten } = await nestFiber(temp.store, 'old/loader', 'work');
    expect(unwritten).toMatchObject([{ id: 'broken' }]);
    expect(rewritten).toContain('work');
  });

  it('finishes an earlier move that was interrupted before its links were rewritten', async () => {
    await nestFiber(temp.store, 'old/loader', 'work');
    await temp.store.edit('work', { body: 'See [[old/loader]].\n' });
    writeFileSync(at('.nest.json'), JSON.stringify({ from: 'old/loader', to: 'work/loader', bare: false }));
    expect(await finishNest(temp.store)).toBe('work/loader');
    expect(temp.store.read('work').body).toBe('See [[work/loader]].\n');
    expect(hidden()).toEqual([]);
  });

  it('drops a move that was interrupted before it began, and finishes one between its two steps', async () => {
    writeFileSync(at('.nest.json'), JSON.stringify({ from: 'old/loader', to: 'work/loader', bare: false }));
    expect(await finishNest(temp.store)).toBeNull();
    expect(temp.store.locate('old/loader')).not.toBeNull();
    temp.write('bare.md', '---\nname: Bare\n---\n');
    temp.write('work/bare/kid/kid.md', '---\nname: Kid\n---\n');
    writeFileSync(at('.nest.json'), JSON.stringify({ from: 'bare', to: 'work/bare', bare: true }));
    expect(await finishNest(temp.store)).toBe('work/bare');
    expect(temp.store.read('work/bare').name).toBe('Bare');
    expect(await finishNest(temp.store)).toBeNull();
    rmSync(at('work'), { recursive: true });
  });
});

it.each([
  ['[[a/b]]', '[[c/b]]'],
  ['[[ a/b ]]', '[[c/b]]'],
  ['![[a/b/d|x]]', '![[c/b/d|x]]'],
  ['[[a/bc]] [[x/a/b]] a/b', '[[a/bc]] [[x/a/b]] a/b'],
  ['[[a/b', '[[a/b'],
])('a link in %j becomes %j', (text, expected) => {
  expect(renameLinks(text, 'a/b', 'c/b')).toBe(expected);
});

describe('planNest', () => {
  const files = () =>
    readdirSync(temp.root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((path) => [path, statSync(join(temp.root, path)).mtimeMs]);

  it('[WPL-12] shows the move and the diff of every link, at the new paths, and writes nothing', async () => {
    const before = files();
    const shown = await planNest(temp.store, 'old/loader', 'work');
    expect(files()).toEqual(before);
    expect(shown).toMatchObject({
      new_id: 'work/loader',
      moves: [{ from: at('old/loader'), to: at('work/loader') }],
      unwritten: [],
    });
    const { documents } = rehearsedNest(shown);
    const paths = documents.map(({ path }) => path).sort();
    expect(paths).toEqual([at('work/loader/loader.md'), at('work/work.md')]);
    const own = documents.find(({ path }) => path === at('work/loader/loader.md'));
    expect(own?.diff).toContain('+++ b/.fibers/work/loader/loader.md');
    expect(own?.diff).toContain('+I am [[work/loader]].');
  });

  it('[WPL-12] moves a bare document and its folder apart, as the real move does', async () => {
    temp.write('../.fibers/bare.md', '---\nname: bare\n---\n');
    const shown = await planNest(temp.store, 'bare', 'work');
    expect(shown.moves).toEqual([{ from: at('bare.md'), to: at('work/bare/bare.md') }]);
  });

  it('[WPL-12] is refused like the real move, and while another move is unfinished', async () => {
    for (const [id, parent, code] of [
      ['old', 'old/loader', 'invalid_request'],
      ['nobody', null, 'fiber_not_found'],
    ] as const)
      await expect(planNest(temp.store, id, parent)).rejects.toMatchObject({ code });
    expect(await planNest(temp.store, 'work', null)).toMatchObject({ moves: [], documents: [] });
    const journal = JSON.stringify({ from: 'old', to: 'work/old', bare: false });
    writeFileSync(at('.nest.json'), journal);
    await expect(planNest(temp.store, 'old/loader', 'work')).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(at('.nest.json'), 'utf8')).toBe(journal);
    expect(existsSync(at('old'))).toBe(true);
  });
});
