import { z } from 'zod';
import { resumedSessionSchema, sshTargetSchema } from '../http/attach.ts';
import { fleetStateSchema } from '../http/state.ts';
import { linksReplySchema, transcriptReceiptSchema } from '../http/transcripts.ts';
import { remoteAddressSchema } from '../remote-address.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Calls that the main thread makes to the fleet component. */
export const fleetCalls = {
  state: { input: z.object({}), output: fleetStateSchema, deadline_ms: 5_000 },
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
} satisfies CallTable;

/** A configured remote: where its daemon answers; null with the `problem` of its entry. */
const remoteSchema = z.object({
  name: z.string(),
  address: remoteAddressSchema.nullable(),
  problem: z.string().nullable(),
});
export type Remote = z.infer<typeof remoteSchema>;

/** Notices of the fleet component. */
export const fleetEvents = {
  /** All configured remotes: sent at the start and after each change. */
  remotes_changed: z.object({ remotes: z.array(remoteSchema) }),
} satisfies EventTable;
