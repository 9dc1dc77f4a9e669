import type { FiberDocument } from '../contract/fiber.ts';
import type { Due } from './standing.ts';

/** The gates of DSP-2 and of design section 8, in the order they are asked. */
export const GATES = [
  'svc_block',
  'host',
  'document',
  'status',
  'running',
  'due',
  'breaker',
  'usage_limit',
  'held',
  'cooldown',
] as const;
export type Gate = (typeof GATES)[number];

/** What the runtime maps know of one fiber; no gate reads anything else but its frontmatter. */
export type EligibilityFacts = {
  /** The frozen host id of this daemon. */
  host: string;
  now: number;
  /** A worker runs, starts, is claimed, or cannot be told to be gone. */
  occupied: boolean;
  /** Only asked for standing roles. */
  due: Due | null;
  /** Until when the loop breaker pauses this fiber; null when it is closed. */
  paused_until: number | null;
  /** Until when the account of its agent is over a usage limit (P10); null when it is over none. */
  limited_until: number | null;
  /** Why the fiber waits for a person; null when nothing holds it. */
  held: string | null;
  /** Until when a refusal is not tried again (DSP-5); null when none stands. */
  cooldown_until: number | null;
};

export type Verdict = { eligible: true } | { eligible: false; gate: Gate };

/**
 * Whether the poller may launch a worker for this fiber now, or the first gate that is shut. Reads nothing
 * but its two arguments (DSP-2): no disk, no clock.
 */
export function judgeEligibility(document: FiberDocument, facts: EligibilityFacts): Verdict {
  for (const gate of GATES) {
    if (!isOpen(gate, document, facts)) return { eligible: false, gate };
  }
  return { eligible: true };
}

function isOpen(gate: Gate, document: FiberDocument, facts: EligibilityFacts): boolean {
  switch (gate) {
    case 'svc_block':
      return document.svc !== undefined;
    case 'host':
      return document.svc?.host === facts.host;
    case 'document':
      return document.error === undefined;
    case 'status':
      return document.status === 'active';
    case 'running':
      return !facts.occupied;
    case 'due':
      return (
        document.svc?.kind !== 'standing' || (facts.due?.kind === 'due' && document.tempered === undefined)
      );
    case 'breaker':
      return facts.paused_until === null || facts.paused_until <= facts.now;
    case 'usage_limit':
      return facts.limited_until === null || facts.limited_until <= facts.now;
    case 'held':
      return facts.held === null;
    case 'cooldown':
      return facts.cooldown_until === null || facts.cooldown_until <= facts.now;
  }
}

/** True when only a hold keeps the fiber from being launched: it belongs in `pending_launch`. */
export function isPendingLaunch(document: FiberDocument, facts: EligibilityFacts): boolean {
  return facts.held !== null && judgeEligibility(document, { ...facts, held: null }).eligible;
}
