import type { SessionLine } from '../contract/ledger.ts';
import { LinesByName } from './lines-by-name.ts';

/** The session and time of an event or commit. */
export type Doing = { session: string | null; mux: string | null; at: number };

/** The fiber's line in the sessions ledger that an event or commit belongs to; null if there is none. */
export type FindFiber = (doing: Doing) => SessionLine | null;

/**
 * Finds the fiber of an event by its session, else by its multiplexer session. If a session served several fibers, the
 * newest one that began before the event counts, else the first.
 */
export class SessionFibers {
  readonly #lines = new LinesByName<SessionLine>();

  /** Lines come oldest first. */
  add(line: SessionLine): void {
    for (const name of namesOf(line)) this.#lines.add(name, line);
  }

  /** Forgets a line, which must be the oldest one left. */
  forget(line: SessionLine): void {
    for (const name of namesOf(line)) this.#lines.forgetOldest(name);
  }

  find({ session, mux, at }: Doing): SessionLine | null {
    const own = this.#lines.of(named('session', session));
    const lines = own.length > 0 ? own : this.#lines.of(named('mux', mux));
    return lines.findLast((line) => line.at <= at) ?? lines[0] ?? null;
  }
}

function namesOf({ uid, kind, session, thread_id, mux }: SessionLine): string[] {
  // What follows a fiber's run may be recorded after the next fiber has claimed the session.
  if (uid === null || kind === 'ended' || kind === 'accepted') return [];
  const names = new Set([named('session', session), named('session', thread_id), named('mux', mux)]);
  names.delete('');
  return [...names];
}

function named(kind: 'session' | 'mux', value: string | null): string {
  return value === null ? '' : `${kind} ${value}`;
}
