import { z } from 'zod';
import { agentEffortReplySchema, agentEffortSchema, agentsReplySchema } from '../agent.ts';
import { resumedSessionSchema, resumeSessionRequestSchema, sshTargetSchema } from '../http/attach.ts';
import {
  brakePulledSchema,
  brakeReleasedSchema,
  pullBrakeSchema,
  releaseBrakeSchema,
} from '../http/brake.ts';
import {
  capturedSchema,
  captureRefusedSchema,
  captureRequestSchema,
  claimAddressSchema,
  claimedSchema,
  claimRequestSchema,
} from '../http/capture.ts';
import {
  configEntrySchema,
  configFileSchema,
  configWrittenSchema,
  FOLDER_DIALOG_MS,
  folderChoiceSchema,
  projectsWrittenSchema,
  storeOriginSchema,
  storesWrittenSchema,
  writeConfigSchema,
  writeProjectsSchema,
  writeStoresSchema,
} from '../http/config.ts';
import {
  dispatchedSchema,
  dispatchRequestSchema,
  killedSchema,
  killRequestSchema,
  refusedSchema,
  releasedSchema,
  releaseRequestSchema,
} from '../http/dispatch.ts';
import { doctorReplySchema } from '../http/doctor.ts';
import {
  createFiberSchema,
  editedReplySchema,
  editFiberSchema,
  feedStateSchema,
  fiberReplySchema,
  nestedSchema,
  nestFiberSchema,
} from '../http/fibers.ts';
import {
  installTunnelsSchema,
  remoteWrittenSchema,
  tunnelsInstalledSchema,
  tunnelsRehearsalSchema,
  writeRemoteSchema,
} from '../http/fleet.ts';
import { incidentReplySchema, incidentRequestSchema } from '../http/incidents.ts';
import {
  lifecycleAnswerSchema,
  lifecycleRequestSchema,
  transitionAnswerSchema,
  transitionRequestSchema,
} from '../http/lifecycle.ts';
import { dryRunField, rehearsalSchema } from '../http/rehearsal.ts';
import { pollerStateSchema, storeHealthSchema, sweepStoreSchema } from '../http/state.ts';
import { whySchema } from '../http/why.ts';
import { sessionLineSchema } from '../ledger.ts';
import { operatorFileIdSchema } from '../operator-files.ts';
import {
  appMessageOutcomeSchema,
  appMessageQuerySchema,
  appMessageSchema,
  appMessageStageSchema,
} from './app-message.ts';
import type { CallTable, EventTable } from './call-table.ts';
import { contextTargetSchema } from './context-target.ts';
import { messageTargetQuerySchema, messageTargetSchema } from './message-target.ts';
import { recorderSessionSchema, recorderStartedSchema, startRecorderSchema } from './recorder-session.ts';
import { screenMarkSchema, workerScreenSchema } from './worker-screen.ts';

/** Entity tags of the feed and of its `svc` variant; null while cold. */
const feedTagsSchema = z.object({ all: z.string().nullable(), svc: z.string().nullable() });

/** The current state of the feed, and what changed in it after a tag. */
const feedChangesSchema = z.object({
  etags: feedTagsSchema,
  state: feedStateSchema,
  /** When each variant last changed, in milliseconds since the Unix epoch. */
  generated_at: z.object({ all: z.number(), svc: z.number() }),
  /**
   * Each changed row, once; null if the tag is unknown or too old, or if too much changed. The encoded rows are
   * concatenated as bulk; `bytes` is the length of each, null for a removed row. `own`: in the `svc` variant;
   * `was_own`: in it at some time after the tag, but no longer.
   */
  changes: z
    .array(
      z.object({
        path: z.string(),
        bytes: z.number().int().nullable(),
        own: z.boolean(),
        was_own: z.boolean(),
      }),
    )
    .nullable(),
});
export type FeedChanges = z.infer<typeof feedChangesSchema>;
/** The changes since the previous notice; `since` are its tags. */
const feedNoticeSchema = feedChangesSchema.extend({ since: feedTagsSchema });
export type FeedNotice = z.infer<typeof feedNoticeSchema>;

/** A write call; with `dry_run` it returns the effects it would have now. A refusal with its own body is a value. */
function write<
  I extends z.ZodType<{ dry_run?: boolean | undefined }, { dry_run?: boolean | undefined }>,
  O extends z.ZodType,
>(input: I, output: O, deadline_ms: number) {
  return { input, output: rehearsalSchema.or(output), deadline_ms };
}

