import { endWords } from '../../../src/contract/end-words.ts';
import {
  type Bucket,
  type Count,
  countsOf,
  MINUTE_MS,
  type Recorded,
  type Stretch,
  sumOf,
  type Trace,
  traceOf,
} from './activity.ts';
import { type DayBook, isIn, type Told } from './day-book.ts';
import type { CommitLedgerLine, FiberRow, SentFilesRow, SessionLine } from './wire.ts';
import { timeIn } from './wording.ts';

/** A run of a worker, as far as it lies in the day. */
type Span = Stretch & { session: string | null };
/** How a run ended, or that the document was closed. */
export type End = { at: number; kind: 'handoff' | 'death' | 'end' | 'closed'; words: string };

/** What one fiber did on a day, on one host. Moments are milliseconds since the Unix epoch. */
export type Lane = {
  key: string;
  host: string;
  /** Its id and uid as the ledger has them; null for conversations that belong to no fiber. */
  fiber: { id: string; uid: string } | null;
  /** The fiber as it is now; null if the board does not know it. */
  row: FiberRow | null;
  title: string;
  /** Of all its sessions together, and of each. */
  trace: Trace;
  sessions: ReadonlyMap<string, Trace>;
  /** Turns that ended. */
  replies: number;
  spans: readonly Span[];
  /** Stretches in which a worker waited for a person. */
  waits: readonly Stretch[];
  ends: readonly End[];
  commits: readonly CommitLedgerLine[];
  files: readonly SentFilesRow[];
  /** What its host has not told. */
  unknown: readonly Stretch[];
  /** Its worker runs now. */
  live: boolean;
  /** From the first to the last that is known of it that day. */
  seen: Stretch;
};

const OF_NO_FIBER = 'Without a fiber';
const WHOSE_NOT_KNOWN = 'Fibers not known';

/** A read that is younger than this is as good as now: the next one comes within a minute. */
const LATE_MS = 2 * MINUTE_MS;
/** A wait that is shorter is an answer at once. */
const SHORT_WAIT_MS = 2 * MINUTE_MS;

/** The part of a day that its host has not told, up to now. */
export function unknownOf(told: Told<Recorded> | undefined, day: Stretch, now: number): Stretch[] {
  const until = Math.min(day.to, now);
  if (until <= day.from) return [];
  const read = told?.read ?? null;
  if (read === null) return [{ from: day.from, to: until }];
  return [
    ...(read.from > day.from ? [{ from: day.from, to: Math.min(read.from, until) }] : []),
    ...(until - read.to > LATE_MS ? [{ from: Math.max(day.from, read.to), to: until }] : []),
  ];
}

/** The rows of the board by the uid of their fiber, which several hosts may list. */
export type RowsByUid = ReadonlyMap<string, readonly FiberRow[]>;

export function rowsByUid(rows: Iterable<FiberRow>): RowsByUid {
  const found = new Map<string, FiberRow[]>();
  for (const row of rows) {
    if (row.uid === null) continue;
    const of = found.get(row.uid);
    if (of === undefined) found.set(row.uid, [row]);
    else of.push(row);
  }
  return found;
}

/** The lanes of a day, by when they began; what was read of no fiber comes last, one lane for each host. */
export function lanesOf(book: DayBook, day: Stretch, now: number, rows: RowsByUid): Lane[] {
  const hosts = new Set([...(book.activity?.keys() ?? []), ...(book.sessions?.keys() ?? [])]);
  const lanes = [...hosts].flatMap((host) => lanesOfHost(host, book, day, now, rows));
  return lanes.sort(
    (a, b) =>
      Number(a.fiber === null) - Number(b.fiber === null) ||
      a.seen.from - b.seen.from ||
      a.title.localeCompare(b.title) ||
      a.host.localeCompare(b.host),
  );
}

/** What is gathered of a lane before it is one. */
type Gathered = {
  fiber: { id: string; uid: string } | null;
  buckets: Bucket[];
  runs: Run[];
  commits: CommitLedgerLine[];
  files: SentFilesRow[];
};

