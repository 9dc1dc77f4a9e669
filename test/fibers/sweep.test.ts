import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDocuments, sweepStore } from '../../src/fibers/sweep.ts';
import {
  addReadings,
  decodeReading,
  decodeSweep,
  encodePaths,
  type SweepResult,
} from '../../src/fibers/sweep-result.ts';
import { createTempStore, type TempStore } from '../fixtures/fibers/temp-store.ts';

const LATER = 60_000;
let temp: TempStore;
beforeEach(() => {
  temp = createTempStore();
});
afterEach(() => temp.remove());

const document = (name: string, body = '') => `---\nname: ${name}\n---\n${body}`;
/** A sweep with the table that the next one is given. */
type Swept = SweepResult & { table: Uint8Array };

function sweep(table: Uint8Array | null = null, now = Date.now() + LATER): Swept {
  const last = table ?? new Uint8Array();
  const result = decodeSweep(sweepStore(temp.root, last, now));
  return { ...result, table: result.table ?? last };
}
/** A sweep by a user whom file modes bind, which they do not for root. */
function sweepUnprivileged(table?: Uint8Array): Swept {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid!(65_534);
  try {
    return sweep(table);
  } finally {
    if (isRoot) process.seteuid!(0);
  }
}
const ids = (result: SweepResult) => result.changed.map((row) => row.id).sort();

