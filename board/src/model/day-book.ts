import { joinReads, MINUTE_MS, REVISED_MS, type Recorded, type Stretch } from './activity.ts';
import type {
  Activity,
  CommitLedgerLine,
  CommitsComposite,
  Composite,
  SentFilesComposite,
  SentFilesRow,
  SessionLine,
  SessionsComposite,
} from './wire.ts';

/** What one host told of one ledger. */
export type Told<T> = {
  state: Composite['origins'][string]['state'];
  /** When it told that, in milliseconds since the Unix epoch; null of the host that answers, and of one that never did. */
  as_of: number | null;
  /** Why it did not answer; null if it did. */
  fault: string | null;
  /** Null if nothing was ever told. */
  read: T | null;
};
/** By the name of the host. */
type ByHost<T> = ReadonlyMap<string, Told<T>>;

/** What the ledgers of all hosts tell of one day; null for what was not read yet. */
export type DayBook = {
  /** The host that answers. */
  here: string | null;
  activity: ByHost<Recorded> | null;
  sessions: ByHost<readonly SessionLine[]> | null;
  commits: ByHost<readonly CommitLedgerLine[]> | null;
  files: ByHost<readonly SentFilesRow[]> | null;
};
export type Ledger = Exclude<keyof DayBook, 'here'>;

export const LEDGERS: readonly Ledger[] = ['activity', 'sessions', 'commits', 'files'];
export const EMPTY_BOOK: DayBook = { here: null, activity: null, sessions: null, commits: null, files: null };

/** The book after `/activity/composite` was read for a stretch. */
export function withActivity(book: DayBook, answer: Composite<Activity>, asked: Stretch): DayBook {
  const told = toldBy(answer, book.activity, ({ from_ms, to_ms, buckets }, { last_ok_at }, before) => {
    // The end of the asked stretch is inside a minute that is only answered once it is over; another host is asked for
    // whole hours, and told nothing of what came after its answer.
    const answered = to_ms >= asked.to - MINUTE_MS ? asked.to : to_ms;
    const to = Math.min(answered, last_ok_at ?? answered);
    const from = Math.max(from_ms, Math.floor(asked.from / MINUTE_MS) * MINUTE_MS);
    const inside = buckets.filter(({ m }) => m >= from && m < asked.to);
    const read = { from, to: Math.max(from, to), buckets: inside };
    return joinReads(before, read, before?.from ?? from);
  });
  return { ...book, here: answer.host, activity: told };
}

/** From where on the activity of a day has to be read: what can have changed since it was read last, of any host. */
export function askFrom({ activity }: DayBook, day: Stretch): number {
  const known = [...(activity?.values() ?? [])].map(({ read }) =>
    read === null ? day.from : read.to - REVISED_MS,
  );
  return known.length === 0 ? day.from : Math.max(day.from, Math.min(...known));
}

/** The book after `/sessions/composite`, which tells of all days. */
export function withSessions(book: DayBook, answer: SessionsComposite): DayBook {
  const told = toldBy(answer, book.sessions, ({ sessions }) => sessions);
  return { ...book, here: answer.host, sessions: told };
}

/** The book after `/commits/composite`, of which it keeps those of its day. */
export function withCommits(book: DayBook, answer: CommitsComposite, day: Stretch): DayBook {
  const told = toldBy(answer, book.commits, ({ commits }) => commits.filter(({ at }) => isIn(at, day)));
  return { ...book, here: answer.host, commits: told };
}

/** The book after `/sent-files/all/composite`, of which it keeps those of its day. */
export function withFiles(book: DayBook, answer: SentFilesComposite, day: Stretch): DayBook {
  const told = toldBy(answer, book.files, (read) => read.sent_files.filter(({ at }) => isIn(at, day)));
  return { ...book, here: answer.host, files: told };
}

export function isIn(at: number, { from, to }: Stretch): boolean {
  return at >= from && at < to;
}

/** What is told by each host; one that tells nothing now keeps what it told before. */
function toldBy<Read, T>(
  { origins }: Composite<Read>,
  before: ByHost<T> | null,
  readOf: (read: Read, origin: Composite<Read>['origins'][string], before: T | null) => T,
): ByHost<T> {
  return new Map(
    Object.entries(origins).map(([host, origin]) => {
      const { state, last_ok_at, error, read } = origin;
      const known = before?.get(host);
      return [
        host,
        {
          state,
          as_of: last_ok_at ?? (read === null ? (known?.as_of ?? null) : null),
          fault: error?.message ?? null,
          read: read === null ? (known?.read ?? null) : readOf(read, origin, known?.read ?? null),
        },
      ];
    }),
  );
}

/** A host that does not tell everything as it is now. */
export type Late = { host: string; state: 'stale' | 'no_answer'; as_of: number | null; fault: string | null };

/** The hosts of which something is older than that, or missing, by name. */
export function lateHosts(book: DayBook): Late[] {
  const found = new Map<string, Late>();
  for (const ledger of LEDGERS)
    for (const [host, { state, as_of, fault }] of book[ledger] ?? []) {
      if (state === 'fresh') continue;
      const known = found.get(host);
      const oldest =
        known === undefined
          ? as_of
          : Math.min(known.as_of ?? Number.POSITIVE_INFINITY, as_of ?? Number.POSITIVE_INFINITY);
      found.set(host, {
        host,
        state: known?.state === 'no_answer' ? 'no_answer' : state,
        as_of: oldest === Number.POSITIVE_INFINITY ? null : oldest,
        fault: known?.fault ?? fault,
      });
    }
  return [...found.values()].sort((a, b) => a.host.localeCompare(b.host));
}

/** Whether all of a day is known, so that a day that is over need not be read again. */
export function isWhole(book: DayBook): boolean {
  return LEDGERS.every((ledger) => book[ledger] !== null) && lateHosts(book).length === 0;
}
