import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../board/src/model/activity.ts';
import {
  askFrom,
  type DayBook,
  EMPTY_BOOK,
  isWhole,
  lateHosts,
  withActivity,
  withCommits,
  withFiles,
  withSessions,
} from '../../../board/src/model/day-book.ts';
import {
  fleetOf,
  type Lane,
  lanesOf,
  rowsByUid,
  unknownOf,
  unknownOfAll,
} from '../../../board/src/model/day-lanes.ts';
import type {
  ActivityComposite,
  CommitLedgerLine,
  CommitsComposite,
  FiberRow,
  SentFilesComposite,
  SentFilesRow,
  SessionLine,
  SessionsComposite,
} from '../../../board/src/model/wire.ts';
import { row } from './rows.ts';

const DAY = { from: 100 * 24 * HOUR_MS, to: 101 * 24 * HOUR_MS };
const EVENING = DAY.from + 20 * HOUR_MS;
const at = (hour: number, minute = 0) => DAY.from + hour * HOUR_MS + minute * MINUTE_MS;

type Bucket = NonNullable<ActivityComposite['origins'][string]['read']>['buckets'][number];
const bucket = (s: string | null, m: number, k: Bucket['k'] = 'agent', n = 4): Bucket => ({
  m,
  s,
  cwd: null,
  k,
  n,
});
const work = (s: string, from: number, minutes: number): Bucket[] =>
  Array.from({ length: minutes }, (_, minute) => bucket(s, from + minute * MINUTE_MS));
const line = (more: Partial<SessionLine>): SessionLine => ({
  ...{
    fiber: 'tide',
    uid: 'U1',
    session: 'one',
    thread_id: null,
    harness: 'claude',
    host: 'harbor',
    mux: null,
  },
  ...{ at: at(8), kind: 'dispatch', run_id: 'r1' },
  ...more,
});
const commit = (more: Partial<CommitLedgerLine>): CommitLedgerLine => ({
  ...{ at: at(9), kind: 'commit', sha: 'a'.repeat(40), subject: 'A step', repo: '/srv', files: 1 },
  ...{ insertions: 12, deletions: 3, session: 'one', mux: null, cwd: '/srv' },
  ...more,
});
const sent = (more: Partial<SentFilesRow>): SentFilesRow => ({
  ...{ at: at(9), session: 'one', mux: null, cwd: null, harness: null, files: ['/srv/a.html'] },
  ...{ fiber: 'tide', uid: 'U1' },
  ...more,
});

type State = 'fresh' | 'stale' | 'no_answer';
type Said<T> = { read: T | null; state?: State; last_ok_at?: number | null; message?: string };
function composite<T>(of: Record<string, Said<T>>) {
  const origins = Object.entries(of).map(([host, { read, state = 'fresh', last_ok_at = null, message }]) => [
    host,
    { state, last_ok_at, error: message === undefined ? null : { code: 'x', message }, build: null, read },
  ]);
  return { host: 'harbor', origins: Object.fromEntries(origins) };
}

type Told = {
  buckets?: Bucket[];
  lines?: SessionLine[];
  commits?: CommitLedgerLine[];
  files?: SentFilesRow[];
};
function bookOf({ buckets = [], lines = [], commits = [], files = [] }: Told, to = EVENING): DayBook {
  const host = 'harbor';
  const activity = { host, from_ms: DAY.from, to_ms: to, buckets };
  let book = withActivity(EMPTY_BOOK, composite({ harbor: { read: activity } }), { from: DAY.from, to });
  book = withSessions(book, composite({ harbor: { read: { host, sessions: lines } } }) as SessionsComposite);
  book = withCommits(book, composite({ harbor: { read: { host, commits } } }) as CommitsComposite, DAY);
  return withFiles(
    book,
    composite({ harbor: { read: { host, sent_files: files } } }) as SentFilesComposite,
    DAY,
  );
}
const lanes = (told: Told, rows: readonly FiberRow[] = [], now = EVENING): Lane[] =>
  lanesOf(bookOf(told), DAY, now, rowsByUid(rows));

