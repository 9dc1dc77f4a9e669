import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../board/src/model/feed-copy.ts';
import type { Change } from '../../../board/src/model/gestures.ts';
import {
  begin,
  changed,
  dismiss,
  heard,
  nextExpiry,
  OWN_ENTRY_MS,
  overlay,
  type Pendings,
  reconcile,
  refuse,
  SILENT,
  succeed,
} from '../../../board/src/model/pending.ts';
import type { FiberRow } from '../../../board/src/model/wire.ts';
import { live, row } from './rows.ts';

const NONE: Pendings = new Map();
const CLOSED: Change = { status: 'closed', tempered: null, worker: 'none' };
const feed = (...rows: FiberRow[]) => new Map(rows.map((one) => [keyOf(one), one]));
const NO: Parameters<typeof refuse>[3] = {
  message: 'no',
  code: 'conflict',
  unknown: false,
  needs_folder: false,
};

describe('a gesture that is under way', () => {
  const before = row({ status: 'active', svc: {}, runtime: live() });
  const key = keyOf(before);

  it('shows the card in its new place at once, and says nothing of other cards', () => {
    const other = row({ id: 'two' });
    const shown = overlay(feed(before, other), begin(NONE, before, CLOSED, 1_000));
    expect(shown.get(key)).toMatchObject({ status: 'closed', closed_at: '1970-01-01T00:00:01.000Z' });
    expect(shown.get(key)?.runtime).toBeUndefined();
    expect(shown.get(keyOf(other))).toBe(other);
  });

  it('is kept until the feed shows it, or ten seconds have passed', () => {
    const done = succeed(begin(NONE, before, CLOSED, 0), key, 5);
    expect(reconcile(done, feed(before), 6)).toBe(done);
    expect(reconcile(done, feed(changed(before, CLOSED, 5)), 6).size).toBe(0);
    expect(nextExpiry(done)).toBe(5 + OWN_ENTRY_MS);
    expect(reconcile(done, feed(before), 4 + OWN_ENTRY_MS)).toBe(done);
    expect(reconcile(done, feed(before), 5 + OWN_ENTRY_MS).size).toBe(0);
    expect(reconcile(done, feed(), 6).size).toBe(0);
  });

  it('waits for its answer whatever the feed shows', () => {
    const sent = begin(NONE, before, CLOSED, 0);
    expect(reconcile(sent, feed(changed(before, CLOSED, 0)), 1e9)).toBe(sent);
    expect(nextExpiry(sent)).toBeNull();
  });

  it('is over with any change of the row where the daemon alone knows what comes of it', () => {
    const done = succeed(begin(NONE, before, null, 0), key, 5);
    expect(overlay(feed(before), done)).toEqual(feed(before));
    expect(reconcile(done, feed(before), 6)).toBe(done);
    expect(reconcile(done, feed({ ...before }), 6).size).toBe(0);
  });

  it('is rolled back when it is refused, and the reason stays until the state is another one', () => {
    const refused = refuse(begin(NONE, before, CLOSED, 0), before, CLOSED, NO);
    expect(overlay(feed(before), refused).get(key)).toBe(before);
    expect(reconcile(refused, feed({ ...before, digest: '2' }), 1e9)).toBe(refused);
    expect(reconcile(refused, feed({ ...before, status: 'open' }), 0).size).toBe(0);
    expect(dismiss(refused, key).size).toBe(0);
  });

  it('takes a reason away that was given because nobody answered, once somebody does', () => {
    const silent = refuse(NONE, before, null, { ...NO, code: SILENT });
    expect(heard(silent).size).toBe(0);
    const refused = refuse(NONE, before, null, NO);
    expect(heard(refused)).toBe(refused);
  });

  it('takes the reason away once the feed shows that a write without an answer was done', () => {
    const unknown = refuse(NONE, before, CLOSED, { ...NO, unknown: true });
    expect(reconcile(unknown, feed({ ...before, digest: '2' }), 1e9)).toBe(unknown);
    expect(reconcile(unknown, feed(changed(before, CLOSED, 0)), 0).size).toBe(0);
  });

  it('leaves nothing behind and invents no row, whatever happens in which order', () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('begin', 'succeed', 'refuse', 'dismiss', 'feed'), fc.nat(2), fc.nat(20_000)),
    );
    fc.assert(
      fc.property(steps, (taken) => {
        const rows = feed(row({ id: 'a' }), row({ id: 'b' }));
        const paths = [...rows.keys(), '/gone'];
        let pendings = NONE;
        let now = 0;
        for (const [step, which, ms] of taken) {
          now += ms;
          const one = rows.get(paths[which] ?? '');
          if (step === 'begin' && one !== undefined) pendings = begin(pendings, one, CLOSED, now);
          if (step === 'succeed') pendings = succeed(pendings, paths[which] ?? '', now);
          if (step === 'refuse' && one !== undefined) pendings = refuse(pendings, one, CLOSED, NO);
          if (step === 'dismiss') pendings = dismiss(pendings, paths[which] ?? '');
          pendings = reconcile(pendings, rows, now);
          expect([...overlay(rows, pendings).keys()]).toEqual([...rows.keys()]);
        }
        for (const { key: at, phase } of pendings.values())
          if (phase === 'sending') pendings = succeed(pendings, at, now);
        pendings = reconcile(pendings, rows, now + OWN_ENTRY_MS);
        expect([...pendings.values()].every(({ phase }) => phase === 'refused')).toBe(true);
        expect(overlay(rows, pendings)).toBe(rows);
      }),
    );
  });
});
