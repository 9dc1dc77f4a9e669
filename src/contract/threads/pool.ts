import { z } from 'zod';
import { HARNESS_NAMES } from '../harness-name.ts';
import { storedFileSchema } from '../http/attachments.ts';
import { patchSchema } from '../http/commit-patch.ts';
import { momentSchema } from '../http/moment.ts';
import { searchReplySchema, searchWishSchema } from '../http/search.ts';
import { sessionSpendSchema } from '../http/spend.ts';
import { transcriptPageSchema } from '../http/transcript-words.ts';
import { noWorkTreeSchema, workTreeSchema } from '../http/uncommitted.ts';
import { bulkFileSchema } from './bulk-file.ts';
import type { CallTable } from './call-table.ts';
import { checkedMessageSchema } from './messages.ts';

/** Identity of the file at a path; device and inode as decimal strings, since they may exceed 2^53. */
const fileStampSchema = z.object({
  dev: z.string(),
  ino: z.string(),
  size: z.number().int(),
  /** Nanoseconds since the Unix epoch, in decimal. */
  mtime_ns: z.string(),
  ctime_ns: z.string(),
});
export type FileStamp = z.infer<typeof fileStampSchema>;

/** A checked batch of images. */
const checkedImagesSchema = z.object({
  fiber: z.string(),
  dry_run: z.boolean(),
  images: z.array(bulkFileSchema),
});
export type CheckedImages = z.infer<typeof checkedImagesSchema>;

/** What stored files belong to; each has a folder of its own. */
const attachedToSchema = z.union([z.object({ uid: z.string() }), z.object({ message_id: z.string() })]);
export type AttachedTo = z.infer<typeof attachedToSchema>;

/** Time that a thread may have to parse one document, in milliseconds; within the document limits it takes about ten. */
const PARSE_LIMIT_MS = 2_000;

/**
 * With `follow`, links that leave the store are read. `answering` are the mounts of other machines that may be entered.
 */
const storeReachSchema = z.object({
  follow: z.boolean(),
  answering: z.array(z.string()).readonly().or(z.literal('all')),
});
export type StoreReach = z.infer<typeof storeReachSchema>;

/**
 * What is left of new documents and folders beyond `most_new` is only named. The parse of one document is a step; documents whose tokens are `set_aside` are listed with an error and
 * not parsed.
 */
const sweepSchema = storeReachSchema.extend({
  root: z.string(),
  set_aside: z.array(z.string()).optional(),
  most_new: z.number().int().optional(),
});

const LISTING = { deadline_ms: 20_000, patient: true, step_ms: PARSE_LIMIT_MS };

/**
 * Stateless jobs of the pool. Bulk bytes go in and come out as transferred buffers, so the main thread
 * that owns the pool never encodes them.
 */