function lanesOfHost(host: string, book: DayBook, day: Stretch, now: number, rows: RowsByUid): Lane[] {
  const sessions = book.sessions?.get(host)?.read ?? null;
  const lines = sessions ?? [];
  const told = book.activity?.get(host);
  const owners = ownersOf(lines);
  const found = new Map<string, Gathered>();
  const of = (fiber: { id: string; uid: string } | null): Gathered => {
    const key = fiber?.uid ?? '';
    const known = found.get(key) ?? { fiber, buckets: [], runs: [], commits: [], files: [] };
    // Ids change when a fiber moves; the latest one counts.
    if (fiber !== null) known.fiber = fiber;
    found.set(key, known);
    return known;
  };
  for (const run of runsOf(lines))
    if (run.from < day.to && (run.end === null || run.end.at >= day.from)) of(run.fiber).runs.push(run);
  for (const bucket of told?.read?.buckets ?? [])
    if (isIn(bucket.m, day)) of(ownerAt(owners, bucket.s, null, bucket.m + MINUTE_MS)).buckets.push(bucket);
  for (const commit of book.commits?.get(host)?.read ?? [])
    of(ownerAt(owners, commit.session, commit.mux, commit.at)).commits.push(commit);
  for (const file of book.files?.get(host)?.read ?? [])
    of(
      file.uid === null || file.fiber === null
        ? ownerAt(owners, file.session, file.mux, file.at)
        : { id: file.fiber, uid: file.uid },
    ).files.push(file);
  const unknown = unknownOf(told, day, now);
  return [...found].flatMap(([uid, gathered]) => {
    const of = rows.get(uid) ?? [];
    const row = of.find(({ origin }) => origin === host) ?? of[0] ?? null;
    const lane = laneOf(`${host} ${uid}`, host, gathered, row, day, now);
    if (lane === null) return [];
    return [{ ...lane, unknown, title: sessions === null ? WHOSE_NOT_KNOWN : lane.title }];
  });
}

function laneOf(
  key: string,
  host: string,
  { fiber, buckets, runs, commits, files }: Gathered,
  row: FiberRow | null,
  day: Stretch,
  now: number,
): Lane | null {
  const trace = traceOf(buckets);
  const sessions = tracesBySession(buckets);
  const until = Math.min(day.to, now);
  const live = runs.findLast((run) => isRunning(run, row)) ?? null;
  const spans = runs.flatMap((run) => {
    const to = run.end?.at ?? (run === live ? until : lastOf(sessions.get(run.session ?? ''), run.from));
    const span = { from: Math.max(day.from, run.from), to: Math.min(until, to), session: run.session };
    return span.to > span.from || isIn(run.from, day) ? [{ ...span, to: Math.max(span.from, span.to) }] : [];
  });
  const ends: End[] = runs.flatMap(({ end }) => (end !== null && isIn(end.at, day) ? [end] : []));
  const closed_at = row?.status === 'closed' ? timeIn(row.closed_at) : null;
  if (closed_at !== null && isIn(closed_at, day) && row?.svc?.host === host)
    ends.push({ at: closed_at, kind: 'closed', words: 'closed' });
  ends.sort((a, b) => a.at - b.at);
  const moments = [
    ...buckets.flatMap(({ m }) => [m, m + MINUTE_MS]),
    ...spans.flatMap(({ from, to }) => [from, to]),
    ...[...ends, ...commits, ...files].map(({ at }) => at),
  ];
  if (moments.length === 0) return null;
  return {
    key,
    host,
    fiber: row === null || fiber === null ? fiber : { id: row.id, uid: fiber.uid },
    row,
    title: row?.name ?? fiber?.id ?? OF_NO_FIBER,
    trace,
    sessions,
    replies: sumOf(countsOf(buckets, 'reply')),
    spans,
    waits: waitsOf(buckets, spans),
    ends,
    commits: commits.toSorted((a, b) => a.at - b.at),
    files: files.toSorted((a, b) => a.at - b.at),
    unknown: [],
    live: live !== null,
    seen: moments.reduce(({ from, to }, at) => ({ from: Math.min(from, at), to: Math.max(to, at) }), {
      from: Number.POSITIVE_INFINITY,
      to: Number.NEGATIVE_INFINITY,
    }),
  };
}

