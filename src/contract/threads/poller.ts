import { z } from 'zod';
import { agentEffortReplySchema, agentEffortSchema, agentsReplySchema } from '../agent.ts';
import { resumedSessionSchema, sshTargetSchema } from '../http/attach.ts';
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
  editFiberSchema,
  feedStateSchema,
  fiberReplySchema,
  nestedSchema,
  nestFiberSchema,
} from '../http/fibers.ts';
import { incidentReplySchema, incidentRequestSchema } from '../http/incidents.ts';
import {
  lifecycleAnswerSchema,
  lifecycleRequestSchema,
  transitionAnswerSchema,
  transitionRefusedSchema,
  transitionRequestSchema,
} from '../http/lifecycle.ts';
import { rehearsalSchema } from '../http/rehearsal.ts';
import { pollerStateSchema } from '../http/state.ts';
import { whySchema } from '../http/why.ts';
import { sessionLineSchema } from '../ledger.ts';
import { operatorFileIdSchema } from '../operator-files.ts';
import type { CallTable, EventTable } from './call-table.ts';

/** Entity tags of the feed and of its `svc` variant; null while cold. */
const feedTagsSchema = z.object({ all: z.string().nullable(), svc: z.string().nullable() });

/** What the feed is now, and what changed in it after a tag. */
const feedChangesSchema = z.object({
  etags: feedTagsSchema,
  state: feedStateSchema,
  /** When each variant last changed, in milliseconds since the Unix epoch. */
  generated_at: z.object({ all: z.number(), svc: z.number() }),
  /**
   * Each row that changed, once; null when the tag is unknown, too old, or too much changed. The encoded rows come one
   * after another as bulk: `bytes` of each, null for one that is gone. `own`: in the `svc` variant; `was_own`: was in it
   * at some time after the tag, and left it.
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
/** The changes since the notice before, of which these were the tags. */
const feedNoticeSchema = feedChangesSchema.extend({ since: feedTagsSchema });
export type FeedNotice = z.infer<typeof feedNoticeSchema>;

/** Calls that the main thread makes to the poller. */
export const pollerCalls = {
  /** The encoded body of `GET /fibers` comes as bulk; `etag` is null while cold. */
  feed: {
    input: z.object({ svc: z.boolean(), body: z.boolean() }),
    output: z.object({ etag: z.string().nullable(), state: feedStateSchema }),
    deadline_ms: 10_000,
  },
  /** What changed in one variant since an entity tag. */
  feed_changes: {
    input: z.object({ svc: z.boolean(), since: z.string() }),
    output: feedChangesSchema,
    deadline_ms: 10_000,
  },
  /** What a search must know of every fiber, as bulk (fibers/search/catalogue.ts); none when it is the `known` one. */
  catalogue: {
    input: z.object({ known: z.string().nullable() }),
    output: z.object({ catalogue: z.string() }),
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
  /** A refusal of the verb is a value with its exit status. */
  lifecycle: { input: lifecycleRequestSchema, output: lifecycleAnswerSchema, deadline_ms: 45_000 },
  transition: { input: transitionRequestSchema, output: transitionAnswerSchema, deadline_ms: 60_000 },
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
  nest_fiber: { input: nestFiberSchema, output: nestedSchema, deadline_ms: 60_000 },
  agent_effort: { input: agentEffortSchema, output: agentEffortReplySchema, deadline_ms: 15_000 },
  release_quarantine: { input: z.object({}), output: releasedSchema, deadline_ms: 5_000 },
  /** What the write of that name would do now; what would be refused with a body of its own answers that. */
  rehearse: {
    input: z.discriminatedUnion('write', [
      z.object({ write: z.literal('dispatch'), request: dispatchRequestSchema }),
      z.object({ write: z.literal('kill'), request: killRequestSchema }),
      z.object({ write: z.literal('create_fiber'), request: createFiberSchema }),
      z.object({ write: z.literal('edit_fiber'), request: editFiberSchema }),
      z.object({ write: z.literal('lifecycle'), request: lifecycleRequestSchema }),
      z.object({ write: z.literal('transition'), request: transitionRequestSchema }),
      z.object({ write: z.literal('release_quarantine'), request: releaseRequestSchema }),
      z.object({ write: z.literal('pull_brake'), request: pullBrakeSchema }),
      z.object({ write: z.literal('release_brake'), request: releaseBrakeSchema }),
      z.object({
        write: z.literal('capture'),
        request: captureRequestSchema.extend({ claim: claimAddressSchema }),
      }),
      z.object({ write: z.literal('claim'), request: claimRequestSchema }),
      z.object({ write: z.literal('nest_fiber'), request: nestFiberSchema }),
      z.object({ write: z.literal('agent_effort'), request: agentEffortSchema }),
      z.object({ write: z.literal('resume_incident'), request: incidentRequestSchema }),
      z.object({ write: z.literal('dismiss_incident'), request: incidentRequestSchema }),
      z.object({
        write: z.literal('resume_session'),
        request: z.object({ session: z.string(), lines: z.array(sessionLineSchema) }),
      }),
      z.object({
        write: z.literal('open_terminal'),
        /** Either a session that runs, or a past one: of this host with its `lines`, of another with its `ssh`. */
        request: z.object({
          mux_session: z.string().optional(),
          session: z.string().optional(),
          lines: z.array(sessionLineSchema),
          host: z.string(),
          ssh: sshTargetSchema.nullable(),
        }),
      }),
    ]),
    output: z.union([
      rehearsalSchema,
      transitionRefusedSchema,
      refusedSchema,
      captureRefusedSchema,
      lifecycleAnswerSchema,
    ]),
    deadline_ms: 60_000,
  },
  /** May touch the fiber's directory, which a stuck disk keeps waiting. */
  why: { input: z.object({ fiber: z.string(), look: z.boolean() }), output: whySchema, deadline_ms: 30_000 },
  /** With `kill` it waits for every worker to end. */
  pull_brake: { input: pullBrakeSchema, output: brakePulledSchema, deadline_ms: 60_000 },
  release_brake: { input: releaseBrakeSchema, output: brakeReleasedSchema, deadline_ms: 5_000 },
  /** Starts a fiber after the other, so it may take long. */
  resume_incident: { input: incidentRequestSchema, output: incidentReplySchema, deadline_ms: 110_000 },
  dismiss_incident: { input: incidentRequestSchema, output: incidentReplySchema, deadline_ms: 5_000 },
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
  config_write: {
    input: writeConfigSchema.extend({ id: operatorFileIdSchema }),
    output: z.union([rehearsalSchema, configWrittenSchema]),
    deadline_ms: 60_000,
  },
  fiber_stores: { input: z.object({}), output: storeOriginSchema, deadline_ms: 10_000 },
  write_stores: {
    input: writeStoresSchema,
    output: z.union([rehearsalSchema, storesWrittenSchema]),
    deadline_ms: 15_000,
  },
  write_projects: {
    input: writeProjectsSchema,
    output: z.union([rehearsalSchema, projectsWrittenSchema]),
    deadline_ms: 30_000,
  },
  /** Waits for a person; `end_dialog` with the same name takes the dialog away. */
  choose_folder: {
    input: z.object({ dialog: z.string(), title: z.string().optional() }),
    output: folderChoiceSchema,
    deadline_ms: FOLDER_DIALOG_MS + 15_000,
  },
  end_dialog: { input: z.object({ dialog: z.string() }), output: z.object({}), deadline_ms: 5_000 },
  /** What `svc doctor` asks the daemon: the tools as the daemon sees them. */
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
  /** What became of the data folder; null when it is well again. */
  data_dir_changed: z.object({ fault: z.string().nullable() }),
} satisfies EventTable;
