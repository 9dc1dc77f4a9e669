/** The files of one run directory that hold JSON, and what each says. Times in ms since the Unix epoch. */
import { z } from 'zod';
import { deathSchema } from '../../contract/fiber.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import { surfaceSchema } from '../../contract/surface.ts';

/** An app conversation of a run, as its run directory keeps it. */
export const appRecordSchema = z.object({
  /** Null while the start has not been told which conversation it began. */
  thread_id: z.string().nullable(),
  transcript_session_uuid: z.string().nullable(),
  project_id: z.string().nullable(),
  /** Of the turn that the start begins with. `asked`: sent, and not confirmed. */
  turn: z.enum(['none', 'asked', 'confirmed']),
  /** The conversation was there before this start. */
  resumed: z.boolean(),
  effort: z.string().nullable(),
});
export type AppRecord = z.infer<typeof appRecordSchema>;

/** What a start that goes on with an earlier conversation found, and what it was to say. */
const resumeRecordSchema = z.object({
  session_uuid: z.string().min(1),
  /** Size of the transcript in bytes before the start; null where none was found. */
  size: z.number().nullable(),
  user_message: z.string().nullable(),
});
export type ResumeRecord = z.infer<typeof resumeRecordSchema>;

/** `run.json`: what was started and how far it came. */
export const runManifestSchema = z.object({
  version: z.literal(1),
  launch_id: z.string().min(1),
  run_id: z.string().min(1),
  /** Canonical id of the fiber. */
  fiber: z.string().min(1),
  uid: z.string().min(1),
  /** Path of the store, and of the document in it. */
  store: z.string().min(1),
  path: z.string().min(1),
  leaf: z.string().min(1),
  mux_session: z.string().min(1),
  agent: z.string().min(1),
  harness: z.enum(HARNESS_NAMES),
  session_uuid: z.string().nullable(),
  surface: surfaceSchema,
  project_dir: z.string().min(1),
  /** Where its changes go together with those of others; absent where that was not looked at. */
  work_tree: z.string().min(1).optional(),
  dispatched_at: z.number(),
  /** Whether a person or program asked for the start; absent for a claim. */
  by_request: z.boolean().optional(),
  /** Of the text that was asked for with the start, and is in its prompt. */
  message_id: z.string().optional(),
  /** `claimed`: written before anything was started; `started`: the session was seen. */
  state: z.enum(['claimed', 'spawned', 'ended']),
  ended_at: z.number().nullable(),
  /** Its transcript was seen: the next daemon need not wait for it again. */
  confirmed: z.boolean().optional(),
  /** How it died, or null for another end; absent while it lives, and of a claim of which nothing was started. */
  death: deathSchema.nullable().optional(),
  /** What the document said before the start marked it: written back when nothing was started after all. */
  undo: z.object({ set: z.record(z.string(), z.unknown()), unset: z.array(z.string()) }).optional(),
  /** Present when the start went on with an earlier conversation. */
  resume: resumeRecordSchema.optional(),
  /** Sessions that the run was in before `session_uuid`, oldest first. */
  left_sessions: z.array(z.string()).optional(),
  /** It resumed in vain, and the fresh start that makes up for it has not come about yet (P7). */
  owes_fresh_start: z.boolean().optional(),
  /** Why it ended, as was decided when its end was settled: `handoff`, `kill`, `exited`, … */
  end_reason: z.string().optional(),
  /** The fiber was closed after the run ended, which ended its conversation too (RES-8). */
  fiber_closed: z.boolean().optional(),
  /** Present on the app surface; no multiplexer session then has the name in `mux_session`. */
  app: appRecordSchema.optional(),
  /** How it became the fiber's worker when that was not a dispatch: by a capture of ours, or a person's session. */
  claim: z.enum(['capture', 'person']).optional(),
  /** When it was told, once, that its fiber was not closed. */
  nudged_at: z.number().optional(),
  /** Launch id of the recording that its claim carried (FIB-11). */
  meeting: z.string().optional(),
  /** The pane of a person's session that the agent runs in; absent where older builds recorded the claim. */
  pane: z.object({ id: z.string(), pid: z.number() }).optional(),
  /** The multiplexer server that listed its session; absent until one did. `started_at` in whole seconds, as milliseconds. */
  server: z.object({ pid: z.number(), started_at: z.number() }).optional(),
  /** Boot of the machine the start belongs to; null where the OS does not tell. */
  boot_id: z.string().nullable(),
});
export type RunManifest = z.infer<typeof runManifestSchema>;

/** `agent.pid`: written by the run script in the process that becomes the agent. */
export const agentPidSchema = z.object({ pid: z.int().min(2), start_time: z.string().min(1) });
export type AgentPid = z.infer<typeof agentPidSchema>;

/**
 * `exit.json`: written by the run script when the agent has ended. A shell cannot tell an exit code of 129 to
 * 192 from a signal, so such a code is told as the signal. Code and signal together: the session was hung up
 * or told to end and the agent then exited by itself.
 */
export const exitRecordSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** `project_dir_missing`, `agent_missing`; absent when the agent was started. */
  reason: z.enum(['project_dir_missing', 'agent_missing']).optional(),
  at: z.number(),
});
export type ExitRecord = z.infer<typeof exitRecordSchema>;

/** `end.json`: who ended the run on purpose, written at that moment and before the deed. */
export const endRecordSchema = z.object({
  /** `handoff`, `kill`, `forced_start`, … */
  reason: z.string().min(1),
  at: z.number(),
});
export type EndRecord = z.infer<typeof endRecordSchema>;

/** A file read: `unknown` when the disk did not answer or the content is torn. */
export type FileRead<T> =
  | { kind: 'found'; value: T }
  | { kind: 'none' }
  | { kind: 'unknown'; detail: string };
