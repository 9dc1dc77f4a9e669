import { readsOf } from './composite.ts';
import type { Composite, SessionLine } from './wire.ts';

/** What the ledger of one host says of the conversations of a fiber. */
export type Sessions = { sessions: readonly SessionLine[] };

/** The lines of all hosts, oldest first; none before they were read. */
export function linesOf(sessions: Composite<Sessions> | undefined): readonly SessionLine[] {
  if (sessions === undefined) return [];
  return readsOf(sessions)
    .flatMap(({ read }) => read.sessions)
    .sort((a, b) => a.at - b.at);
}

/** One conversation of a fiber, from its first line in the ledger to its last. */
export type PastSession = {
  session: string;
  harness: string;
  agent: string | null;
  /** When a run of it began: the first one, and the last one where it was taken up again. */
  began_at: number;
  resumed_at: number | null;
  /** How its last run ended; null while it runs, or where that is not known. */
  ended: { at: number; reason: string } | null;
};

const BEGINS: ReadonlySet<SessionLine['kind']> = new Set(['dispatch', 'resume', 'claim', 'capture', 'adopt']);

/** The conversations of a fiber, the one that ran last first. */
export function pastSessions(lines: readonly SessionLine[]): PastSession[] {
  const sessions = new Map<string, PastSession>();
  const of_run = new Map<string, string>();
  for (const line of lines) {
    const session = line.session ?? of_run.get(line.run_id ?? '') ?? null;
    if (session === null) continue;
    if (line.run_id !== undefined) of_run.set(line.run_id, session);
    const known = sessions.get(session);
    const began = known ?? {
      session,
      harness: line.harness,
      agent: line.agent ?? null,
      began_at: line.at,
      resumed_at: null,
      ended: null,
    };
    if (line.kind === 'ended') began.ended = { at: line.at, reason: line.reason ?? 'ended' };
    else if (BEGINS.has(line.kind) && known !== undefined) {
      began.resumed_at = line.at;
      began.ended = null;
    }
    sessions.set(session, began);
  }
  const lastOf = ({ began_at, resumed_at }: PastSession) => resumed_at ?? began_at;
  return [...sessions.values()].sort((a, b) => lastOf(b) - lastOf(a));
}
