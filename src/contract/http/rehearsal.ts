import { z } from 'zod';

/** On every write: `true` answers what would be written and run, and writes and runs nothing. */
export const dryRunField = z.boolean().optional();

/**
 * What a write with `dry_run` answers. Everything in it is what the real request would write and run, byte for
 * byte, apart from the ids and moments that are minted anew each time and named in `minted`.
 */
export const rehearsalSchema = z.object({
  dry_run: z.literal(true),
  /** One sentence. */
  would: z.string(),
  /** Unified diff of the one document that would be written; null when none would be. */
  document: z.object({ path: z.string(), diff: z.string() }).nullable(),
  /** The exact launch message; null when no worker would be started. */
  prompt: z.string().nullable(),
  /** How the worker would be started; values of its environment are not shown, since some are secret. */
  command: z
    .object({
      /** `<prompt>` stands where the launch message goes. */
      argv: z.array(z.string()),
      cwd: z.string(),
      env: z.array(z.string()),
      mux_session: z.string(),
    })
    .nullable(),
  /** Sessions that would be ended, by name. */
  ends: z.array(z.string()),
  /** Ids and moments of this rehearsal that the real request mints anew. */
  minted: z.record(z.string(), z.string()),
});
export type Rehearsal = z.infer<typeof rehearsalSchema>;

/** A rehearsal of something that writes no document and starts no worker; give what is otherwise. */
export function rehearsal(
  would: string,
  more: Partial<Omit<Rehearsal, 'dry_run' | 'would'>> = {},
): Rehearsal {
  return { dry_run: true, would, document: null, prompt: null, command: null, ends: [], minted: {}, ...more };
}

/** A request to rehearse is refused where nothing is rehearsed, and never done in earnest. */
export const noRehearsal = z
  .literal(false, { error: 'this write cannot be rehearsed; leave dry_run out to do it' })
  .optional();
