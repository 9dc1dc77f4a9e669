import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkListings } from '../../src/fibers/check.ts';
import { finishNest, nestFiber } from '../../src/fibers/nest.ts';
import { encodeCatalogue } from '../../src/fibers/search/catalogue.ts';
import { FiberSearch } from '../../src/fibers/search/search-catalogue.ts';
import { openStore, type Store } from '../../src/fibers/store.ts';
import { sweepStore } from '../../src/fibers/sweep.ts';
import { decodeSweep, type SweepResult } from '../../src/fibers/sweep-result.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

const IS_ROOT = process.getuid?.() === 0;
const ON_LINUX = process.platform === 'linux';
/** What stands in the place of a document, and what its error says. */
const CULPRITS: Record<string, { target?: string; says: RegExp; only?: boolean }> = {
  pipe: { says: /is a named pipe, not a regular file/ },
  zeros: { target: '/dev/zero', says: /is a device, not a regular file/ },
  pagemap: { target: '/proc/self/pagemap', says: /a file of the kernel/, only: ON_LINUX },
  kmsg: { target: '/proc/kmsg', says: /a file of the kernel/, only: ON_LINUX && IS_ROOT },
  environ: { target: '/proc/self/environ', says: /a file of the kernel/, only: ON_LINUX },
  passwd: {
    target: '/etc/passwd',
    says: /leads out of its store, to \/etc\/passwd; .*"follow": true.*stores\.json/,
  },
};
const present = Object.entries(CULPRITS).filter(([, culprit]) => culprit.only !== false);

let temp: TempStore;
let outside: string;
beforeEach(() => {
  temp = createTempStore();
  outside = mkdtempSync(join(tmpdir(), 'fibers-outside-'));
});
afterEach(() => {
  temp.remove();
  rmSync(outside, { recursive: true, force: true });
});

