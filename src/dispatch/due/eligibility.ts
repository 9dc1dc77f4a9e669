import type { FiberDocument } from '../../contract/fiber.ts';
import { GATES, type Gate } from '../../contract/gates.ts';
import type { Places } from '../../contract/http/state.ts';
import type { HoldReason } from '../holds/quarantine.ts';
import type { ResourceHold } from '../holds/start-gate.ts';
import { hasPlace } from './places.ts';
import type { RunElsewhere } from './run-elsewhere.ts';
import type { Due } from './standing.ts';

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
  held: HoldReason | null;
  /** Until when a refusal is not tried again (DSP-5); null when none stands. */
  cooldown_until: number | null;
  /** tmux has told which workers run; before that nobody can tell what is free. */
  mux_answers: boolean;
  /** The emergency brake is on: nothing new is started. */
  stopped_all: boolean;
  /** What became of the data folder; null while all is well. */
  data_dir_fault: string | null;
  /** This daemon has the lease of the fiber's store: no other one of its host id dispatches from it. */
  leased: boolean;
  /** A run that another daemon may still have. */
  elsewhere: RunElsewhere | null;
  /** Workers of this daemon, and the most there may be; null for no bound. */
  workers: Places;
  /** What of the machine holds new starts back; null while nothing does. */
  resources: ResourceHold | null;
};

export type Verdict = { eligible: true } | { eligible: false; gate: Gate };

/**
 * Whether the poller may start a worker for this fiber now, or the first gate that is shut, but for those that are left
 * out. Reads nothing but its arguments (DSP-2): no disk, no clock.
 */
export function judgeEligibility(
  document: FiberDocument,
  facts: EligibilityFacts,
  leave_out: readonly Gate[] = [],
): Verdict {
  for (const gate of GATES) {
    if (!leave_out.includes(gate) && !isOpen(gate, document, facts)) return { eligible: false, gate };
  }
  return { eligible: true };
}

/** The gates that the document alone decides, on a given host. */
const OF_THE_DOCUMENT = ['svc_block', 'host', 'document', 'status'] as const;

/**
 * False where the document alone keeps the poller from starting a worker: so it is with nearly all of many documents, of
 * which then no facts are gathered.
 */
export function isArmedOn(host: string, document: FiberDocument): boolean {
  return OF_THE_DOCUMENT.every((gate) => isOpenByDocument(gate, document, host));
}

function isOpenByDocument(
  gate: (typeof OF_THE_DOCUMENT)[number],
  document: FiberDocument,
  host: string,
): boolean {
  switch (gate) {
    case 'svc_block':
      return document.svc !== undefined;
    case 'host':
      return document.svc?.host === host;
    case 'document':
      return document.error === undefined;
    case 'status':
      return document.status === 'active';
  }
}

function isOpen(gate: Gate, document: FiberDocument, facts: EligibilityFacts): boolean {
  switch (gate) {
    case 'svc_block':
    case 'host':
    case 'document':
    case 'status':
      return isOpenByDocument(gate, document, facts.host);
    case 'running':
      return !facts.occupied;
    case 'due':
      return (
        document.svc?.kind !== 'standing' || (facts.due?.kind === 'due' && document.tempered === undefined)
      );
    case 'mux':
      return facts.mux_answers;
    case 'stopped_all':
      return !facts.stopped_all;
    case 'data_dir':
      return facts.data_dir_fault === null;
    case 'store_lease':
      return facts.leased;
    case 'run_elsewhere':
      return facts.elsewhere === null;
    case 'breaker':
      return facts.paused_until === null || facts.paused_until <= facts.now;
    case 'usage_limit':
      return facts.limited_until === null || facts.limited_until <= facts.now;
    case 'held':
      return facts.held === null;
    case 'cooldown':
      return facts.cooldown_until === null || facts.cooldown_until <= facts.now;
    case 'max_concurrent':
      return hasPlace(facts.workers);
    case 'resources':
      return facts.resources === null;
  }
}

/** The state of every gate, in order. */
export function askGates(document: FiberDocument, facts: EligibilityFacts): { gate: Gate; open: boolean }[] {
  return GATES.map((gate) => ({ gate, open: isOpen(gate, document, facts) }));
}

/** Gates that keep every fiber back alike. */
const OF_THE_DAEMON: readonly Gate[] = ['mux', 'stopped_all', 'data_dir', 'max_concurrent', 'resources'];

/**
 * True when only a hold keeps the fiber from being started, whatever keeps back the whole daemon: it belongs in
 * `pending_launch`.
 */
export function isPendingStart(document: FiberDocument, facts: EligibilityFacts): boolean {
  return facts.held !== null && judgeEligibility(document, facts, ['held', ...OF_THE_DAEMON]).eligible;
}

/** True when the fiber waits for nothing but a free place among the workers. */
export function waitsForPlace(document: FiberDocument, facts: EligibilityFacts): boolean {
  return judgeEligibility(document, facts, ['max_concurrent', 'resources']).eligible;
}

/** True when the fiber waits for nothing but what the machine is short of. */
export function waitsForResources(document: FiberDocument, facts: EligibilityFacts): boolean {
  return facts.resources !== null && judgeEligibility(document, facts, ['resources']).eligible;
}
