import { useEffect, useRef, useState } from 'react';
import { get } from '../lib/api.ts';
import { onLedger, useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { SENT_FILES_PATH } from '../lib/paths.ts';
import {
  askFrom,
  type DayBook,
  EMPTY_BOOK,
  isWhole,
  LEDGERS,
  type Ledger,
  withActivity,
  withCommits,
  withFiles,
  withSessions,
} from '../model/day-book.ts';
import { type Day, stretchOf } from '../model/days.ts';
import type {
  ActivityComposite,
  CommitsComposite,
  LiveMessage,
  SentFilesComposite,
  SessionsComposite,
} from '../model/wire.ts';
import { Pace } from '../time/pace.ts';
import { activityPath } from '../time/reads.ts';

const NOT_MODIFIED = 304;
/** Days that are over and known, which are not read again. */
const whole = new Map<Day, DayBook>();
const MOST_WHOLE = 14;
/** What of a day changes with a ledger. */
const CHANGES: Readonly<Record<LiveMessage['feed'], readonly Ledger[]>> = {
  fibers: [],
  remotes: [],
  state: [],
  events: ['activity', 'files'],
  sessions: ['sessions'],
  commits: ['commits'],
};

export type Followed = {
  book: DayBook;
  /** Why it could not be read the last time, in the words of the daemon; null if it was. */
  refusal: string | null;
};
const NOTHING: Followed = { book: EMPTY_BOOK, refusal: null };

/** What happened on a day: followed while it is today, else read until all of it is known. */
export function useDay(day: Day): Followed {
  const today = useToday();
  const [found, setFound] = useState<Followed & { day: Day }>({ day, ...NOTHING });
  const { contact } = useFollowed();
  const pace = useRef<Pace | null>(null);
  const over = day < today;
  const to_come = day > today;
  useEffect(() => {
    if (to_come) return;
    let book = whole.get(day) ?? EMPTY_BOOK;
    setFound({ day, book, refusal: null });
    if (over && isWhole(book)) return;
    const wanted = new Set<Ledger>();
    const etags: Etags = new Map();
    const reader = new Pace(async () => {
      const ledgers = LEDGERS.filter((one) => wanted.size === 0 || wanted.has(one) || book[one] === null);
      wanted.clear();
      const answers = await Promise.all(ledgers.map((ledger) => readLedger(ledger, day, book, etags)));
      if (pace.current !== reader) return;
      const refusals = answers.filter((answer) => typeof answer === 'string');
      for (const answer of answers) if (typeof answer !== 'string') book = answer(book);
      setFound({ day, book, refusal: refusals[0] ?? null });
      if (!over || !isWhole(book)) return;
      keep(day, book);
      reader.stop();
    });
    pace.current = reader;
    const stop = over
      ? () => undefined
      : onLedger((ledger) => {
          for (const one of CHANGES[ledger]) wanted.add(one);
          reader.want();
        });
    reader.start();
    return () => {
      pace.current = null;
      stop();
      reader.stop();
    };
  }, [day, over, to_come]);
  // A daemon that is back is asked at once.
  const live = contact.kind === 'live';
  useEffect(() => {
    if (live && found.refusal !== null) pace.current?.want();
  }, [live, found.refusal]);
  return found.day === day ? found : NOTHING;
}

function keep(day: Day, book: DayBook): void {
  whole.set(day, book);
  const [oldest] = whole.keys();
  if (whole.size > MOST_WHOLE && oldest !== undefined) whole.delete(oldest);
}

/** What a book is with what was read, or why that could not be. */
type Taken = ((book: DayBook) => DayBook) | string;

/** Those of what a book has, by the path that was read. */
type Etags = Map<string, string | null>;

/** Reads one ledger of all hosts. */
function readLedger(ledger: Ledger, day: Day, book: DayBook, etags: Etags): Promise<Taken> {
  const stretch = stretchOf(day);
  switch (ledger) {
    case 'activity': {
      const asked = { from: askFrom(book, stretch), to: Math.min(stretch.to, Date.now()) };
      return read<ActivityComposite>(activityPath(asked), etags, (to, answer) =>
        withActivity(to, answer, asked),
      );
    }
    case 'sessions':
      return read<SessionsComposite>('/sessions/composite', etags, withSessions);
    case 'commits':
      return read<CommitsComposite>('/commits/composite', etags, (to, one) => withCommits(to, one, stretch));
    case 'files':
      return read<SentFilesComposite>(SENT_FILES_PATH, etags, (to, one) => withFiles(to, one, stretch));
  }
}

async function read<T>(
  path: string,
  etags: Etags,
  withAnswer: (book: DayBook, answer: T) => DayBook,
): Promise<Taken> {
  const answer = await get<T>(path, { etag: etags.get(path) ?? null });
  if (!answer.ok) return answer.message;
  etags.set(path, answer.etag);
  return answer.status === NOT_MODIFIED ? (book) => book : (book) => withAnswer(book, answer.value);
}
