import { z } from 'zod';

/** On every write: `true` only shows what would be written and run. */
export const dryRunField = z.boolean().optional();

/** The effects of one step. Empty lists and null mean no effect of that kind. */
const stepSchema = z.object({
  /** One sentence. */
  would: z.string(),
  /** Files and folders that would be moved, in this order, before any document is written. Absolute paths. */
  moves: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Unified diff of each document or operator file that would be written; `path` is its path after the moves. */
  documents: z.array(z.object({ path: z.string(), diff: z.string() })),
  /** The exact launch message; null when no worker would be started. */
  prompt: z.string().nullable(),
  /** The command that would run; values of its environment are not shown, since some are secret. */
  command: z
    .object({
      /** `<prompt>` is the placeholder of the launch message. */
      argv: z.array(z.string()),
      /** Null if the program that runs it chooses the folder. */
      cwd: z.string().nullable(),
      env: z.array(z.string()),
      mux_session: z.string(),
    })
    .nullable(),
  /** Sessions that would be ended, by name. */
  ends: z.array(z.string()),
  /** Those of `ends` that are cut off: the fiber is not closed yet, or a person has the terminal open. Absent: none. */
  interrupts: z.array(z.string()).optional(),
  /** Ids and times of this rehearsal that differ in the real request. */
  minted: z.record(z.string(), z.string()),
});
export type RehearsedStep = z.infer<typeof stepSchema>;

/**
 * The answer to a write with `dry_run`. It is exactly what the real request would write and run, byte for byte, except
 * for ids and times, which are new each time and listed in `minted`.
 */
export const rehearsalSchema = stepSchema.extend({
  dry_run: z.literal(true),
  /** For a write with several steps in sequence, such as starting every fiber of an incident. */
  steps: z.array(stepSchema),
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;

/** A rehearsal without effects, plus the given fields. */
export function rehearsal(
  would: string,
  more: Partial<Omit<Rehearsal, 'dry_run' | 'would'>> = {},
): Rehearsal {
  const nothing = { moves: [], documents: [], prompt: null, command: null, ends: [], minted: {}, steps: [] };
  return { dry_run: true, would, ...nothing, ...more };
}

/** A rehearsal as one step of a larger one. */
export function stepOf({ dry_run: _dry, steps: _steps, ...step }: Rehearsal): RehearsedStep {
  return step;
}

/**
 * For a write that cannot be rehearsed: `dry_run: true` is refused and nothing is done. Such a row is listed with its
 * reason in `test/structure/rehearsals.test.ts`.
 */
export const noRehearsal = z
  .literal(false, { error: 'may not be given: this write cannot be rehearsed; leave it out to do the write' })
  .optional();