export const poolJobs = {
  /** Does nothing: the pool can run a job. */
  ping: { input: z.object({}), output: z.object({}), deadline_ms: 5_000 },
  /**
   * One stat sweep of a store. Bulk in: the opaque table an earlier sweep returned (empty for the first); bulk out: for
   * `decodeSweep` (fibers/sweep-result.ts).
   */
  sweep_store: { input: sweepSchema, output: z.object({}), ...LISTING },
  /** Reads documents and folders that a sweep only named. Bulk in: their paths; bulk out: for `decodeReading`. */
  read_documents: { input: sweepSchema, output: z.object({}), ...LISTING },
  /** The identity of a store on disk, the same for every path to it. Throws the system error. */
  identify_store: {
    input: z.object({ root: z.string() }),
    output: z.object({ identity: z.string() }),
    deadline_ms: 5_000,
  },
  /** The description of the API (OpenAPI 3.1); bulk out: its JSON. */
  describe_api: { input: z.object({ version: z.string() }), output: z.object({}), deadline_ms: 30_000 },
  /**
   * Makes a folder a store if it is not one; `dry_run` only checks. `root` is the absolute path of the folder. Throws
   * `not_a_directory` (ERR-5).
   */
  init_store: {
    input: z.object({ path: z.string(), dry_run: z.boolean() }),
    output: z.object({ root: z.string(), initialised: z.boolean() }),
    deadline_ms: 10_000,
  },
  /**
   * The digest of the first `stamp.size` bytes of a file. Throws `file_changed` if the path now names another or a
   * shorter file. `settled`: the file is unchanged and was not written so recently that a change could go unnoticed.
   */
  digest_file: {
    input: z.object({ path: z.string(), stamp: fileStampSchema }),
    output: z.object({ sha256: z.string(), settled: z.boolean() }),
    deadline_ms: 120_000,
  },
  /**
   * Parses and checks the body of `POST /attachments`. Bulk in: the body; bulk out: the decoded images, concatenated.
   * Throws the errors of the route.
   */
  check_attachments: { input: z.object({}), output: checkedImagesSchema, deadline_ms: 30_000 },
  /**
   * Parses and checks the body of `POST /messages/files`. Bulk in: the body; bulk out: the decoded files, concatenated.
   * Throws the errors of the route.
   */
  check_message_files: { input: z.object({}), output: checkedMessageSchema, deadline_ms: 30_000 },
  /**
   * Stores checked files below the folder of their fiber or message, all or none, then deletes expired ones. Bulk in:
   * the bytes. With `dry_run` it only returns the paths. Throws `store_unavailable`, with nothing left.
   */
  store_attachments: {
    input: z.object({
      folder: z.string(),
      of: attachedToSchema,
      files: z.array(bulkFileSchema),
      dry_run: z.boolean(),
    }),
    output: z.object({ files: z.array(storedFileSchema) }),
    deadline_ms: 30_000,
  },
  /** Finds transcripts by the id of their session, among the agents of a registry; one answer each, in order. */
  find_transcripts: {
    input: z.object({
      agents_file: z.string(),
      sessions: z.array(
        z.object({
          session: z.string(),
          /** The agent from the ledger; null: every agent is tried. */
          harness: z.enum(HARNESS_NAMES).nullable(),
          agent: z.string().nullable(),
        }),
      ),
    }),
    output: z.object({
      transcripts: z.array(
        z
          .object({
            harness: z.enum(HARNESS_NAMES),
            path: z.string(),
            /** It may name a page that shows the session. */
            linked: z.boolean(),
          })
          .or(z.object({ fault: z.string() }))
          .nullable(),
      ),
    }),
    deadline_ms: 20_000,
  },
  /** The last bridge address in the first `to` bytes of each transcript; bytes before `seen` were searched earlier. */
  find_bridge_urls: {
    input: z.object({
      files: z.array(
        z.object({
          harness: z.enum(HARNESS_NAMES),
          path: z.string(),
          seen: z.number().int(),
          to: z.number().int(),
        }),
      ),
    }),
    output: z.object({ urls: z.array(z.string().nullable()) }),
    deadline_ms: 60_000,
  },
  /** The usage of sessions, oldest first; counts are cached below `cache_dir`. */
  read_spend: {
    input: z.object({
      cache_dir: z.string(),
      sessions: z.array(
        z.object({
          session: z.string(),
          harness: z.enum(HARNESS_NAMES).nullable(),
          path: z.string().nullable(),
        }),
      ),
    }),
    output: z.object({ spends: z.array(sessionSpendSchema) }),
    deadline_ms: 60_000,
  },
  /** The messages of a transcript around a time. */
  read_moment: {
    input: z.object({
      path: z.string(),
      harness: z.enum(HARNESS_NAMES),
      at: z.number(),
      within_ms: z.number(),
    }),
    output: momentSchema.pick({ words: true, more: true, said_before: true }),
    deadline_ms: 20_000,
  },
  /** What was said in one stretch of a transcript. */
  read_transcript_page: {
    input: z.object({
      path: z.string(),
      harness: z.enum(HARNESS_NAMES),
      before_byte: z.number().optional(),
      after_byte: z.number().optional(),
    }),
    output: transcriptPageSchema,
    deadline_ms: 20_000,
  },
  /** What a commit of a repository changed; `sha` is its whole name. The disk of `repo` must be known to answer. */
  read_commit_patch: {
    input: z.object({ repo: z.string(), sha: z.string() }),
    output: patchSchema,
    deadline_ms: 20_000,
  },
  /** What a folder has that no commit has. Its disk must be known to answer. */
  read_uncommitted: {
    input: z.object({ folder: z.string(), patch: z.boolean() }),
    output: z.object({ work: z.union([workTreeSchema, noWorkTreeSchema]) }),
    deadline_ms: 30_000,
  },
  /**
   * Searches the bodies of a catalogue (fibers/search/catalogue.ts). Bulk in: the catalogue, unless this thread is
   * known to have it. The answer is null if it does not have it.
   */
  search: {
    input: z.object({ catalogue: z.string(), wish: searchWishSchema }),
    output: z.object({ reply: searchReplySchema.nullable() }),
    deadline_ms: 20_000,
  },
} satisfies CallTable;
