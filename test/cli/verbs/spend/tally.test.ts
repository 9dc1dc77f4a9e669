import { describe, expect, it } from 'vitest';
import { briefCount, sinceOf, spendPage } from '../../../../src/cli/verbs/spend/spend-page.ts';
import { begunSessions, tallySpend } from '../../../../src/cli/verbs/spend/tally.ts';
import type { Tokens } from '../../../../src/contract/http/spend.ts';
import type { SessionLine } from '../../../../src/contract/ledger.ts';

const NOON = new Date(2026, 10, 24, 12).getTime();
const DAY = 86_400_000;
const line = (session: string | null, over: Partial<SessionLine> = {}): SessionLine => ({
  ...{ fiber: 'work/loader', uid: 'u1', session, thread_id: null, harness: 'claude', agent: 'sonnet' },
  ...{ host: 'host-a', mux: null, at: NOON, kind: 'dispatch' as const },
  ...over,
});
const tokens = (input: number): Tokens => ({ input, cache_read: 2, cache_write: 3, output: 4 });

describe('the sessions that began', () => {
  it('are told once, by their last fiber and agent and their first line', () => {
    const lines = [
      line('a', { at: NOON - 5, uid: null, fiber: null }),
      line('a', { at: NOON }),
      line('a', { at: NOON + 5, uid: 'u2', fiber: 'moved', kind: 'resume' }),
      line(null),
      line('old', { at: NOON - DAY }),
      line('b', { at: NOON - 9, agent: undefined, harness: 'codex' }),
    ];
    expect(begunSessions(lines, NOON - 10)).toEqual([
      { session: 'b', uid: 'u1', fiber: 'work/loader', agent: 'codex', began_at: NOON - 9 },
      { session: 'a', uid: 'u2', fiber: 'moved', agent: 'sonnet', began_at: NOON - 5 },
    ]);
  });

  it('are of one fiber although it was filed elsewhere meanwhile', () => {
    const lines = [line('a'), line('b', { fiber: 'archive/loader' })];
    expect(begunSessions(lines, 0).map(({ fiber }) => fiber)).toEqual(['archive/loader', 'archive/loader']);
  });
});

describe('what sessions used', () => {
  const begun = begunSessions(
    [
      line('a', { at: NOON - DAY }),
      line('b'),
      line('c', { fiber: 'other', uid: 'u3', agent: 'codex' }),
      line('d', { fiber: null, uid: null }),
    ],
    0,
  );
  const spent = new Map([
    ['a', tokens(100)],
    ['b', tokens(10)],
    ['c', tokens(5_000)],
  ]);
  const of = (by: 'fiber' | 'agent' | 'day') =>
    tallySpend(begun, spent, by).rows.map(({ key, sessions, unknown, tokens: sum }) => [
      ...[key, sessions, unknown, sum?.input ?? null],
    ]);

  it('is added up by fiber, agent or day, and never guessed', () => {
    expect(of('fiber')).toEqual([
      ['other', 1, 0, 5_000],
      ['work/loader', 2, 0, 110],
      ['(no fiber)', 1, 1, null],
    ]);
    expect(of('agent')).toEqual([
      ['codex', 1, 0, 5_000],
      ['sonnet', 3, 1, 110],
    ]);
    expect(of('day')).toEqual([
      ['2026-11-23', 1, 0, 100],
      ['2026-11-24', 3, 1, 5_010],
    ]);
    expect(tallySpend(begun, spent, 'day')).toMatchObject({
      total: { input: 5_110, cache_read: 6, cache_write: 9, output: 12 },
      unknown: 1,
    });
  });

  it('is a page that fits, with what is not counted', () => {
    const tally = tallySpend(begun, spent, 'fiber');
    const page = spendPage({ host: 'host-a', by: 'fiber', since: null, ...tally }, { width: 80, now: 0 });
    expect(page).toBe(
      [
        'Tokens of the sessions that began on host-a, each with all that it used.',
        '',
        'FIBER        SESSIONS  INPUT    FROM CACHE  TO CACHE  OUTPUT',
        'other        1         5 k      2           3         4',
        'work/loader  2         110      4           6         8',
        '(no fiber)   1         unknown',
        'in all       4         5 k      6           9         12',
        '1 session is not counted: no transcript with counts is here.',
        '',
      ].join('\n'),
    );
    const none = { rows: [], total: null, unknown: 0, host: 'host-a', by: 'day', since: null } as const;
    expect(spendPage({ ...none, rows: [] }, { width: 80, now: 0 })).toBe('No session began on host-a.\n');
  });

  it.each([
    [950, '950'],
    [182_400, '182 k'],
    [999_499, '999 k'],
    [999_500, '1.0 M'],
    [1_240_000, '1.2 M'],
    [12_400_000, '12 M'],
  ])('of %d is %s', (count, text) => expect(briefCount(count)).toBe(text));
});

describe('since when', () => {
  it.each([
    ['24h', NOON - DAY],
    ['7d', NOON - 7 * DAY],
    ['2w', NOON - 14 * DAY],
    ['2026-11-20', new Date(2026, 10, 20).getTime()],
    ['all', null],
    ['2026-02-31', undefined],
    ['yesterday', undefined],
    ['7', undefined],
  ])('%s is %s', (text, at) => expect(sinceOf(text, NOON)).toBe(at));
});
