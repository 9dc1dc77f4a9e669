import type { Closing, Life, LifeEntry } from '../contract/http/life.ts';
import type { CommitLedgerLine, MessageLine, SessionLine } from '../contract/ledger.ts';
import { looksLikeAddress, nativeIdOf } from '../contract/session-address.ts';
import type { SentLine } from './events-segment.ts';
import type { FindFiber } from './session-fibers.ts';

const MINUTE_MS = 60_000;

/** Prompts of one session in one minute, the oldest in one hour or day; `m` is its start in milliseconds. */
export type Prompts = { m: number; s: string; n: number };

/** What the ledgers of a host know of one fiber; all but `prompts` oldest first. */
export type Told = {
  /** Lines of this fiber. */
  sessions: readonly SessionLine[];
  fiberOf: FindFiber;
  /** Messages to and from these sessions. */
  messages: readonly MessageLine[];
  /** What these sessions did, for this fiber or for another one. */
  prompts: readonly Prompts[];
  commits: readonly CommitLedgerLine[];
  sent: readonly SentLine[];
  /** Null for a fiber whose document is gone. */
  closing: Closing | null;
};

/**
 * Everything that happened to one fiber, oldest first. Entries of one time come in the order of their kinds: runs as the
 * ledger has them, messages, prompts, commits, sent files, the closing.
 */
export function fiberLife(uid: string, told: Told): LifeEntry[] {
  const isOwn = (doing: Parameters<FindFiber>[0]) => told.fiberOf(doing)?.uid === uid;
  const commits = told.commits.filter(isOwn).map((commit): LifeEntry => {
    const { at, session, sha, subject, repo, files, insertions, deletions } = commit;
    return { at, kind: 'commit', session, sha, subject, repo, files, insertions, deletions };
  });
  const sent = told.sent
    .filter(isOwn)
    .map(({ at, session, files }): LifeEntry => ({ at, kind: 'sent', session, files }));
  const runs = runEntries(told.sessions);
  putAfterClosing(runs);
  return [
    ...runs,
    ...messageEntries(uid, told),
    ...promptEntries(uid, told),
    ...commits,
    ...sent,
    ...closingEntries(told.closing, told.sessions),
  ].sort((a, b) => a.at - b.at);
}

/**
 * An end that was recorded in whole seconds comes after what closed the document in that second: an agent closes its fiber,
 * and then its session ends. A role is closed by the daemon, after its end.
 */
function putAfterClosing(entries: readonly LifeEntry[]): void {
  for (const end of entries) {
    if ((end.kind !== 'ended' && end.kind !== 'handoff') || end.at % 1000 !== 0) continue;
    const next =
      entries.find((entry) => 'run_id' in entry && entry.at > end.at)?.at ?? Number.POSITIVE_INFINITY;
    const until = Math.min(end.at + 1000, next);
    for (const entry of entries)
      if (entry.kind === 'closed' && entry.by !== 'daemon' && entry.at >= end.at && entry.at < until)
        end.at = entry.at;
  }
}

/** A change of the document that the daemon saw happen. */
function changeEntry({ at, kind, by, from, agent }: SessionLine): LifeEntry {
  const who = {
    ...(by === undefined ? {} : { by }),
    ...(from === undefined ? {} : { from }),
    ...(agent === undefined ? {} : { agent }),
  };
  if (kind === 'accepted' || kind === 'composted') return { at, kind, session: null, exact: true, ...who };
  return { at, kind: kind === 'reopened' ? kind : 'closed', session: null, ...who };
}

/** The newest entries, or the newest before a time; entries of one time are not parted. */
export function lifePart(
  entries: readonly LifeEntry[],
  { limit, before_ms }: { limit: number; before_ms?: number | undefined },
): Pick<Life, 'entries' | 'earlier'> {
  const later = before_ms === undefined ? -1 : entries.findIndex(({ at }) => at >= before_ms);
  const end = later === -1 ? entries.length : later;
  let earlier = Math.max(0, end - limit);
  while (earlier > 0 && entries[earlier - 1]?.at === entries[earlier]?.at) earlier -= 1;
  return { entries: entries.slice(earlier, end), earlier };
}

type Known = {
  began: Extract<LifeEntry, { run_id: unknown }>;
  /** The conversations that it went on in. */
  sessions: LifeEntry[];
};