function tracesBySession(buckets: readonly Bucket[]): Map<string, Trace> {
  return new Map(
    [...Map.groupBy(buckets, ({ s }) => s)].flatMap(([session, of]) =>
      session === null ? [] : [[session, traceOf(of)]],
    ),
  );
}

/** A run of a worker, whenever it was. */
type Run = {
  fiber: { id: string; uid: string } | null;
  session: string | null;
  run_id: string | null;
  from: number;
  /** Null while it runs, or where its end is not known. */
  end: End | null;
};

/** The runs that a sessions ledger tells of, by their beginning. A capture is a run of no fiber until one claims it. */
function runsOf(lines: readonly SessionLine[]): Run[] {
  const runs: Run[] = [];
  const open = new Map<string, Run>();
  for (const line of lines) {
    const name = nameOf(line);
    if (name === null || line.kind === 'accepted') continue;
    const fiber = line.fiber === null || line.uid === null ? null : { id: line.fiber, uid: line.uid };
    const known = open.get(name);
    if (line.kind === 'ended') {
      if (known !== undefined) known.end = endOf(line);
      // The same end may be told once more, by a daemon that knows more of it.
      if (line.run_id === undefined) open.delete(name);
    } else if (known !== undefined) {
      known.session = line.session ?? known.session;
      known.fiber = fiber ?? known.fiber;
    } else if (line.kind !== 'learned') {
      const run = { fiber, session: line.session, run_id: line.run_id ?? null, from: line.at, end: null };
      open.set(name, run);
      runs.push(run);
    }
  }
  return runs;
}

/** What the lines of one run have in common: standing roles that were due at the same moment share a run id. */
function nameOf({ run_id, uid, session, mux }: SessionLine): string | null {
  if (run_id === undefined) return session ?? mux;
  return run_id.startsWith('scheduled-') ? `${run_id} ${uid}` : run_id;
}

function endOf({ at, reason = 'ended', detail, mend }: SessionLine): End {
  const kind = reason === 'handoff' ? 'handoff' : mend === undefined ? 'end' : 'death';
  return { at, kind, words: kind === 'death' && detail !== undefined ? detail : endWords(reason) };
}

function isRunning(run: Run, row: FiberRow | null): boolean {
  const runtime = row?.runtime;
  if (runtime === undefined || run.end !== null) return false;
  return run.run_id === runtime.run_id || (run.session !== null && run.session === runtime.session_uuid);
}

/** The end of the last minute of a trace from a time on, else that time. */
function lastOf(trace: Trace | undefined, from: number): number {
  const last = (counts: readonly Count[]) => counts.findLast(({ m }) => m + MINUTE_MS > from)?.m ?? null;
  const found = [last(trace?.work ?? []), last(trace?.words ?? [])].filter((m) => m !== null);
  return found.length === 0 ? from : Math.max(...found) + MINUTE_MS;
}

type Owners = ReadonlyMap<string, readonly SessionLine[]>;

/** The lines that tell whose a session is, oldest first, by session and by multiplexer session. */
function ownersOf(lines: readonly SessionLine[]): Owners {
  const owners = new Map<string, SessionLine[]>();
  for (const line of lines) {
    if (line.uid === null || line.kind === 'ended' || line.kind === 'accepted') continue;
    for (const name of new Set([
      line.session,
      line.thread_id,
      line.mux === null ? null : `mux ${line.mux}`,
    ])) {
      if (name === null) continue;
      const of = owners.get(name);
      if (of === undefined) owners.set(name, [line]);
      else of.push(line);
    }
  }
  return owners;
}

