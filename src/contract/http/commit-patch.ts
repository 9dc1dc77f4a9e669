import { z } from 'zod';

/** `GET /commits/patch?sha=&origin=`: a commit of the ledger of a host, by its name or the beginning of it. */
export const commitPatchQuerySchema = z.object({
  sha: z
    .string({ error: 'must be given: the name of a commit' })
    .regex(/^[0-9a-f]{7,64}$/i, { error: 'must be 7 to 64 hexadecimal digits of the name of a commit' })
    .toLowerCase(),
  origin: z.string().optional(),
});

const FILE_CHANGES = ['added', 'deleted', 'modified', 'renamed', 'copied'] as const;

/** Lines that changed, with those around them. Lines count from 1. */
const patchHunkSchema = z.object({
  /** The first line before the commit and after it; 0 where that side has none. */
  old_start: z.number().int(),
  new_start: z.number().int(),
  /** What the lines are part of, such as a function; empty if that is not known. */
  heading: z.string(),
  /**
   * Each begins with `+`, `-`, a space, or a backslash: that is a remark on the line before it. A line of more than 2,000
   * characters ends in `…`.
   */
  lines: z.array(z.string()),
});
export type PatchHunk = z.infer<typeof patchHunkSchema>;

export const patchFileSchema = z.object({
  path: z.string(),
  /** What it was called before; null where that is the same, or where it was not there. */
  old_path: z.string().nullable(),
  change: z.enum(FILE_CHANGES),
  /** Lines; null for a binary file. */
  additions: z.number().int().nullable(),
  deletions: z.number().int().nullable(),
  binary: z.boolean(),
  /** Of a binary file, and of one whose text is the same, none. */
  hunks: z.array(patchHunkSchema),
});
export type PatchFile = z.infer<typeof patchFileSchema>;

/** What a commit changed, of a merge against its first parent. */
export const patchSchema = z.object({
  message: z.string(),
  author: z.object({ name: z.string(), email: z.string() }),
  /** Milliseconds since the Unix epoch. */
  committed_at: z.number().int(),
  files: z.array(patchFileSchema),
  /** Whether it is longer than what is told of it: the end is missing. */
  truncated: z.boolean(),
});
export type Patch = z.infer<typeof patchSchema>;

export const commitPatchSchema = patchSchema.extend({
  host: z.string(),
  /** Its whole name. */
  sha: z.string(),
  /** The folder of the repository, on the host. */
  repo: z.string(),
});
export type CommitPatch = z.infer<typeof commitPatchSchema>;
