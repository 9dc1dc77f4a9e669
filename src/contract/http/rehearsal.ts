import { z } from 'zod';

/** On every write: `true` answers what would be written and run, and writes and runs nothing. */
export const dryRunField = z.boolean().optional();

/** What one step would do. Empty lists and null stand for what it would not do. */
const stepSchema = z.object({
  /** One sentence. */
  would: z.string(),
  /** Files and folders that would be moved, in this order, before any document is written. Absolute paths. */
  moves: z.array(z.object({ from: z.string(), to: z.string() })),
  /** Unified diff of each document or operator file that would be written; `path` is where it would lie then. */
  documents: z.array(z.object({ path: z.string(), diff: z.string() })),
  /** The exact launch message; null when no worker would be started. */
  prompt: z.string().nullable(),
  /** What would be run; values of its environment are not shown, since some are secret. */
  command: z
    .object({
      /** `<prompt>` stands where the launch message goes. */
      argv: z.array(z.string()),
      /** Null where the program that runs it chooses the folder. */
      cwd: z.string().nullable(),
      env: z.array(z.string()),
      mux_session: z.string(),
    })
    .nullable(),
  /** Sessions that would be ended, by name. */
  ends: z.array(z.string()),
  /** Ids and moments of this rehearsal that the real request mints anew. */
  minted: z.record(z.string(), z.string()),
});
export type RehearsedStep = z.infer<typeof stepSchema>;

/**
 * What a write with `dry_run` answers. Everything in it is what the real request would write and run, byte for
 * byte, apart from the ids and moments that are minted anew each time and named in `minted`.
 */
export const rehearsalSchema = stepSchema.extend({
  dry_run: z.literal(true),
  /** Of a write that does several things one after the other, such as starting every fiber of an incident. */
  steps: z.array(stepSchema),
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;

/** A rehearsal of something that writes no document and starts no worker; give what is otherwise. */
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
 * For a write that cannot be rehearsed: a request to is refused, and never done in earnest. Such a row stands with its
 * reason in `test/structure/rehearsals.test.ts`.
 * @public
 */
export const noRehearsal = z
  .literal(false, { error: 'this write cannot be rehearsed; leave dry_run out to do it' })
  .optional();
