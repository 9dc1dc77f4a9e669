import { describe, expect, it } from 'vitest';
import { ownRead, readsOf } from '../../../board/src/model/composite.ts';
import { linesOf } from '../../../board/src/model/sessions.ts';
import type { Composite, SessionLine } from '../../../board/src/model/wire.ts';

const FRESH = { state: 'fresh', last_ok_at: null, error: null, build: null } as const;
const GONE = { ...FRESH, state: 'no_answer', error: { code: 'late', message: 'It is late.' } } as const;
const composite = <R>(origins: Composite<R>['origins']): Composite<R> => ({ host: 'a', origins });

describe('a composite', () => {
  it('[TMP-6] has the reads of the hosts that told one', () => {
    const reads = readsOf(composite({ a: { ...FRESH, read: 1 }, b: { ...GONE, read: null } }));
    expect(reads).toEqual([{ host: 'a', read: 1 }]);
  });

  it('tells the read of the host that answers, or why there is none', () => {
    expect(ownRead(composite({ a: { ...FRESH, read: 1 } }))).toEqual({ read: 1, refusal: null });
    expect(ownRead(composite({ a: { ...GONE, read: null } }))).toEqual({
      read: null,
      refusal: { code: 'late', message: 'It is late.' },
    });
    expect(ownRead(composite({ b: { ...FRESH, read: 1 } })).refusal?.message).toBe(
      'a did not tell this of itself.',
    );
  });

  it('[TMP-6] of sessions has the lines of all hosts in the order of time', () => {
    const line = (at: number): SessionLine => ({ kind: 'dispatch', at, session: `${at}` }) as SessionLine;
    const of = (...lines: number[]) => ({ ...FRESH, read: { sessions: lines.map(line) } });
    expect(linesOf(composite({ a: of(1, 4), b: of(2, 3) })).map(({ at }) => at)).toEqual([1, 2, 3, 4]);
    expect(linesOf(undefined)).toEqual([]);
  });
});
