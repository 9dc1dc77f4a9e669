import type { SessionStart } from '../run-directory/session-starts.ts';

/** The sessions of one run: the one it is known by, and those that it was in before. */
export type OwnSessions = { known: string | null; left: readonly string[] };

/**
 * The session that a run is in, from the sessions it is known by and every start reported in its run directory,
 * oldest first (P7). A conversation that was cleared or forked goes on under the new id. A `startup` is an agent
 * that the worker itself started and that inherited its environment, and whatever it does later is its own; a
 * `resume` is the run's only when it goes back to a session that the run was in before. Null while the run's
 * first session is not known: no hook can tell it from one of an agent inside.
 */
export function followSession({ known, left }: OwnSessions, starts: readonly SessionStart[]): string | null {
  if (known === null) return null;
  const own = new Set([known, ...left]);
  const foreign = new Set<string>();
  let session = known;
  for (const { source, session: told } of starts) {
    if (own.has(told)) {
      if (source !== 'compact') session = told;
    } else if (source === 'startup' || source === 'resume') {
      foreign.add(told);
    } else if ((source === 'clear' || source === 'fork') && !foreign.has(told)) {
      own.add(told);
      session = told;
    }
  }
  return session;
}

/**
 * The session of a claimed agent whose id nobody told: the first one of which its hooks tell anything. It began before
 * the claim, so one that starts up after it is that of an agent which the worker itself started.
 */
export function firstSession(
  starts: readonly Pick<SessionStart, 'source' | 'session'>[],
  signs: readonly { session: string }[],
): string | null {
  const begun = starts.filter(({ source }) => source === 'startup').map(({ session }) => session);
  return signs.find(({ session }) => !begun.includes(session))?.session ?? null;
}
