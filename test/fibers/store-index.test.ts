import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../src/contract/fiber.ts';
import { StoreIndex } from '../../src/fibers/store-index.ts';
import type { SweepResult } from '../../src/fibers/sweep-result.ts';

const ULID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8';
function row(store: string, id: string, overrides: Partial<FiberDocument> = {}): FiberDocument {
  const leaf = id.split('/').at(-1)!;
  const path = `${store}/.fibers/${id}/${leaf}.md`;
  return {
    id,
    uid: null,
    leaf,
    store,
    path,
    name: leaf,
    status: 'open',
    tags: [],
    digest: `${store}${id}`,
    ...overrides,
  };
}
function swept(changed: FiberDocument[], removed: string[] = []): SweepResult {
  return {
    ...{ table: new Uint8Array(), unchanged: false, changed, removed, errors: [], unread: [] },
    ...{ folders: null, unwatchable: [] },
  };
}
const unread = () => {
  throw new Error('nothing is to be read here');
};
function indexOf(...rows: FiberDocument[]): StoreIndex {
  const index = new StoreIndex();
  for (const store of new Set(rows.map((entry) => entry.store))) {
    const since = index.beginSweep();
    index.apply(store, swept(rows.filter((entry) => entry.store === store)), { since, read: unread });
  }
  return index;
}

