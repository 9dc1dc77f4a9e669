import { z } from 'zod';
import { resumedSessionSchema, sshTargetSchema } from '../http/attach.ts';
import { originFields } from '../http/composite.ts';
import { storeOriginSchema } from '../http/config.ts';
import { fleetRowSchema } from '../http/fleet.ts';
import { peersSchema } from '../http/peers.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import { remoteResetSchema, resetRemoteSchema } from '../http/remote-reset.ts';
import { fleetStateSchema } from '../http/state.ts';
import { linksReplySchema, transcriptReceiptSchema } from '../http/transcripts.ts';
import { versionSchema } from '../http/version.ts';
import { remoteAddressSchema } from '../remote-address.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** What is read of other hosts for a composite; windows in milliseconds since the Unix epoch. */
const askedReadSchema = z.discriminatedUnion('feed', [
  z.object({ feed: z.literal('activity'), from_ms: z.number().int(), to_ms: z.number().int() }),
  z.object({ feed: z.literal('sessions'), uid: z.string().optional() }),
  z.object({ feed: z.literal('commits') }),
  z.object({ feed: z.literal('sent-files') }),
  z.object({ feed: z.literal('state') }),
]);
export type AskedRead = z.infer<typeof askedReadSchema>;

/** The read of one remote, and how fresh it is. */
const remoteReadSchema = z.object({
  name: z.string(),
  ...originFields,
  /** Names the bytes; null where there are none. */
  digest: z.string().nullable(),
  /** How many bytes of the bulk belong to it; null where there are none, or the caller has them. */
  length: z.number().int().nullable(),
});
export type RemoteRead = z.infer<typeof remoteReadSchema>;

/** The copy of the feed of one remote, and how fresh it is. */
const remoteFeedSchema = z.object({
  name: z.string(),
  ...originFields,
  /** How many bytes of the bulk belong to it; null where there are none. */
  length: z.number().int().nullable(),
});

/** What follows the rows of a whole copy. */
export const COPY_END = ']}';

/** The same in blocks of rows, each with a comma before every row. */
const feedBlocksSchema = z.object({
  name: z.string(),
  ...originFields,
  /** Null where there is none; `same` where nothing of it changed since the caller had it. */
  copy: z.union([
    z.null(),
    z.literal('same'),
    z.object({
      /** The bytes before its rows; `COPY_END` follows them. */
      head: z.string(),
      /** Its blocks in order, and how many bytes of the bulk belong to each: 0 where the caller has it. */
      ids: z.array(z.number()),
      lengths: z.array(z.number()),
    }),
  ]),
});
export type FeedBlocks = z.infer<typeof feedBlocksSchema>;

/** Calls that the main thread makes to the fleet component. */
export const fleetCalls = {
  state: { input: z.object({}), output: fleetStateSchema, deadline_ms: 5_000 },
  /**
   * What changed after the tag `since` in the copies of the feeds of all remotes, by name; `reads` is null where the tag is
   * none of the fleet's. Their bytes come concatenated as bulk. `tag` names what is answered; null without a remote.
   */
  feeds: {
    input: z.object({ since: z.string() }),
    output: z.object({ tag: z.string().nullable(), reads: z.array(remoteFeedSchema).nullable() }),
    deadline_ms: 5_000,
  },
  /** All of these copies for a caller that has the blocks of them which the tag `had` named; an empty tag for none. */
  feed_blocks: {
    input: z.object({ had: z.string() }),
    output: z.object({ tag: z.string().nullable(), reads: z.array(feedBlocksSchema) }),
    deadline_ms: 5_000,
  },
  /** The stores and projects of each remote that has told them (RPL-6). */
  stores: {
    input: z.object({}),
    output: z.object({ origins: z.record(z.string(), storeOriginSchema) }),
    deadline_ms: 2_000,
  },
  /** Runs one cascade for a remote now; throws `unknown_host` and `breaker_not_tripped`. */
  reset_remote: {
    input: resetRemoteSchema.extend({ name: z.string() }),
    output: remoteResetSchema.or(rehearsalSchema),
    deadline_ms: 5_000,
  },
  /** How to reach a remote by SSH; throws `unknown_host`. */
  ssh_target: { input: z.object({ host: z.string() }), output: sshTargetSchema, deadline_ms: 5_000 },
  /** Asks a remote for the terminal of one of its past sessions; rethrows the remote's refusal. */
  resume_session: {
    input: z.object({ host: z.string(), session: z.string() }),
    output: resumedSessionSchema,
    deadline_ms: 30_000,
  },
  /** The location of a transcript on a remote; `host_unreachable` without an answer (RPL-12). */
  transcript: {
    input: z.object({ host: z.string(), session: z.string() }),
    output: transcriptReceiptSchema,
    deadline_ms: 30_000,
  },
  /** The links of some sessions on a remote, sanitised; each `host_unreachable` without an answer (RPL-23). */
  session_links: {
    input: z.object({ host: z.string(), sessions: z.array(z.string()) }),
    output: linksReplySchema,
    deadline_ms: 30_000,
  },
  /**
   * The reads of all remotes for a composite, by name (TMP-8): their bytes come concatenated as bulk, but for those whose
   * digest is in `known`. Answers within the time that a composite waits for other hosts, whatever they do.
   */
  remote_reads: {
    input: z.object({ asked: askedReadSchema, known: z.array(z.string()) }),
    output: z.object({ reads: z.array(remoteReadSchema) }),
    deadline_ms: 60_000,
  },
  /**
   * Of each remote the sessions, or why they cannot be listed; each one is asked once (RPL-15). The rows of the sessions come
   * as bulk, with commas between them.
   */
  remote_peers: { input: z.object({}), output: peersSchema.pick({ gaps: true }), deadline_ms: 60_000 },
  /** Each remote as it is now; each one is asked (RPL-9). */
  rows: { input: z.object({}), output: z.object({ rows: z.array(fleetRowSchema) }), deadline_ms: 60_000 },
} satisfies CallTable;

/** A configured remote: where its daemon answers; null with the `problem` of its entry. */
const remoteSchema = z.object({
  name: z.string(),
  address: remoteAddressSchema.nullable(),
  problem: z.string().nullable(),
});
export type Remote = z.infer<typeof remoteSchema>;

/** The tailnet as this machine stands in it. */
const tailnetNetworkSchema = z.object({
  /** Of tailscaled. */
  socket: z.string(),
  /** False where only tailscaled can connect. */
  has_interface: z.boolean(),
  self: z.object({
    id: z.string(),
    user_id: z.number(),
    dns_name: z.string(),
    addresses: z.array(z.string()),
    is_tagged: z.boolean(),
  }),
});
export type TailnetNetwork = z.infer<typeof tailnetNetworkSchema>;

/** Notices of the fleet component. */
export const fleetEvents = {
  /** All configured remotes: sent at the start and after each change. */
  remotes_changed: z.object({ remotes: z.array(remoteSchema) }),
  /** The tag of the copies of their feeds, as `feeds` answers it: sent at the start and after changes. */
  feeds_changed: z.object({ tag: z.string().nullable() }),
  /** What is known of the private network: sent when a look at it shows something else. `network` is null without it. */
  tailnet_changed: z.object({
    view: versionSchema.pick({ tailnet_dial: true, discovery: true }),
    network: tailnetNetworkSchema.nullable(),
  }),
} satisfies EventTable;
