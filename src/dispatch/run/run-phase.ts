import type { RunView } from '../../contract/fiber.ts';
import type { PhaseSign } from '../run-directory/phase-signs.ts';

export type RunPhase = Pick<RunView, 'phase' | 'phase_since' | 'phase_source' | 'said' | 'needs_look'>;

/** A worker of which no hook tells works if its transcript grew within this many milliseconds. */
const WORKING_MS = 120_000;
/** What ends a turn is still written into the transcript after the hook has told of the end. */
const LAST_WORDS_MS = 5_000;

/** When a worker whose transcript does not grow any more is no longer taken to work for its growth. */
export function restsAt({ last_activity_at }: { last_activity_at: number | null }): number | null {
  return last_activity_at === null ? null : last_activity_at + WORKING_MS;
}

/** How long nobody may know what a worker does before a person is asked to look. */
const UNKNOWN_MS = 60_000;

type Seen = { last_activity_at: number | null; started_at: number };

/** When a person is asked to look at a worker of which nothing more is heard. */
export function needsLookAt(seen: Seen): number {
  return Math.max(seen.started_at, restsAt(seen) ?? 0) + UNKNOWN_MS;
}

/** Nothing is known of it. */
export const UNKNOWN_PHASE: RunPhase = {
  phase: 'unknown',
  phase_since: null,
  phase_source: null,
  said: null,
};

/**
 * What a running worker does, from hooks and the growth of its transcript alone (P16). A sign holds until the next
 * one; one that the agent stopped gives way to a transcript that grows after it, as when a person typed where no
 * hook tells. Without a sign only growth is known, and of a quiet worker nothing.
 */
export function phaseOf(facts: Seen & { sign: PhaseSign | null; now: number }): RunPhase {
  const told = toldPhase(facts);
  return told.phase === 'unknown' && facts.now >= needsLookAt(facts) ? { ...told, needs_look: true } : told;
}

function toldPhase(facts: Seen & { sign: PhaseSign | null; now: number }): RunPhase {
  const { sign, last_activity_at, started_at, now } = facts;
  const grew = last_activity_at !== null && now - last_activity_at < WORKING_MS;
  if (sign === null || sign.at < started_at) {
    if (!grew) return UNKNOWN_PHASE;
    return { phase: 'working', phase_since: last_activity_at, phase_source: 'transcript', said: null };
  }
  const { phase, at, told_at = at, said } = sign;
  if (phase !== 'working' && last_activity_at !== null && last_activity_at > told_at + LAST_WORDS_MS) {
    if (!grew) return { ...UNKNOWN_PHASE, phase_since: last_activity_at, phase_source: 'transcript' };
    return { phase: 'working', phase_since: last_activity_at, phase_source: 'transcript', said: null };
  }
  const phase_source = sign.source ?? 'hook';
  return { phase, phase_since: at, phase_source, said: phase === 'working' ? null : said };
}

/**
 * The last sign of a run's own session; an agent that the worker started tells into the same file. Hooks that were
 * called close together may have written in another order.
 */
export function lastSignOf(signs: readonly PhaseSign[], session: string | null): PhaseSign | null {
  let last: PhaseSign | null = null;
  for (const sign of signs)
    if (sign.session === session && (last === null || sign.at >= last.at)) last = sign;
  return last;
}

/** The first sign of the phase that the last one tells of; `told_at` is that of the last one. */
export function beginningOf(signs: readonly PhaseSign[], last: PhaseSign): PhaseSign {
  return { ...firstAlike(signs, last), told_at: last.at };
}

function firstAlike(signs: readonly PhaseSign[], last: PhaseSign): PhaseSign {
  const own = signs.filter(({ session }) => session === last.session).toSorted((a, b) => a.at - b.at);
  let first = last;
  for (const sign of own.toReversed()) {
    if (!isSameSign(sign, last)) return first;
    first = sign;
  }
  return first;
}

/** Whether all that was told since a known sign tells of the same: two questions with work between them are two. */
export function goesOn(signs: readonly PhaseSign[], known: PhaseSign): boolean {
  return signs.every(
    (sign) => sign.session !== known.session || sign.at <= known.at || isSameSign(sign, known),
  );
}

/** A turn or a question that goes on is told of again and again: it began at the first time. */
export function isSameSign(sign: PhaseSign, known: PhaseSign | null): known is PhaseSign {
  if (known?.session !== sign.session || known.phase !== sign.phase) return false;
  return sign.phase === 'working' || sign.phase === 'waiting' || sign.at === known.at;
}
