import type { LaunchPlan } from '../../harness/adapter.ts';
import type { GroupEntry } from '../../platform/memory-groups.ts';
import type { Refusal } from '../holds/refusals.ts';
import type { Run } from '../run/run.ts';

/** A start that passed its checks: the run, its launch message, what is started, and in which memory group. */
export type PlannedRun = {
  run: Run;
  prompt: string;
  plan: LaunchPlan;
  memory: GroupEntry | null;
};

export type StartResult =
  | { kind: 'started'; run: Run }
  | { kind: 'refused'; refusal: Refusal }
  /** The document has changed since the poller checked it; nothing was written. */
  | { kind: 'moot' };

/** The outcome of a start; `uncertain`: the multiplexer did not report whether the session exists. */
export type StartOutcome = StartResult | { kind: 'uncertain'; refusal: Refusal };