/** As the daemon tells it: the newest fiber of a session that began before a time, else its first. */
function ownerAt(
  owners: Owners,
  session: string | null,
  mux: string | null,
  at: number,
): { id: string; uid: string } | null {
  const lines = owners.get(session ?? '') ?? (mux === null ? undefined : owners.get(`mux ${mux}`)) ?? [];
  const line = lines.findLast((one) => one.at <= at) ?? lines[0];
  return line?.uid == null || line.fiber === null ? null : { id: line.fiber, uid: line.uid };
}

/** From each time that a worker began to wait, until it went on or its run was over. */
function waitsOf(buckets: readonly Bucket[], spans: readonly Span[]): Stretch[] {
  const waits = [...Map.groupBy(buckets, ({ s }) => s)].flatMap(([session, of]) => {
    const acts = of.filter(({ k }) => k === 'agent' || k === 'attention').map(({ m }) => m);
    acts.sort((a, b) => a - b);
    return of
      .filter(({ k }) => k === 'notify')
      .flatMap(({ m }) => {
        const next = acts.find((act) => act > m);
        const span = spans.find((one) => one.session === session && m < one.to && m + MINUTE_MS > one.from);
        const to = Math.min(next ?? Number.POSITIVE_INFINITY, span?.to ?? m);
        return to - m > SHORT_WAIT_MS ? [{ from: m, to }] : [];
      });
  });
  return waits.sort((a, b) => a.from - b.from);
}

/** All lanes together. */
export type Fleet = {
  trace: Trace;
  /** Minutes of work, those of several agents at once counted for each. */
  minutes: number;
  words: number;
  replies: number;
  commits: { n: number; insertions: number; deletions: number };
  files: number;
  /** The most fibers at work in one minute, and the first such minute; null if none was. */
  most: { n: number; at: number } | null;
};

export function fleetOf(lanes: readonly Lane[]): Fleet {
  const work = new Map<number, { n: number; lanes: number }>();
  const words = new Map<number, number>();
  for (const { trace } of lanes) {
    for (const { m, n } of trace.work) {
      const known = work.get(m) ?? { n: 0, lanes: 0 };
      work.set(m, { n: known.n + n, lanes: known.lanes + 1 });
    }
    for (const { m, n } of trace.words) words.set(m, (words.get(m) ?? 0) + n);
  }
  const minutes = [...work].sort(([a], [b]) => a - b);
  const most = minutes.reduce<Fleet['most']>(
    (found, [at, { lanes: n }]) => (found === null || n > found.n ? { n, at } : found),
    null,
  );
  return {
    trace: {
      work: minutes.map(([m, { n }]) => ({ m, n })),
      words: [...words].map(([m, n]) => ({ m, n })).sort((a, b) => a.m - b.m),
    },
    minutes: lanes.reduce((sum, { trace }) => sum + trace.work.length, 0),
    words: lanes.reduce((sum, { trace }) => sum + sumOf(trace.words), 0),
    replies: lanes.reduce((sum, { replies }) => sum + replies, 0),
    commits: linesOf(lanes.flatMap(({ commits }) => commits)),
    files: lanes.reduce((sum, lane) => sum + filesOf(lane).length, 0),
    most,
  };
}

/** How many commits, and the lines that they changed. */
export function linesOf(commits: readonly CommitLedgerLine[]): Fleet['commits'] {
  return {
    n: commits.length,
    insertions: commits.reduce((sum, one) => sum + one.insertions, 0),
    deletions: commits.reduce((sum, one) => sum + one.deletions, 0),
  };
}

/** The files that a lane sent, each once. */
export function filesOf({ files }: Pick<Lane, 'files'>): string[] {
  return [...new Set(files.flatMap((row) => row.files))];
}

/** What some host has not told of a day, joined where it overlaps. */
export function unknownOfAll(book: DayBook, day: Stretch, now: number): Stretch[] {
  const all = [...(book.activity?.values() ?? [])].flatMap((told) => unknownOf(told, day, now));
  const joined: Stretch[] = [];
  for (const stretch of all.sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && stretch.from <= last.to) last.to = Math.max(last.to, stretch.to);
    else joined.push({ ...stretch });
  }
  return joined;
}