describe('StoreIndex', () => {
  it('gets a fiber by id, by uid in any case, and by a leaf that only one has', () => {
    const index = indexOf(row('/s', 'a/b', { uid: `${ULID}A` }), row('/s', 'c'));
    for (const reference of ['a/b', 'b', `${ULID}A`, `${ULID}a`]) expect(index.get(reference).id).toBe('a/b');
    expect(() => index.get('x')).toThrow(expect.objectContaining({ code: 'fiber_not_found' }));
  });

  it('gets a fiber by its name in the other Unicode form', () => {
    const apart = 'cafe\u0301';
    const index = indexOf(row('/s', apart), row('/s', `x/${apart}s`));
    expect(index.get('caf\u00e9').id).toBe(apart);
    for (const reference of ['x/caf\u00e9s', 'caf\u00e9s'])
      expect(index.get(reference).id).toBe(`x/${apart}s`);
  });

  it('[FIB-1] refuses an id or uid that two documents have, and names both', () => {
    const one = row('/s', 'a', { uid: `${ULID}A` });
    const copy = row('/t', 'b', { uid: `${ULID}a` });
    const index = indexOf(one, row('/t', 'a', { uid: `${ULID}B` }), copy, row('/s', 'free'));
    expect(() => index.get('a')).toThrow('"a" names /s/.fibers/a/a.md and /t/.fibers/a/a.md; give the uid');
    expect(() => index.get(`${ULID}A`)).toThrow(
      /names \/s\/\.fibers\/a\/a\.md and \/t\/\.fibers\/b\/b\.md; they have one ULID/,
    );
    expect([index.isAmbiguous(one), index.twins(one)]).toEqual([true, [{ ...copy, twins: [one.path] }]]);
    expect(index.getPath(one.path)?.twins).toEqual([copy.path]);
    expect(index.takeTwinned().sort()).toEqual([one.path, copy.path]);
    expect(index.isAmbiguous(index.get('free'))).toBe(false);
    index.removeStore('/t');
    expect(index.get('a').store).toBe('/s');
    expect([index.isAmbiguous(one), index.twins(one)]).toEqual([false, []]);
    expect(index.getPath(one.path)).toEqual(one);
    expect(index.takeTwinned()).toEqual([one.path]);
  });

  it('[FIB-1] asks for no change of a document that may be listed under two paths of one store', () => {
    const [one, again] = [row('/s', 'a', { uid: `${ULID}A` }), row('/alias', 'a', { uid: `${ULID}A` })];
    expect(() => indexOf(one, again).get('a')).toThrow(
      /; they have one ULID: if `svc doctor` says that their stores are the same, take one of the two out of the list of stores; else give the copy one of its own/,
    );
  });

  it('[DSP-2] takes two fibers that have one id in two stores for two, and one id in one store for one', () => {
    const [one, other] = [row('/s', 'a', { uid: `${ULID}A` }), row('/t', 'a', { uid: `${ULID}B` })];
    const bare = row('/t', 'a', { path: '/t/.fibers/a.md', uid: `${ULID}C` });
    const index = indexOf(one, other);
    expect([index.isAmbiguous(one), index.isAmbiguous(other)]).toEqual([false, false]);
    expect(index.get(`${ULID}B`)).toEqual(other);
    index.refresh(bare.path, () => bare);
    expect([index.twins(one), index.twins(other), index.twins(bare)]).toEqual([[], [bare], [other]]);
  });

  it('drops the old names of a changed document, and all names of a removed one', () => {
    const index = indexOf(row('/s', 'a', { uid: `${ULID}A` }));
    const path = index.get('a').path;
    const changed = row('/s', 'a', { uid: `${ULID}B`, digest: 'new' });
    expect(index.apply('/s', swept([changed]), { since: index.beginSweep(), read: unread })).toBe(true);
    expect(() => index.get(`${ULID}A`)).toThrow();
    expect(index.apply('/s', swept([changed]), { since: index.beginSweep(), read: unread })).toBe(false);
    index.apply('/s', swept([], [path]), { since: index.beginSweep(), read: unread });
    expect(index.documents()).toEqual([]);
    expect(() => index.get('a')).toThrow();
  });

  it('reads a row once more if it was refreshed during the sweep', () => {
    const index = indexOf(row('/s', 'a', { name: 'old', digest: '1' }));
    const { path } = index.get('a');
    const since = index.beginSweep();
    index.refresh(path, () => row('/s', 'a', { name: 'written', digest: '2' }));
    const stale = swept([row('/s', 'a', { name: 'old', digest: '1' })]);
    index.apply('/s', stale, { since, read: () => row('/s', 'a', { name: 'written', digest: '2' }) });
    expect(index.get('a').name).toBe('written');
    const next = index.beginSweep();
    index.apply('/s', swept([row('/s', 'a', { name: 'later', digest: '3' })]), { since: next, read: unread });
    expect(index.get('a').name).toBe('later');
  });

  it('drops a document that a refresh found gone', () => {
    const index = indexOf(row('/s', 'a'));
    expect(index.refresh(index.get('a').path, () => null)).toBe(true);
    expect(index.size).toBe(0);
  });

  it('applies a whole sweep even if a document that was read meanwhile has become unreadable', () => {
    const index = indexOf(row('/s', 'a'), row('/s', 'b'), row('/s', 'c'));
    const [a, b] = [index.get('a').path, index.get('b').path];
    const since = index.beginSweep();
    for (const path of [a, b]) index.refresh(path, () => index.getPath(path) ?? null);
    const broken = row('/s', 'b', { digest: '', error: 'it is not a regular file' });
    index.apply('/s', swept([broken, row('/s', 'd')], [a]), { since, read: unread });
    expect(index.documents().map(({ id }) => id)).toEqual(['b', 'c', 'd']);
    expect(index.get('b').error).toBe('it is not a regular file');
  });

  it('notices that a document that was read between two sweeps has its old content again', () => {
    const good = row('/s', 'a');
    const index = indexOf(good, row('/t', 'b'));
    index.refresh(good.path, () => row('/s', 'a', { digest: 'bad', error: 'it is not text' }));
    expect(index.get('a').error).toBe('it is not text');
    index.apply('/t', swept([]), { since: index.beginSweep(), read: unread });
    index.apply('/s', swept([]), { since: index.beginSweep(), read: () => good });
    expect(index.get('a').error).toBeUndefined();
    index.apply('/s', swept([]), { since: index.beginSweep(), read: () => good });
    index.apply('/s', swept([]), { since: index.beginSweep(), read: unread });
  });

  it('keeps rows read during the sweep of one store even if the sweep of another ends first', () => {
    const index = indexOf(row('/s', 'a'), row('/t', 'b'));
    const { path } = index.get('a');
    const written = row('/s', 'a', { name: 'written', digest: '2' });
    const [since, later] = [index.beginSweep(), index.beginSweep()];
    index.refresh(path, () => written);
    index.apply('/t', swept([]), { since: later + 1, read: unread });
    index.apply('/s', swept([row('/s', 'a', { name: 'stale', digest: '1' })]), {
      since,
      read: () => written,
    });
    expect(index.get('a').name).toBe('written');
  });

  it('[FIB-1] finds, after any changes, what a look through all documents finds', () => {
    const stores = ['/s', '/t'];
    const ids = ['a', 'b', 'a/b', 'b/a', 'a/b/a'];
    const uids = [null, `${ULID}A`, `${ULID}B`];
    const document = fc.record({
      store: fc.constantFrom(...stores),
      id: fc.constantFrom(...ids),
      uid: fc.constantFrom(...uids),
      bare: fc.boolean(),
      digest: fc.constantFrom('1', '2'),
    });
    const place = ({ store, id, bare }: { store: string; id: string; bare: boolean }) => {
      const leaf = id.split('/').at(-1)!;
      return `${store}/.fibers/${bare && leaf === id ? '' : `${id}/`}${leaf}.md`;
    };
    const step = fc.oneof(
      fc.record({ do: fc.constant('put' as const), document }),
      fc.record({ do: fc.constant('drop' as const), document }),
      fc.record({ do: fc.constant('remove' as const), store: fc.constantFrom(...stores) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const index = new StoreIndex();
        const model = new Map<string, FiberDocument>();
        for (const one of steps) {
          if (one.do === 'remove') {
            index.removeStore(one.store);
            for (const [path, { store }] of model) if (store === one.store) model.delete(path);
            continue;
          }
          const { store, id, uid, digest } = one.document;
          const path = place(one.document);
          if (one.do === 'drop') model.delete(path);
          // A digest stands for all that a document says.
          else model.set(path, row(store, id, { path, uid, digest: `${digest} ${uid}` }));
          index.refresh(path, () => model.get(path) ?? null);
        }
        const all = [...model.values()];
        const by = (keep: (document: FiberDocument) => boolean) => all.filter(keep);
        const named = (one: FiberDocument) => {
          const others = by(({ uid, path }) => uid !== null && uid === one.uid && path !== one.path);
          return others.length === 0 ? one : { ...one, twins: others.map(({ path }) => path).sort() };
        };
        for (const reference of [...ids, `${ULID}A`, `${ULID}b`, 'c', 'a/../a', '']) {
          const found = [
            by(({ id }) => id === reference),
            by(({ uid }) => uid === reference.toUpperCase()),
            by(({ leaf }) => leaf === reference),
          ].find((some) => some.length > 0);
          if (found === undefined) expect(() => index.get(reference)).toThrow('no fiber');
          else if (found.length > 1) expect(() => index.get(reference)).toThrow('names');
          else expect(index.get(reference)).toEqual(named(found[0]!));
        }
        for (const one of all) {
          const twins = by(
            ({ id, store, uid }) =>
              (id === one.id && store === one.store) || (uid !== null && uid === one.uid),
          );
          expect(index.isAmbiguous(one)).toBe(twins.length > 1);
          expect(new Set([named(one), ...index.twins(one)])).toEqual(new Set(twins.map(named)));
        }
        for (const store of stores) expect(index.count(store)).toBe(by((one) => one.store === store).length);
        expect(index.size).toBe(all.length);
      }),
    );
  });
});