const startRequestSchema = dispatchRequestSchema.extend({
  /** The one run that the start may end, whatever else is asked; null for none. */
  ends_only: z.string().nullable().optional(),
  /** Of its text: a worker that was started with it is answered, and is not told again. */
  message_id: z.string().optional(),
  /** It may have been carried out before: a worker that was started with the text, and has ended since, is answered too. */
  is_repeat: z.boolean().optional(),
});
export type StartRequest = z.infer<typeof startRequestSchema>;

/** Calls that the main thread makes to the poller. */
export const pollerCalls = {
  /** The encoded body of `GET /fibers` comes as bulk; `etag` is null while cold. */
  feed: {
    input: z.object({ svc: z.boolean(), body: z.boolean() }),
    output: z.object({ etag: z.string().nullable(), state: feedStateSchema }),
    deadline_ms: 10_000,
  },
  /** The feed with the rows alone that a board shows first, as bulk; without bulk where all are read at once. */
  feed_first: { input: z.object({}), output: z.object({}), deadline_ms: 10_000 },
  /** The changes of one variant after an entity tag. */
  feed_changes: {
    input: z.object({ svc: z.boolean(), since: z.string() }),
    output: feedChangesSchema,
    deadline_ms: 10_000,
  },
  /**
   * The search catalogue of all fibers, as bulk (fibers/search/catalogue.ts); none if the caller has the `known` one.
   */
  catalogue: {
    input: z.object({ known: z.string().nullable() }),
    output: z.object({ catalogue: z.string() }),
    deadline_ms: 10_000,
  },
  fiber: { input: z.object({ id: z.string() }), output: fiberReplySchema, deadline_ms: 5_000 },
  state: { input: z.object({}), output: pollerStateSchema, deadline_ms: 5_000 },
  dispatch: write(
    startRequestSchema,
    z.discriminatedUnion('dispatched', [dispatchedSchema, refusedSchema]),
    30_000,
  ),
  /**
   * Keeps that the write of this id, which asks for `content`, is begun, or answers what is kept of it: its answer, null where
   * none is known.
   */
  begin_write: {
    input: z.object({ id: z.string(), content: z.string() }),
    output: z.object({ kept: z.object({ content: z.string(), answer: z.unknown() }).nullable() }),
    deadline_ms: 10_000,
  },
  /** Keeps the answer of a write that was begun; null lets its id be used again. */
  end_write: {
    input: z.object({ id: z.string(), answer: z.unknown() }),
    output: z.object({}),
    deadline_ms: 10_000,
  },
  kill: write(killRequestSchema, killedSchema, 15_000),
  /** A refusal is a value with its exit status. */
  lifecycle: write(lifecycleRequestSchema, lifecycleAnswerSchema, 45_000),
  transition: write(transitionRequestSchema, transitionAnswerSchema, 60_000),
  capture: write(
    captureRequestSchema.extend({ claim: claimAddressSchema }),
    z.discriminatedUnion('captured', [capturedSchema, captureRefusedSchema]),
    30_000,
  ),
  claim: write(claimRequestSchema, claimedSchema, 15_000),
  /** Starts or finds the terminal of a past session; `lines` are what the sessions ledger has of it. */
  resume_session: write(
    resumeSessionRequestSchema.extend({ lines: z.array(sessionLineSchema) }),
    resumedSessionSchema,
    20_000,
  ),
  /**
   * Opens a window of the user's terminal emulator: on a running session of this host, on one of another host by SSH,
   * or on a past session, which this host starts from its `lines`.
   */
  open_terminal: write(
    z.object({
      mux_session: z.string().optional(),
      session: z.string().optional(),
      lines: z.array(sessionLineSchema),
      host: z.string(),
      ssh: sshTargetSchema.nullable(),
      dry_run: dryRunField,
    }),
    z.object({ mux_session: z.string(), terminal: z.string() }),
    35_000,
  ),
  create_fiber: write(createFiberSchema, fiberReplySchema, 15_000),
  edit_fiber: write(editFiberSchema, editedReplySchema, 15_000),
  nest_fiber: write(nestFiberSchema, nestedSchema, 60_000),
  agent_effort: write(agentEffortSchema, agentEffortReplySchema, 15_000),
  release_quarantine: write(releaseRequestSchema, releasedSchema, 15_000),
  /** With `kill` it waits for every worker to end. */
  pull_brake: write(pullBrakeSchema, brakePulledSchema, 60_000),
  release_brake: write(releaseBrakeSchema, brakeReleasedSchema, 5_000),
  /** Answers while it starts the last of many fibers, one after the other; a dry run looks at each first. */
  resume_incident: write(incidentRequestSchema, incidentReplySchema, 110_000),
  dismiss_incident: write(incidentRequestSchema, incidentReplySchema, 5_000),
  /** The session that a message is for, with its terminal and its transcript. */
  message_target: { input: messageTargetQuerySchema, output: messageTargetSchema, deadline_ms: 5_000 },
  /** The session to which a message is to be added as context. */
  context_target: { input: messageTargetQuerySchema, output: contextTargetSchema, deadline_ms: 5_000 },
  /** Gives a message to an app conversation, which is loaded first where it is only stored. */
  give_app_message: { input: appMessageSchema, output: appMessageOutcomeSchema, deadline_ms: 15_000 },
  app_message_stage: { input: appMessageQuerySchema, output: appMessageStageSchema, deadline_ms: 4_000 },
  /** The session of a recorder (contract/threads/host.ts). */
  start_recorder: { input: startRecorderSchema, output: recorderStartedSchema, deadline_ms: 14_000 },
  recorder_session: {
    input: z.object({ name: z.string() }),
    output: recorderSessionSchema,
    deadline_ms: 5_500,
  },
  end_recorder: {
    input: z.object({ name: z.string() }),
    output: z.object({ ended: z.enum(['killed', 'gone', 'unknown']) }),
    deadline_ms: 7_500,
  },
  /** The fiber whose `svc.runtime.meeting` is this launch id (MTR-5). */
  fiber_of_meeting: {
    input: z.object({ launch: z.string() }),
    output: z.object({ fiber: z.string().nullable() }),
    deadline_ms: 5_000,
  },
  /**
   * The screen of a worker's terminal with at most `history` lines above it. Bulk: each line as the JSON of its runs
   * (contract/http/terminal.ts), one below the other.
   */
  worker_screen: {
    input: z.object({
      mux_session: z.string(),
      history: z.number().int(),
      since: screenMarkSchema.nullable(),
    }),
    output: workerScreenSchema,
    deadline_ms: 20_000,
  },
  /** May access the fiber's directory, so a silent disk delays it. */
  why: { input: z.object({ fiber: z.string(), look: z.boolean() }), output: whySchema, deadline_ms: 30_000 },
  agents: { input: z.object({}), output: agentsReplySchema, deadline_ms: 5_000 },
  /** The operator files (OPF-1); a write may wait for the validator of an external CLI. */
  config_list: {
    input: z.object({}),
    output: z.object({ files: z.array(configEntrySchema) }),
    deadline_ms: 5_000,
  },
  config_read: {
    input: z.object({ id: operatorFileIdSchema }),
    output: configFileSchema,
    deadline_ms: 5_000,
  },
  config_write: write(writeConfigSchema.extend({ id: operatorFileIdSchema }), configWrittenSchema, 60_000),
  fiber_stores: { input: z.object({}), output: storeOriginSchema, deadline_ms: 10_000 },
  /** Lists one store now, however long ago it failed. */
  sweep_store: write(sweepStoreSchema, storeHealthSchema, 30_000),
  write_stores: write(writeStoresSchema, storesWrittenSchema, 15_000),
  write_remote: write(writeRemoteSchema, remoteWrittenSchema, 15_000),
  /** Starts what keeps tunnels up, by the service manager. */
  write_tunnels: {
    input: installTunnelsSchema,
    output: tunnelsRehearsalSchema.or(tunnelsInstalledSchema),
    deadline_ms: 60_000,
  },
  write_projects: write(writeProjectsSchema, projectsWrittenSchema, 30_000),
  /** Waits for a person; `end_dialog` with the same name closes the dialog. */
  choose_folder: {
    input: z.object({ dialog: z.string(), title: z.string().optional() }),
    output: folderChoiceSchema,
    deadline_ms: FOLDER_DIALOG_MS + 15_000,
  },
  end_dialog: { input: z.object({ dialog: z.string() }), output: z.object({}), deadline_ms: 5_000 },
  /** For `svc doctor`: the tools as the daemon resolves them. */
  tools: {
    input: z.object({}),
    output: doctorReplySchema,
    deadline_ms: 15_000,
  },
} satisfies CallTable;

/** Notices from the poller. */
export const pollerEvents = {
  /** The feed changed; the bulk is that of `feed_changes`. */
  feed_changed: feedNoticeSchema,
  /** The fault of the data folder; null when it is intact again. */
  data_dir_changed: z.object({ fault: z.string().nullable() }),
  /** The emergency brake was pulled, released or found on. */
  brake_changed: z.object({}),
} satisfies EventTable;
