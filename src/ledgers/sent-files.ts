import type { SentFilesRow } from '../contract/http/sent-files.ts';
import type { SessionLine } from '../contract/ledger.ts';
import type { SentLine } from './events-segment.ts';

/** The most that a trail of one fiber shows (LIM-12). */
export const TRAIL_LENGTH = 50;

/**
 * Pushes with the fiber that each was for: by its session, else by its multiplexer session. `sessions` is oldest
 * first; of a session that served several fibers the newest line before the push decides, else its first.
 */
export function joinSentFiles(sent: readonly SentLine[], sessions: readonly SessionLine[]): SentFilesRow[] {
  const known = new Map<string, SessionLine[]>();
  const note = (key: string | null, line: SessionLine) => {
    if (key === null || line.uid === null) return;
    const lines = known.get(key);
    if (lines === undefined) known.set(key, [line]);
    else lines.push(line);
  };
  for (const line of sessions) {
    note(named('session', line.session), line);
    if (line.thread_id !== line.session) note(named('session', line.thread_id), line);
    note(named('mux', line.mux), line);
  }
  return sent.map((push) => {
    const lines =
      known.get(named('session', push.session) ?? '') ?? known.get(named('mux', push.mux) ?? '') ?? [];
    const line = lines.findLast(({ at }) => at <= push.at) ?? lines[0];
    return { ...push, fiber: line?.fiber ?? null, uid: line?.uid ?? null };
  });
}

/** The newest pushes of one fiber, newest last (TMP-5). */
export function trailOf(rows: readonly SentFilesRow[], uid: string): SentFilesRow[] {
  return rows.filter((row) => row.uid === uid).slice(-TRAIL_LENGTH);
}

function named(kind: 'session' | 'mux', value: string | null): string | null {
  return value === null ? null : `${kind} ${value}`;
}