function runEntries(lines: readonly SessionLine[]): LifeEntry[] {
  const entries: LifeEntry[] = [];
  const runs = new Map<string, Known>();
  const ends = new Map<string, LifeEntry>();
  for (const line of lines) {
    const { at, kind, session, run_id } = line;
    const run = run_id === undefined ? undefined : runs.get(run_id);
    if (kind === 'ended') {
      // A daemon that was killed while it settled an end has told it too, and may have known less of it.
      const earlier = run_id === undefined ? undefined : ends.get(run_id);
      if (earlier !== undefined) entries.splice(entries.indexOf(earlier), 1);
      const entry = endEntry(line, run);
      if (run_id !== undefined) ends.set(run_id, entry);
      entries.push(entry);
    } else if (line.by !== undefined || kind === 'closed' || kind === 'composted' || kind === 'reopened') {
      entries.push(changeEntry(line));
    } else if (kind === 'accepted') {
      const began_at = run?.began.at ?? null;
      entries.push({ at, kind, session, exact: true, by_itself: { run: run_id ?? null, began_at } });
    } else if (kind === 'learned') {
      if (run?.began.session === null) run.began.session = session;
      else if (run?.began.session !== session) {
        const entry: LifeEntry = { at, kind: 'session', session };
        run?.sessions.push(entry);
        entries.push(entry);
      }
    } else {
      const began = {
        at,
        kind: kind === 'dispatch' && line.resumed === true ? ('resume' as const) : kind,
        session,
        harness: line.harness,
        agent: line.agent ?? null,
        mux_session: line.mux,
        run_id: run_id ?? null,
        ...(line.by_request === undefined ? {} : { by_request: line.by_request }),
      };
      // A launch that was cut short is told again by the daemon that finds it.
      if (run?.began.kind === began.kind) continue;
      if (run_id !== undefined) runs.set(run_id, { began, sessions: [] });
      entries.push(began);
    }
  }
  return entries;
}

/**
 * The end of a run. It may have been recorded in whole seconds, and the conversation of a run is learned some time after
 * it began; neither comes before the beginning or after the end.
 */
function endEntry(line: SessionLine, run?: Known): LifeEntry {
  const { at: told_at, session, reason = 'unknown', detail, mend, screen } = line;
  const at = Math.max(told_at, run?.began.at ?? told_at);
  for (const entry of run?.sessions ?? []) entry.at = Math.min(entry.at, at);
  const lasted_ms = run === undefined ? null : at - run.began.at;
  if (reason === 'handoff') return { at, kind: 'handoff', session, lasted_ms };
  return {
    ...{ at, kind: 'ended', session, lasted_ms, reason },
    ...(detail === undefined ? {} : { detail }),
    ...(mend === undefined ? {} : { mend }),
    ...(screen === undefined ? {} : { screen }),
  };
}

function messageEntries(uid: string, { messages, fiberOf }: Told): LifeEntry[] {
  return messages.map(({ id, sent_at, from, to, status, transport, bytes }): LifeEntry => {
    const recipient = nativeIdOf(to);
    const isOwn = fiberOf({ session: recipient, mux: null, at: sent_at })?.uid === uid;
    return {
      ...{ at: sent_at, kind: 'message', session: isOwn ? recipient : nativeIdOf(from), message_id: id },
      direction: isOwn ? 'received' : 'sent',
      ...{ from, to, status, transport, bytes },
    };
  });
}

function promptEntries(uid: string, { messages, prompts, fiberOf }: Told): LifeEntry[] {
  const written = messages.filter((line) => line.uid !== null && !looksLikeAddress(line.from));
  return prompts.flatMap(({ m, s, n: counted }): LifeEntry[] => {
    // What a person wrote as a message counts as a prompt too, and has an entry of its own.
    const isTold = ({ sent_at, to }: MessageLine) =>
      Math.floor(sent_at / MINUTE_MS) * MINUTE_MS === m && nativeIdOf(to) === s;
    const n = counted - written.filter(isTold).length;
    if (n <= 0) return [];
    const end = m + MINUTE_MS - 1;
    // Of a minute in which the session went over to another fiber, all goes to that one.
    const line = fiberOf({ session: s, mux: null, at: end });
    if (line?.uid !== uid) return [];
    const at = line.at > end ? m : Math.max(m, line.at);
    return [{ at, kind: 'prompts', session: s, count: n }];
  });
}

/** What the document tells of its own end, where the daemon did not see it happen. */
function closingEntries(closing: Closing | null, lines: readonly SessionLine[]): LifeEntry[] {
  if (closing?.status !== 'closed') return [];
  const [closed_at, updated_at] = [timeOf(closing.closed_at), timeOf(closing.updated_at)];
  const saw = (since: number, ...kinds: SessionLine['kind'][]) =>
    lines.some(({ at, by, kind }) => by !== undefined && at >= since && kinds.includes(kind));
  const entries: LifeEntry[] = [];
  // One that was accepted at once was closed by that.
  if (closed_at !== null && !saw(closed_at, 'closed', 'accepted', 'composted'))
    entries.push({ at: closed_at, kind: 'closed', session: null });
  const at = Math.max(closed_at ?? 0, updated_at ?? 0);
  if (closing.tempered !== undefined && at > 0 && !saw(closed_at ?? 0, 'accepted', 'composted')) {
    const kind = closing.tempered ? 'accepted' : 'composted';
    entries.push({ at, kind, session: null, exact: closed_at === updated_at });
  }
  return entries;
}

function timeOf(text: string | undefined): number | null {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? null : at;
}
