import type { MessageLine } from '../contract/ledger.ts';
import { nativeIdOf } from '../contract/session-address.ts';
import type { AskedConversation } from '../contract/threads/ledgers.ts';
import { inOrder, type MessagesLedger, type Place } from './messages-ledger.ts';
import type { SessionsLedger } from './sessions-ledger.ts';

/** Most bytes of text in one page; one message may have more. */
const MOST_PAGE_BYTES = 4 * 1024 * 1024;

export type Conversation = {
  /** Oldest first. */
  messages: (MessageLine & Owner)[];
  /** The place of the oldest message here, to ask for those before it; null if there are none. */
  before: string | null;
  /** False for a fiber that no session has had. */
  known: boolean;
};

/** The fiber of a message: whose worker it was given to, else whose the session was at that time. */
type Owner = { fiber: string | null; uid: string | null };

/** The messages to and from a session, or to and from the sessions of a fiber while they worked on it. */
export function conversationOf(
  { messages, sessions }: { messages: MessagesLedger; sessions: SessionsLedger },
  { fiber, session, limit, before }: AskedConversation,
): Conversation {
  const uid = fiber === undefined ? null : uidOf(fiber, sessions);
  const known = session !== undefined || uid !== null;
  const names = session === undefined ? sessionsOf(uid, sessions) : [session];
  const places = names.flatMap((name) => {
    const all = messages.places(name);
    return uid === null ? all : all.filter(isOf(uid, name, sessions));
  });
  const cursor = before === undefined ? null : parseCursor(before);
  const page = newest(messages, places, limit, cursor);
  const [oldest] = page.messages;
  return {
    messages: page.messages.map((row) => ({ ...row, ...ownerOf(row, sessions) })),
    before: page.earlier && oldest !== undefined ? cursorOf(oldest) : null,
    known,
  };
}

/** The newest messages of a fiber before a time, at most `limit` but for those of one time, and how many are older. */
export function messagesOfFiber(
  { messages, sessions }: { messages: MessagesLedger; sessions: SessionsLedger },
  { uid, limit, before_ms }: { uid: string; limit: number; before_ms?: number | undefined },
): { messages: MessageLine[]; older: number } {
  const places = sessionsOf(uid, sessions)
    .flatMap((name) => messages.places(name).filter(isOf(uid, name, sessions)))
    .filter(({ sent_at }) => before_ms === undefined || sent_at < before_ms);
  const times = [...new Set(places.map(({ sent_at }) => sent_at))].sort((a, b) => b - a);
  const from = times[limit - 1] ?? Number.NEGATIVE_INFINITY;
  return {
    messages: messages.messages(places.filter(({ sent_at }) => sent_at >= from)),
    older: Math.max(0, times.length - limit),
  };
}

type Cursor = { sent_at: number; id: string };

function cursorOf({ sent_at, id }: Cursor): string {
  return `${sent_at}-${id}`;
}

function parseCursor(text: string): Cursor {
  const dash = text.indexOf('-');
  return { sent_at: Number(text.slice(0, dash)), id: text.slice(dash + 1) };
}

function newest(
  messages: MessagesLedger,
  places: readonly Place[],
  limit: number,
  cursor: Cursor | null,
): { messages: MessageLine[]; earlier: boolean } {
  const asked = cursor === null ? places : places.filter(({ sent_at }) => sent_at <= cursor.sent_at);
  const times = [...new Set(asked.map(({ sent_at }) => sent_at))].sort((a, b) => b - a);
  // One time more than is asked for, since those of the cursor's own time may all have been told.
  const from = times[limit] ?? Number.NEGATIVE_INFINITY;
  const rows = messages
    .messages(asked.filter(({ sent_at }) => sent_at >= from))
    .filter((row) => cursor === null || inOrder(row, { sent_at: cursor.sent_at, id: cursor.id }) < 0);
  let begin = rows.length;
  for (let bytes = 0; begin > 0 && rows.length - begin < limit; begin -= 1) {
    bytes += rows[begin - 1]?.bytes ?? 0;
    if (bytes > MOST_PAGE_BYTES && begin < rows.length) break;
  }
  return { messages: rows.slice(begin), earlier: begin > 0 || times.length > limit + 1 };
}

function uidOf(fiber: string, sessions: SessionsLedger): string | null {
  if (sessions.sessions(fiber).length > 0) return fiber;
  return sessions.sessions().findLast((line) => line.fiber === fiber && line.uid !== null)?.uid ?? null;
}

function sessionsOf(uid: string | null, sessions: SessionsLedger): string[] {
  if (uid === null) return [];
  const names = sessions
    .sessions(uid)
    .flatMap(({ session, thread_id }) => [session, thread_id].filter((name) => name !== null));
  return [...new Set(names)];
}

function isOf(uid: string, session: string, sessions: SessionsLedger): (place: Place) => boolean {
  return ({ sent_at }) => sessions.fiberOf({ session, mux: null, at: sent_at })?.uid === uid;
}

function ownerOf(row: MessageLine, sessions: SessionsLedger): Owner {
  if (row.uid !== null) return { fiber: row.fiber, uid: row.uid };
  const line = sessions.fiberOf({ session: nativeIdOf(row.to), mux: null, at: row.sent_at });
  return { fiber: line?.fiber ?? null, uid: line?.uid ?? null };
}
