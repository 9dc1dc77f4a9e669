import type { SessionLine } from '../contract/ledger.ts';

/** The session and time of an event or commit. */
export type Doing = { session: string | null; mux: string | null; at: number };

/**
 * Finds the fiber of an event by its session, else by its multiplexer session. `sessions` is oldest first. If a session
 * served several fibers, the newest one that began before the event counts, else the first.
 */
export function createFiberFinder(sessions: readonly SessionLine[]): (doing: Doing) => SessionLine | null {
  const known = new Map<string, SessionLine[]>();
  const note = (key: string | null, line: SessionLine) => {
    if (key === null) return;
    const lines = known.get(key);
    if (lines === undefined) known.set(key, [line]);
    else lines.push(line);
  };
  for (const line of sessions) {
    // The end of one fiber's run may be recorded after the next fiber has claimed the session.
    if (line.uid === null || line.kind === 'ended') continue;
    note(named('session', line.session), line);
    if (line.thread_id !== line.session) note(named('session', line.thread_id), line);
    note(named('mux', line.mux), line);
  }
  return ({ session, mux, at }) => {
    const lines = known.get(named('session', session) ?? '') ?? known.get(named('mux', mux) ?? '') ?? [];
    return lines.findLast((line) => line.at <= at) ?? lines[0] ?? null;
  };
}

function named(kind: 'session' | 'mux', value: string | null): string | null {
  return value === null ? null : `${kind} ${value}`;
}