describe('sweepStore', () => {
  it('lists every fiber once, and skips hidden names, companions, locks and temporary files', () => {
    temp.write('entry.md', document('Entry'));
    temp.write('a/a.md', document('A', 'x'.repeat(10_000)));
    temp.write('a/notes.md', 'companion');
    temp.write('a/b/b.md', document('B'));
    temp.write('folder/only/deep/deep.md', document('Deep'));
    temp.write('.git/git/git.md', document('no'));
    temp.write('a/.a.md.lock', '{}');
    temp.write('a/.a.md.tmp-1-0123456789ab', document('half'));
    const result = sweep();
    expect(ids(result)).toEqual(['a', 'a/b', 'entry', 'folder/only/deep']);
    expect(result.changed.every((row) => !('body' in row))).toBe(true);
    expect(result.errors).toEqual([]);
    expect(result.folders).toContain(join(temp.root, '.fibers/a/b'));
  });

  it('leaves new documents and folders beyond a limit to other readers, with the same rows and table as result', () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) temp.write(`${name}/${name}.md`, document(name));
    temp.write('f/f.md', '---\nname: [\n---\n');
    const now = Date.now() + LATER;
    const bounded = decodeSweep(sweepStore(temp.root, new Uint8Array(), now, { most_new: 5 }));
    expect(bounded.changed).toHaveLength(2);
    expect(bounded.unread).toHaveLength(4);
    expect(bounded.unread.every((path) => path.endsWith('/'))).toBe(true);
    // One went away between the two.
    rmSync(join(temp.root, '.fibers/e/e.md'));
    const halves = [bounded.unread.slice(0, 1), bounded.unread.slice(1)];
    const whole = addReadings(
      bounded,
      halves.map((paths) => decodeReading(readDocuments(temp.root, encodePaths(paths), now))),
    );
    expect(whole.unread).toEqual([]);
    expect(whole.folders).toHaveLength(7);
    expect(ids(whole)).toEqual(['a', 'b', 'c', 'd', 'f']);
    expect(whole.changed.filter((row) => row.error !== undefined).map((row) => row.id)).toEqual(['f']);
    temp.write('b/b.md', document('B2'));
    const next = sweep(whole.table, now);
    expect(ids(next)).toEqual(['b']);
    expect(next.removed).toEqual([]);
  });

  it('makes one packed table of several once, and the rows stay as they are known', () => {
    for (let index = 0; index < 300; index += 1) temp.write(`folder/f${index}/f${index}.md`, document('F'));
    const now = Date.now() + LATER;
    const first = decodeSweep(sweepStore(temp.root, new Uint8Array(), now, { most_new: 5 }));
    const rest = decodeReading(readDocuments(temp.root, encodePaths(first.unread), now));
    const { table } = addReadings(first, [rest]);
    const second = decodeSweep(sweepStore(temp.root, table!, now));
    expect(second).toMatchObject({ unchanged: true, changed: [], folders: null });
    expect(second.table!.length).toBeLessThan(table!.length / 3);
    expect(decodeSweep(sweepStore(temp.root, second.table!, now))).toMatchObject({
      unchanged: true,
      table: null,
    });
    expect(ids(sweep(second.table!.subarray(0, -1), now)), 'a table that is cut short').toHaveLength(300);
  });

  it('reports unchanged, and makes no table, when nothing happened', () => {
    temp.write('a/a.md', document('A'));
    const first = sweep();
    const second = decodeSweep(sweepStore(temp.root, first.table, Date.now() + LATER));
    expect(second).toMatchObject({ unchanged: true, changed: [], removed: [], errors: [], table: null });
  });

  it('takes rows over into the next table as they were, whatever changes beside them', () => {
    for (const name of ['a', 'b', 'c']) temp.write(`${name}/in/in.md`, document(name));
    temp.write('root.md', document('Root'));
    const at = join(temp.root, '.fibers');
    const linked = join(temp.root, 'outside.md');
    writeFileSync(linked, document('Linked'));
    mkdirSync(join(at, 'link'));
    linkSync(linked, join(at, 'link/link.md'));
    mkdirSync(join(at, 'bad'));
    symlinkSync('/dev/null', join(at, 'bad/bad.md'));
    let result = sweep();
    for (const name of ['b', 'c', 'a']) {
      rmSync(join(at, name), { recursive: true });
      result = sweep(result.table);
      expect(result.removed).toEqual([join(at, name, 'in/in.md')]);
      expect(result.changed).toEqual([]);
      // A file with two names and one that cannot be read stay what they are.
      expect(result.unwatchable.sort()).toEqual([join(at, 'bad/bad.md'), join(at, 'link/link.md')]);
      expect(sweep(result.table)).toMatchObject({ unchanged: true, folders: null });
    }
    appendFileSync(join(at, 'root.md'), 'more');
    expect(ids(sweep(result.table))).toEqual(['root']);
  });

  it('reads a document that its folder lists as a file and one that it lists as a link', () => {
    temp.write('a/a.md', document('A'));
    mkdirSync(join(temp.root, '.fibers/b'));
    symlinkSync(join(temp.root, '.fibers/a/a.md'), join(temp.root, '.fibers/b/b.md'));
    const result = sweep();
    expect(result.changed.map(({ id, name }) => [id, name]).sort()).toEqual([
      ['a', 'A'],
      ['b', 'A'],
    ]);
    expect(result.unwatchable).toEqual([join(temp.root, '.fibers/b/b.md')]);
  });

  it('detects added, changed, renamed and removed documents', () => {
    temp.write('a/a.md', document('A'));
    temp.write('b/c/c.md', document('C'));
    let result = sweep();
    temp.write('a/a.md', document('A2'));
    temp.write('new/deep/deep.md', document('D'));
    result = sweep(result.table);
    expect(ids(result)).toEqual(['a', 'new/deep']);
    expect(result.changed.find((row) => row.id === 'a')?.name).toBe('A2');
    renameSync(join(temp.root, '.fibers/b'), join(temp.root, '.fibers/z'));
    result = sweep(result.table);
    expect(ids(result)).toEqual(['z/c']);
    expect(result.removed).toEqual([join(temp.root, '.fibers/b/c/c.md')]);
    rmSync(join(temp.root, '.fibers/a/a.md'));
    result = sweep(result.table);
    expect(result.removed).toEqual([join(temp.root, '.fibers/a/a.md')]);
    expect(result.unchanged).toBe(false);
  });

  it('reads a recently written document once more, since a second write may have the same timestamp', () => {
    const path = temp.write('a/a.md', document('A1'));
    const at = new Date();
    utimesSync(path, at, at);
    const first = sweep(undefined, at.getTime() + 100);
    writeFileSync(path, document('A2'));
    utimesSync(path, at, at);
    const second = sweep(first.table, at.getTime() + 200);
    expect(second.changed.map((row) => row.name)).toEqual(['A2']);
    const third = sweep(second.table, at.getTime() + LATER);
    expect(third).toMatchObject({ unchanged: true, changed: [] });
  });

  it('lists a malformed document and one that is not a file with their errors', () => {
    temp.write('bad/bad.md', '---\na: [\n---\n');
    mkdirSync(join(temp.root, '.fibers/gone'));
    symlinkSync('/dev/null', join(temp.root, '.fibers/gone/gone.md'));
    const result = sweep();
    expect(result.changed.map((row) => [row.id, row.error])).toEqual(
      expect.arrayContaining([
        ['bad', expect.stringContaining('line 3')],
        ['gone', expect.stringContaining('not a regular file')],
      ]),
    );
    expect(result.errors).toHaveLength(1);
    const again = sweep(result.table);
    expect(again).toMatchObject({ unchanged: true, changed: [] });
    expect(again.errors).toHaveLength(1);
  });

  it('lists a link to a missing document as an error, and reads it when the document is back', () => {
    mkdirSync(join(temp.root, '.fibers/a'));
    symlinkSync(join(temp.root, 'target.md'), join(temp.root, '.fibers/a/a.md'));
    const first = sweep();
    expect(first.changed).toMatchObject([{ id: 'a', error: expect.stringContaining('does not exist') }]);
    writeFileSync(join(temp.root, 'target.md'), document('A'));
    const second = sweep(first.table);
    expect(second).toMatchObject({ changed: [{ id: 'a', name: 'A' }], errors: [] });
    expect(second.changed[0]!.error).toBeUndefined();
  });

  it('does not follow a symlinked folder, which could loop', () => {
    temp.write('a/a.md', document('A'));
    symlinkSync(join(temp.root, '.fibers'), join(temp.root, '.fibers/a/loop'));
    expect(ids(sweep())).toEqual(['a']);
  });

  it('keeps the fibers of an unreadable folder and reports it at every sweep', () => {
    temp.write('a/b/b.md', document('B'));
    const folder = join(temp.root, '.fibers/a');
    chmodSync(temp.root, 0o755);
    let result = sweepUnprivileged();
    expect(ids(result)).toEqual(['a/b']);
    chmodSync(folder, 0);
    try {
      for (let round = 0; round < 2; round += 1) {
        result = sweepUnprivileged(result.table);
        expect(result).toMatchObject({
          changed: [],
          removed: [],
          errors: [{ path: expect.stringContaining('/a'), message: expect.stringContaining('EACCES') }],
        });
      }
    } finally {
      chmodSync(folder, 0o755);
    }
    result = sweepUnprivileged(result.table);
    expect(result).toMatchObject({ changed: [], removed: [], errors: [] });
    chmodSync(join(folder, 'b/b.md'), 0);
    result = sweepUnprivileged(result.table);
    expect(result.changed).toMatchObject([{ id: 'a/b', error: expect.stringContaining('EACCES') }]);
    expect(sweepUnprivileged(result.table)).toMatchObject({
      changed: [],
      removed: [],
      errors: [expect.anything()],
    });
  });

  it('throws store_unavailable for a missing store, and starts over with an unknown table', () => {
    temp.write('a/a.md', document('A'));
    expect(() => sweepStore(join(temp.root, 'nowhere'), new Uint8Array())).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
    expect(ids(sweep(new Uint8Array([1, 2, 3])))).toEqual(['a']);
  });
});
