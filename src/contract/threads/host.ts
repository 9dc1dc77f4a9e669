import { z } from 'zod';
import {
  appMessageOutcomeSchema,
  appMessageQuerySchema,
  appMessageSchema,
  appMessageStageSchema,
} from './app-message.ts';
import type { CallTable } from './call-table.ts';
import { contextTargetSchema } from './context-target.ts';
import { messageTargetQuerySchema, messageTargetSchema } from './message-target.ts';
import { recorderSessionSchema, recorderStartedSchema, startRecorderSchema } from './recorder-session.ts';

/** A message of the daemon's own to a session of this host. */
const dueMessageSchema = z.object({ address: z.string(), text: z.string(), message_id: z.string() });
export type DueMessage = z.infer<typeof dueMessageSchema>;

/** Calls that any worker thread makes to the main thread. */
export const hostCalls = {
  /** Runs one job of the pool; bulk bytes pass through untouched. */
  pool: {
    input: z.object({ job: z.string(), input: z.unknown(), deadline_ms: z.number() }),
    output: z.unknown(),
    deadline_ms: 60_000,
  },
  /** Asks the poller which session of this host a message is for. */
  message_target: { input: messageTargetQuerySchema, output: messageTargetSchema, deadline_ms: 6_000 },
  /** Asks the poller for the session to which a message is to be added as context. */
  context_target: { input: messageTargetQuerySchema, output: contextTargetSchema, deadline_ms: 6_000 },
  /** Has the poller give a message to an app conversation. After a failure of the call it may have been given. */
  give_app_message: { input: appMessageSchema, output: appMessageOutcomeSchema, deadline_ms: 16_000 },
  /** Asks the app server, through the poller, what a conversation shows of a message. */
  app_message_stage: { input: appMessageQuerySchema, output: appMessageStageSchema, deadline_ms: 5_000 },
  /** Has the main thread send it as `POST /messages` does; answers before it is delivered. */
  send_message: { input: dueMessageSchema, output: z.object({}), deadline_ms: 60_000 },
  /** The session of a recorder, through the poller, which alone talks to the multiplexer. */
  start_recorder: { input: startRecorderSchema, output: recorderStartedSchema, deadline_ms: 15_000 },
  recorder_session: {
    input: z.object({ name: z.string() }),
    output: recorderSessionSchema,
    deadline_ms: 6_000,
  },
  /** Ends it; `gone` where there is none. */
  end_recorder: {
    input: z.object({ name: z.string() }),
    output: z.object({ ended: z.enum(['killed', 'gone', 'unknown']) }),
    deadline_ms: 8_000,
  },
} satisfies CallTable;