const place = (id: string) => join(temp.root, '.fibers', id, `${id}.md`);
function link(id: string, target: string): string {
  mkdirSync(dirname(place(id)), { recursive: true });
  symlinkSync(target, place(id));
  return place(id);
}
function writeCulprits(): void {
  for (const [id, { target }] of present) {
    mkdirSync(dirname(place(id)), { recursive: true });
    if (target === undefined) execFileSync('mkfifo', [place(id)]);
    else symlinkSync(target, place(id));
  }
}
function outsideFile(name: string, text: string): string {
  const path = join(outside, name);
  writeFileSync(path, text);
  return path;
}
function sweep(follow = false, table: Uint8Array | null = null): SweepResult {
  const last = table ?? new Uint8Array();
  const result = decodeSweep(sweepStore(temp.root, last, Date.now() + 60_000, { follow }));
  return { ...result, table: result.table ?? last };
}
const following = () => openStore(temp.root, { follow: () => true });
/** Bytes that this process has read by system calls so far. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
const search = (store: Store, query: string, followed: string[] = []) =>
  new FiberSearch().search('c', { query, limit: 50 }, encodeCatalogue(store.list().documents, { followed }))!;

it('a document whose name holds a control character is listed, and its refusal says that it is to be renamed', () => {
  const uid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  temp.write('a\nb.md', `---\nid: ${uid}\nname: Good\n---\n`);
  const store = openStore(temp.root);
  expect(store.list().documents).toMatchObject([{ id: 'a\nb', uid }]);
  expect(() => store.read('a\nb')).toThrow(/if a store lists it, rename its folder or file there$/);
});

describe('a store with files that are endless, that block, or that belong to other users', () => {
  it('lists the good fibers and names each bad file with its kind, at every sweep', () => {
    temp.write('good/good.md', '---\nname: Good\n---\n');
    writeCulprits();
    for (const table of [null, sweep().table]) {
      const { errors } = sweep(false, table);
      expect(errors.map(({ path }) => path).sort()).toEqual(present.map(([id]) => place(id)).sort());
      for (const [id, { says }] of present)
        expect(errors.find(({ path }) => path === place(id))?.message).toMatch(says);
    }
    const rows = sweep().changed;
    expect(rows.find(({ id }) => id === 'good')).not.toHaveProperty('error');
    for (const [id, { says }] of present) expect(rows.find((row) => row.id === id)?.error).toMatch(says);
    expect(checkListings([temp.store.list()]).map(({ path }) => path)).toEqual(
      expect.arrayContaining(present.map(([id]) => place(id))),
    );
  });

  it.skipIf(!ON_LINUX)('reads none of them in a sweep, a search or a move, even with follow', async () => {
    temp.write('good/good.md', '---\nname: Good\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\n---\nneedle\n');
    writeCulprits();
    // What the modules load by themselves is read by now.
    sweep();
    search(temp.store, 'needle');
    const before = bytesRead();
    sweep();
    sweep(true);
    expect(search(temp.store, 'needle').hits.map(({ id }) => id)).toEqual(['good']);
    expect(search(following(), 'needle', [temp.root]).total).toBe(1);
    const moved = await nestFiber(temp.store, 'good', null);
    expect(moved.new_id).toBe('good');
    expect(bytesRead() - before).toBeLessThan(1024 * 1024);
  });

  it('moves a good fiber beside them, and names those whose links could not be read', async () => {
    temp.write('good/good.md', '---\nname: Good\n---\n');
    temp.write('parent/parent.md', '---\nname: Parent\n---\n[[good]]\n');
    writeCulprits();
    const { new_id, unwritten, rewritten } = await nestFiber(temp.store, 'good', 'parent');
    expect(new_id).toBe('parent/good');
    expect(rewritten).toEqual(['parent']);
    expect(unwritten.map(({ id }) => id).sort()).toEqual(present.map(([id]) => id).sort());
  });

  it('reports a named pipe in the place of the journal of a move', async () => {
    temp.write('good/good.md', '---\nname: Good\n---\n');
    temp.write('parent/parent.md', '---\nname: Parent\n---\n');
    const note = join(temp.root, '.fibers/.nest.json');
    execFileSync('mkfifo', [note]);
    await expect(nestFiber(temp.store, 'good', 'parent')).rejects.toThrow(/\.nest\.json .*named pipe/);
    await expect(finishNest(temp.store)).rejects.toThrow('named pipe');
    unlinkSync(note);
    symlinkSync(outsideFile('secret', 'root:x:0:0'), note);
    const refused = await nestFiber(temp.store, 'good', 'parent').catch((error) => error);
    expect(refused.message).toContain('leads out of its store');
    expect(refused.message).not.toContain('root:x');
  });

  it('shows no text of a file that a document links to since it was listed', () => {
    temp.write('good/good.md', '---\nname: Good\n---\nneedle\n');
    const secret = outsideFile('secret', 'needle in a file of somebody else');
    const catalogue = encodeCatalogue(temp.store.list().documents);
    unlinkSync(place('good'));
    symlinkSync(secret, place('good'));
    const found = new FiberSearch().search('c', { query: 'somebody', limit: 50 }, catalogue)!;
    expect(found.total).toBe(0);
  });
});

describe('a document that is a link', () => {
  it('out of its store is neither read nor written by any verb, and its target is not changed', async () => {
    const target = outsideFile('notes.md', '---\nname: Outside\n---\nsecret\n');
    const left = outsideFile('.notes.md.tmp-1-0123456789ab', 'left by a writer');
    link('out', target);
    temp.write('parent/parent.md', '---\nname: Parent\n---\n');
    const { store } = temp;
    const refusal = expect.objectContaining({
      code: 'store_unavailable',
      message: expect.stringContaining(`leads out of its store, to ${target}`),
    });
    expect(() => store.read('out')).toThrow(refusal);
    expect(() => store.readPath(place('out'))).toThrow(refusal);
    expect(() => store.planEdit('out', () => ({ set: { outcome: 'x' }, unset: [] }))).toThrow(refusal);
    await expect(store.edit('out', { set: { outcome: 'x' }, unset: [] })).rejects.toEqual(refusal);
    await expect(store.remove('out')).rejects.toEqual(refusal);
    await expect(nestFiber(store, 'out', 'parent')).rejects.toEqual(refusal);
    expect(readFileSync(target, 'utf8')).toBe('---\nname: Outside\n---\nsecret\n');
    expect(existsSync(left)).toBe(true);
    expect(lstatSync(place('out')).isSymbolicLink()).toBe(true);
    expect(readdirSync(outside).sort()).toEqual(['.notes.md.tmp-1-0123456789ab', 'notes.md']);
  });

  it('out of its store is read and written if the operator lets the store follow links', async () => {
    const target = outsideFile('notes.md', '---\nname: Outside\n---\nbody\n');
    link('out', target);
    const store = following();
    expect(store.list().documents.map(({ name }) => name)).toEqual(['Outside']);
    await store.edit('out', { set: { outcome: 'done' }, unset: [] });
    expect(readFileSync(target, 'utf8')).toContain('outcome: done');
    expect(lstatSync(place('out')).isSymbolicLink()).toBe(true);
  });

  it('is read again by the next sweep when the operator changes whether its store follows links', () => {
    temp.write('good/good.md', '---\nname: Good\n---\n');
    link('out', outsideFile('notes.md', '---\nname: Outside\n---\n'));
    const strict = sweep();
    const allowed = sweep(true, strict.table);
    expect(allowed.changed.find(({ id }) => id === 'out')).toMatchObject({ name: 'Outside' });
    expect(allowed.errors).toEqual([]);
    const again = sweep(false, allowed.table);
    expect(again.changed.find(({ id }) => id === 'out')?.error).toContain('leads out of its store');
    expect(sweep(false, again.table).changed).toEqual([]);
  });

  it('inside its store is read and written, and stays a link', async () => {
    const target = temp.write('shared/text', '---\nname: Shared\n---\nbody\n');
    link('in', '../shared/text');
    expect(sweep().errors).toEqual([]);
    await temp.store.edit('in', { set: { outcome: 'done' }, unset: [] });
    expect(readFileSync(target, 'utf8')).toContain('outcome: done');
    expect(lstatSync(place('in')).isSymbolicLink()).toBe(true);
  });

  it('that is redirected to another file during an edit is written to neither file', async () => {
    const inside = temp.write('shared/text', '---\nname: Shared\n---\nbody\n');
    const target = outsideFile('notes.md', '---\nname: Shared\n---\nbody\n');
    link('in', inside);
    let planned = 0;
    const edit = temp.store.update('in', () => {
      planned += 1;
      if (planned === 1) {
        symlinkSync(target, `${place('in')}.new`);
        renameSync(`${place('in')}.new`, place('in'));
      }
      return { set: { outcome: 'done' }, unset: [] };
    });
    await expect(edit).rejects.toThrow('leads out of its store');
    expect(readFileSync(inside, 'utf8')).not.toContain('outcome');
    expect(readFileSync(target, 'utf8')).not.toContain('outcome');
    expect(readdirSync(outside)).toEqual(['notes.md']);
  });
});

describe('paths that are not links of a document', () => {
  it('a hard link is read and written like any file', async () => {
    mkdirSync(dirname(place('hard')));
    linkSync(outsideFile('notes.md', '---\nname: Hard\n---\n'), place('hard'));
    expect(temp.store.list()).toMatchObject({ documents: [{ name: 'Hard' }], errors: [] });
    await temp.store.edit('hard', { set: { outcome: 'done' }, unset: [] });
    expect(readFileSync(place('hard'), 'utf8')).toContain('outcome: done');
  });

  it('a store whose root or .fibers is a link has its documents at the target', async () => {
    temp.write('good/good.md', '---\nname: Good\n---\n');
    const linked = join(outside, 'linked');
    symlinkSync(temp.root, linked);
    const apart = join(outside, 'apart');
    mkdirSync(apart);
    symlinkSync(join(temp.root, '.fibers'), join(apart, '.fibers'));
    for (const [nth, root] of [linked, apart].entries()) {
      const store = openStore(root);
      expect(store.list()).toMatchObject({ documents: [{ name: 'Good' }], errors: [] });
      await store.edit('good', { set: { outcome: `done ${nth}` }, unset: [] });
      expect(readFileSync(place('good'), 'utf8')).toContain(`outcome: done ${nth}`);
    }
  });

  it('a folder that leads out of the store gets no new fiber and no lock file', async () => {
    symlinkSync(outside, join(temp.root, '.fibers', 'away'));
    await expect(temp.store.create({ name: 'Away', slug: 'away' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(readdirSync(outside)).toEqual([]);
  });
});
