import { z } from 'zod';

/** How fresh the part of one host in a composite is (RTE-7, TMP-8). */
export const originFields = {
  /**
   * `fresh`: it answered within the last ten minutes; `stale`: what is told of it is older; `no_answer`: there is nothing
   * to tell of it, and `read` is null.
   */
  state: z.enum(['fresh', 'stale', 'no_answer']),
  /**
   * When it last answered, in milliseconds since the Unix epoch. Null of the host that answers the request, which is
   * read for it, and of one that has never answered.
   */
  last_ok_at: z.number().nullable(),
  /** Why it did not answer when it was last asked; null if it did. */
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** Short commit of its daemon; null if it is not known. */
  build: z.string().nullable(),
};

/** A composite: of each host by its name, the very answer of its single-host read, and how fresh that is. */
export function compositeOf<Read extends z.ZodType>(read: Read) {
  return z.object({
    /** The host that answers. */
    host: z.string(),
    origins: z.record(z.string(), z.object({ ...originFields, read: read.nullable() })),
  });
}

/** The part of one host in a composite of such reads. */
export type Origin<Read = unknown> = z.infer<z.ZodObject<typeof originFields>> & { read: Read | null };
export type Composite<Read = unknown> = { host: string; origins: Record<string, Origin<Read>> };
