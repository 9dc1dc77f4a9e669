import { z } from 'zod';
import { harnessNameSchema } from '../harness-name.ts';
import { resumedSessionSchema, sshTargetSchema } from '../http/attach.ts';
import { originFields } from '../http/composite.ts';
import { datedStoresSchema } from '../http/config.ts';
import { fleetRowSchema } from '../http/fleet.ts';
import { peersSchema } from '../http/peers.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import { remoteResetSchema, resetRemoteSchema } from '../http/remote-reset.ts';
import { fleetStateSchema } from '../http/state.ts';
import { linksReplySchema, transcriptReceiptSchema } from '../http/transcripts.ts';
import { versionSchema } from '../http/version.ts';
import { remoteAddressSchema } from '../remote-address.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** The answer of another host to one request of this daemon. */
const hostAnswerSchema = z.object({ status: z.number().int(), body: z.unknown() });
export type HostAnswer = z.infer<typeof hostAnswerSchema>;

/** A meeting, and the fiber on another host that it joined; null for a capture. */
const scribeQuerySchema = z.object({
  launch: z.string(),
  /** `uid` finds it under another id too; null where it is not known. */
  joined: z.object({ host: z.string(), fiber: z.string(), uid: z.string().nullable() }).nullable(),
});
export type ScribeQuery = z.infer<typeof scribeQuerySchema>;

/** A fiber of another host that a meeting belongs to; `session` is null while it has no worker that can be written to. */
const scribeSchema = z.object({
  host: z.string(),
  fiber: z.string(),
  uid: z.string().nullable(),
  session: z.object({ harness: harnessNameSchema, native_id: z.string() }).nullable(),
});
export type Scribe = z.infer<typeof scribeSchema>;

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

/**
 * The copy of the feed of one remote: there is none, the caller has it, or its rows are the next of the parts, each with a
 * comma before it, and belong between these texts.
 */
const feedCopySchema = z.discriminatedUnion('copy', [
  z.object({ name: z.string(), ...originFields, copy: z.enum(['none', 'same']) }),
  z.object({
    ...{ name: z.string(), ...originFields, copy: z.literal('told') },
    around: z.tuple([z.string(), z.string()]),
  }),
]);
export type FeedCopy = z.infer<typeof feedCopySchema>;

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
  /**
   * Lends all of these copies, whole, to a caller that was lent them as the tag `had` named them, for an empty tag none of
   * them. The bytes of those that it lacks come as parts, in order. It gives each copy back (`src/base/lent-bytes.ts`).
   */
  feed_copies: {
    input: z.object({ had: z.string() }),
    output: z.object({ tag: z.string().nullable(), reads: z.array(feedCopySchema) }),
    deadline_ms: 5_000,
  },
  /** The stores and projects of each remote that has told them (RPL-6). */
  stores: {
    input: z.object({}),
    output: z.object({ origins: z.record(z.string(), datedStoresSchema) }),
    deadline_ms: 2_000,
  },
  /** Somebody wants to reach a remote whose breaker is tripped: it is asked at once, if it was not just now. */
  ask_again: { input: z.object({ name: z.string() }), output: z.object({}), deadline_ms: 5_000 },
  /** Runs one cascade for a remote now; throws `unknown_host` and `breaker_not_tripped`. */
  reset_remote: {
    input: resetRemoteSchema.extend({ name: z.string() }),
    output: remoteResetSchema.or(rehearsalSchema),
    deadline_ms: 5_000,
  },
  /**
   * Sends one write of this daemon to a remote, and answers what it answered. Throws `unknown_host`, `invalid_config`, and
   * `remote_unreachable`, whose message says whether the write may have been carried out.
   */
  write_to_host: {
    input: z.object({ host: z.string(), path: z.string(), body: z.unknown() }),
    output: hostAnswerSchema,
    deadline_ms: 125_000,
  },
  /** The SSH alias of a remote: null where its entry names none, or for a host that is no remote. */
  ssh_alias: {
    input: z.object({ host: z.string() }),
    output: z.object({ known: z.boolean(), alias: z.string().nullable() }),
    deadline_ms: 5_000,
  },
  /**
   * The fiber of a remote whose `svc.runtime.meeting` is this launch id, or that has this id on that host, as the copies
   * tell it (MTR-5); and the session of its worker.
   */
  scribe: {
    input: scribeQuerySchema,
    output: z.object({ scribe: scribeSchema.nullable() }),
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
  /** The location of a transcript on a remote, asked for by way of `hops`; `host_unreachable` without an answer (RPL-12). */
  transcript: {
    input: z.object({ host: z.string(), session: z.string(), hops: z.array(z.string()) }),
    output: transcriptReceiptSchema,
    deadline_ms: 30_000,
  },
  /** The links of some sessions on a remote, sanitised; each `host_unreachable` without an answer (RPL-23). */
  session_links: {
    input: z.object({ host: z.string(), sessions: z.array(z.string()), hops: z.array(z.string()) }),
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

export const silenceSchema = z.enum(['remote_unreachable', 'build_changed']);
/**
 * A remote that gets no request now: it does not answer and is asked only now and then, or it is not of its pinned build.
 * Why, and when it last answered in milliseconds since the Unix epoch.
 */
const silentRemoteSchema = z.object({
  name: z.string(),
  code: silenceSchema,
  reason: z.string(),
  last_ok_at: z.number().nullable(),
});
export type SilentRemote = z.infer<typeof silentRemoteSchema>;

/** What is answered at once for such a remote; `writes` for a request that may have an effect, which a read has not. */
export function silenceFault(
  { name, code, reason, last_ok_at }: SilentRemote,
  now: number,
  writes: boolean,
): { code: SilentRemote['code']; message: string } {
  const unsent = writes ? 'Nothing was sent. ' : '';
  if (code === 'build_changed') return { code, message: `${unsent}${reason}` };
  const seconds = last_ok_at === null ? null : Math.max(0, Math.round((now - last_ok_at) / 1_000));
  const since = seconds === null ? 'has not answered yet' : `has not answered for ${seconds} s`;
  return {
    code,
    message: `${name} ${since}; another attempt runs now. ${unsent}${reason}`,
  };
}

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
  /** All remotes that get no request now: sent after each change. */
  silent_changed: z.object({ silent: z.array(silentRemoteSchema) }),
  /** What is known of the private network: sent when a look at it shows something else. `network` is null without it. */
  tailnet_changed: z.object({
    view: versionSchema.pick({ tailnet_dial: true, discovery: true }),
    network: tailnetNetworkSchema.nullable(),
  }),
} satisfies EventTable;
