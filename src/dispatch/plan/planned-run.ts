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
  /** The poller found the document no longer as it had judged it; nothing was written. */
  | { kind: 'moot' };

/** What came of a start; `uncertain`: the multiplexer did not say whether there is a session. */
export type StartOutcome = StartResult | { kind: 'uncertain'; refusal: Refusal };
