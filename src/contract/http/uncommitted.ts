import { z } from 'zod';
import { flagSchema, referenceSchema } from './bounded.ts';
import { patchFileSchema } from './commit-patch.ts';

/** `GET /uncommitted?fiber=&patch=&origin=`: what the folder of a fiber has that no commit has. */
export const uncommittedQuerySchema = z.object({
  fiber: referenceSchema.min(1, { error: 'must be the id or the uid of a fiber' }),
  /** With the lines that changed. */
  patch: flagSchema.default(false),
  origin: z.string().optional(),
});

/** The state of a working tree, of the part of it that is in one folder. */
export const workTreeSchema = z.object({
  state: z.literal('read'),
  /** The top folder of the working tree. */
  repo: z.string(),
  /** Null where no branch is checked out. */
  branch: z.string().nullable(),
  /** Files of the last commit and of the index that have changed; without `patch` they have no hunks. */
  files: z.array(patchFileSchema),
  /** Files that Git neither knows nor ignores, below `repo`; a folder of such files ends in a slash. */
  untracked: z.array(z.string()),
  /** Whether there is more than what is told. */
  truncated: z.boolean(),
});
export type WorkTree = z.infer<typeof workTreeSchema>;

/** Why there is no working tree to tell of. */
export const noWorkTreeSchema = z.object({
  state: z.enum(['no_folder', 'folder_missing', 'no_repository']),
  /** A phrase. */
  detail: z.string(),
});
export type NoWorkTree = z.infer<typeof noWorkTreeSchema>;

export const uncommittedSchema = z.object({
  host: z.string(),
  fiber_id: z.string(),
  /** Null too where another document has it. */
  uid: z.string().nullable(),
  /** Where its workers work; null if it names none. */
  folder: z.string().nullable(),
  work: z.union([workTreeSchema, noWorkTreeSchema]),
});
export type Uncommitted = z.infer<typeof uncommittedSchema>;