describe('the lanes of a day', () => {
  it('are one for each fiber, by when they began, and what belongs to no fiber comes last', () => {
    const found = lanes({
      buckets: [...work('two', at(7), 3), ...work('one', at(8), 3), ...work('alien', at(1), 3)],
      lines: [line({}), line({ fiber: 'tiles', uid: 'U2', session: 'two', run_id: 'r2', at: at(7) })],
    });
    expect(found.map(({ title, seen }) => [title, seen.from])).toEqual([
      ['tiles', at(7)],
      ['tide', at(8)],
      ['Without a fiber', at(1)],
    ]);
  });

  it('[STD-1] keep the runs of standing roles apart that were due at the same moment', () => {
    const run_id = 'scheduled-1';
    const tide = (more: Partial<SessionLine>) => line({ run_id, ...more });
    const tiles = (more: Partial<SessionLine>) =>
      line({ fiber: 'tiles', uid: 'U2', session: 'two', run_id, ...more });
    const found = lanes({
      lines: [
        tide({}),
        tide({ kind: 'ended', reason: 'handoff', at: at(9) }),
        tiles({ at: at(10) }),
        tiles({ kind: 'ended', reason: 'handoff', at: at(11) }),
      ],
    });
    expect(found.map(({ title, spans }) => [title, spans.map(({ from, to }) => [from, to])])).toEqual([
      ['tide', [[at(8), at(9)]]],
      ['tiles', [[at(10), at(11)]]],
    ]);
  });

  it('have the name and the id that a fiber has now', () => {
    const moved = row({ id: 'coast/tide', uid: 'U1', name: 'Tide gauges' });
    const [lane] = lanes({ lines: [line({})] }, [moved]);
    expect(lane).toMatchObject({ title: 'Tide gauges', fiber: { id: 'coast/tide', uid: 'U1' }, row: moved });
  });

  it.each<[what: string, lines: SessionLine[], spans: [number, number][], ends: string[]]>([
    [
      'from a start to a handoff',
      [line({}), line({ kind: 'ended', reason: 'handoff', at: at(10) })],
      [[at(8), at(10)]],
      ['handoff handed off'],
    ],
    [
      'from the beginning of the day for a run of the night',
      [line({ at: at(-3) }), line({ kind: 'ended', reason: 'kill', at: at(2) })],
      [[at(0), at(2)]],
      ['end stopped by you'],
    ],
    [
      'one for each run of a conversation',
      [
        line({}),
        line({ kind: 'ended', reason: 'exited', at: at(9), mend: 'resume it', detail: 'it exited with 3' }),
        line({ kind: 'resume', run_id: 'r2', at: at(11) }),
        line({ kind: 'ended', run_id: 'r2', reason: 'handoff', at: at(12) }),
      ],
      [
        [at(8), at(9)],
        [at(11), at(12)],
      ],
      ['death it exited with 3', 'handoff handed off'],
    ],
    [
      'one over a restart of the daemon',
      [line({}), line({ kind: 'adopt', at: at(9) }), line({ kind: 'ended', reason: 'handoff', at: at(10) })],
      [[at(8), at(10)]],
      ['handoff handed off'],
    ],
    [
      'to the end as the daemon knows it that settled it last',
      [
        line({}),
        line({ kind: 'ended', reason: 'exited', at: at(10), mend: 'resume it', detail: 'SIGHUP' }),
        line({ kind: 'adopt', at: at(11) }),
        line({ kind: 'ended', reason: 'handoff', at: at(10) }),
      ],
      [[at(8), at(10)]],
      ['handoff handed off'],
    ],
    [
      'to the last act where no end is told',
      [line({ session: null }), line({ kind: 'learned', at: at(8, 1) })],
      [[at(8), at(8, 33)]],
      [],
    ],
    [
      'none of a run that was over before',
      [line({ at: at(-5) }), line({ kind: 'ended', at: at(-1) })],
      [],
      [],
    ],
  ])('have spans %s', (_, lines, spans, ends) => {
    const [lane] = lanes({ lines, buckets: work('one', at(8, 30), 3) });
    expect(lane?.spans.map(({ from, to }) => [from, to]) ?? []).toEqual(spans);
    expect(lane?.ends.map(({ kind, words }) => `${kind} ${words}`) ?? []).toEqual(ends);
  });

  it('go on to now while the worker runs', () => {
    const running = row({ uid: 'U1', runtime: { run_id: 'r1', session_uuid: 'one' } as FiberRow['runtime'] });
    const [lane] = lanes({ lines: [line({})] }, [running]);
    expect(lane).toMatchObject({ live: true, spans: [{ from: at(8), to: EVENING }] });
  });

  it('give what a session did to the fiber that it served at that time', () => {
    const found = lanes({
      lines: [line({}), line({ fiber: 'tiles', uid: 'U2', kind: 'claim', run_id: 'r2', at: at(12) })],
      buckets: [...work('one', at(9), 5), ...work('one', at(13), 7)],
      commits: [commit({ at: at(9) }), commit({ at: at(13), sha: 'b'.repeat(40) })],
      files: [sent({ at: at(13), fiber: 'tiles', uid: 'U2' })],
    });
    expect(
      found.map(({ title, trace, commits, files }) => [
        title,
        trace.work.length,
        commits.length,
        files.length,
      ]),
    ).toEqual([
      ['tide', 5, 1, 0],
      ['tiles', 7, 1, 1],
    ]);
  });

  it('wait for a person from a notice to the next act, and no longer than the run', () => {
    const ended = line({ kind: 'ended', reason: 'kill', at: at(12) });
    const [lane] = lanes({
      lines: [line({}), ended],
      buckets: [
        bucket('one', at(9), 'notify', 1),
        bucket('one', at(9, 40), 'attention', 1),
        bucket('one', at(11), 'notify', 1),
      ],
    });
    expect(lane?.waits).toEqual([
      { from: at(9), to: at(9, 40) },
      { from: at(11), to: at(12) },
    ]);
  });

  it('add up', () => {
    const found = lanes({
      lines: [line({}), line({ fiber: 'tiles', uid: 'U2', session: 'two', run_id: 'r2' })],
      buckets: [
        ...work('one', at(8), 10),
        ...work('two', at(8, 5), 10),
        bucket('one', at(8, 2), 'attention', 2),
        bucket('two', at(9), 'reply', 3),
      ],
      commits: [commit({})],
      files: [sent({}), sent({ at: at(10) })],
    });
    expect(fleetOf(found)).toMatchObject({
      ...{ minutes: 20, words: 2, replies: 3, files: 1, most: { n: 2, at: at(8, 5) } },
      commits: { n: 1, insertions: 12, deletions: 3 },
    });
  });
});

