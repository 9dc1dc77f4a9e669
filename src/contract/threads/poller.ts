import { z } from 'zod';
import { agentSchema } from '../agent.ts';
import { resumedSessionSchema, sshTargetSchema } from '../http/attach.ts';
import {
  capturedSchema,
  captureRefusedSchema,
  captureRequestSchema,
  claimAddressSchema,
  claimedSchema,
  claimRequestSchema,
} from '../http/capture.ts';
import {
  dispatchedSchema,
  dispatchRequestSchema,
  killedSchema,
  killRequestSchema,
  refusedSchema,
  releasedSchema,
} from '../http/dispatch.ts';
import { doctorReplySchema } from '../http/doctor.ts';
import { createFiberSchema, editFiberSchema, feedStateSchema, fiberReplySchema } from '../http/fibers.ts';
import { pollerStateSchema } from '../http/state.ts';
import { sessionLineSchema } from '../ledger.ts';
import type { CallTable, EventTable } from './call-table.ts';

const feedTagsSchema = z.object({ all: z.string().nullable(), svc: z.string().nullable() });

/** Calls that the main thread makes to the poller. */
export const pollerCalls = {
  /** The encoded body of `GET /fibers` comes as bulk; `etag` is null while cold. */
  feed: {
    input: z.object({ svc: z.boolean(), body: z.boolean() }),
    output: z.object({ etag: z.string().nullable(), state: feedStateSchema }),
    deadline_ms: 10_000,
  },
  fiber: { input: z.object({ id: z.string() }), output: fiberReplySchema, deadline_ms: 5_000 },
  state: { input: z.object({}), output: pollerStateSchema, deadline_ms: 5_000 },
  /** A refusal is a value, not an error. */
  dispatch: {
    input: dispatchRequestSchema,
    output: z.discriminatedUnion('dispatched', [dispatchedSchema, refusedSchema]),
    deadline_ms: 30_000,
  },
  kill: { input: killRequestSchema, output: killedSchema, deadline_ms: 15_000 },
  /** A refusal is a value, not an error. */
  capture: {
    input: captureRequestSchema.extend({ claim: claimAddressSchema }),
    output: z.discriminatedUnion('captured', [capturedSchema, captureRefusedSchema]),
    deadline_ms: 30_000,
  },
  claim: { input: claimRequestSchema, output: claimedSchema, deadline_ms: 15_000 },
  /** Starts or finds the terminal of a past session; `lines` are what the sessions ledger has of it. */
  resume_session: {
    input: z.object({ session: z.string(), lines: z.array(sessionLineSchema) }),
    output: resumedSessionSchema,
    deadline_ms: 20_000,
  },
  /** Opens a window of the user's terminal emulator on a session of this host, or by SSH of another. */
  open_terminal: {
    input: z.object({ mux_session: z.string(), ssh: sshTargetSchema.nullable() }),
    output: z.object({ terminal: z.string() }),
    deadline_ms: 15_000,
  },
  create_fiber: { input: createFiberSchema, output: fiberReplySchema, deadline_ms: 15_000 },
  edit_fiber: { input: editFiberSchema, output: fiberReplySchema, deadline_ms: 15_000 },
  release_quarantine: { input: z.object({}), output: releasedSchema, deadline_ms: 5_000 },
  agents: { input: z.object({}), output: z.object({ agents: z.array(agentSchema) }), deadline_ms: 5_000 },
  /** What `svc doctor` asks the daemon: the tools as the daemon sees them. */
  tools: {
    input: z.object({}),
    output: doctorReplySchema,
    deadline_ms: 15_000,
  },
} satisfies CallTable;

/** Notices from the poller. */
export const pollerEvents = {
  /** The feed moved: the entity tags of its two bodiless variants; null while cold. */
  feed_changed: z.object({ etags: feedTagsSchema, state: feedStateSchema }),
} satisfies EventTable;