describe('[TMP-8] what a host has not told', () => {
  const told = (from: number, to: number, state: State = 'fresh') => ({
    ...{ state, as_of: null, fault: null, read: { from, to, buckets: [] } },
  });
  it.each<[what: string, is: Parameters<typeof unknownOf>[0], now: number, unknown: [number, number][]]>([
    ['is nothing of a day that was read', told(DAY.from, EVENING), EVENING, []],
    ['is nothing between two reads', told(DAY.from, EVENING - MINUTE_MS), EVENING, []],
    ['is what came after its last answer', told(DAY.from, at(14)), EVENING, [[at(14), EVENING]]],
    ['is what came before its first', told(at(3), DAY.to), DAY.to + 1, [[DAY.from, at(3)]]],
    ['is the whole day where it never answered', undefined, EVENING, [[DAY.from, EVENING]]],
    ['is nothing of a day to come', undefined, DAY.from - 1, []],
  ])('%s', (_, is, now, unknown) => {
    expect(unknownOf(is, DAY, now)).toEqual(unknown.map(([from, to]) => ({ from, to })));
  });

  const activity = (to_ms: number, buckets: Bucket[] = []) => ({
    host: 'x',
    from_ms: DAY.from,
    to_ms,
    buckets,
  });
  const asked = { from: DAY.from, to: EVENING };

  it('is told of its lanes and of all together, with the time of its last answer', () => {
    const tarn = {
      read: activity(EVENING),
      state: 'stale' as const,
      last_ok_at: at(14),
      message: 'It is late',
    };
    const book = withActivity(EMPTY_BOOK, composite({ harbor: { read: activity(EVENING) }, tarn }), asked);
    expect(unknownOfAll(book, DAY, EVENING)).toEqual([{ from: at(14), to: EVENING }]);
    expect(lateHosts(book)).toEqual([{ host: 'tarn', state: 'stale', as_of: at(14), fault: 'It is late' }]);
    expect(isWhole(book)).toBe(false);
  });

  it('is what was asked for of a host that told of more, and nothing after its answer', () => {
    const [early, late] = [bucket('one', DAY.from - MINUTE_MS), bucket('one', DAY.to)];
    const read = {
      ...activity(DAY.to + HOUR_MS, [early, bucket('one', at(9)), late]),
      from_ms: DAY.from - HOUR_MS,
    };
    const tarn = { read, last_ok_at: EVENING - MINUTE_MS };
    const book = withActivity(EMPTY_BOOK, composite({ tarn }), asked);
    expect(book.activity?.get('tarn')?.read).toEqual({
      from: DAY.from,
      to: EVENING - MINUTE_MS,
      buckets: [bucket('one', at(9))],
    });
  });

  it('stays as it was while it does not answer', () => {
    const before = withActivity(
      EMPTY_BOOK,
      composite({ tarn: { read: activity(at(14), work('one', at(9), 3)) } }),
      { from: DAY.from, to: at(14) },
    );
    const after = withActivity(
      before,
      composite({ tarn: { read: null, state: 'no_answer', last_ok_at: at(14) } }),
      asked,
    );
    expect(after.activity?.get('tarn')).toMatchObject({ state: 'no_answer', read: { to: at(14) } });
    expect(after.activity?.get('tarn')?.read?.buckets.length).toBe(3);
    expect(askFrom(after, DAY)).toBe(at(14) - 35 * MINUTE_MS);
  });
});
