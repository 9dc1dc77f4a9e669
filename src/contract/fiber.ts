import { z } from 'zod';
import { GATES } from './gates.ts';
import { surfaceSchema } from './surface.ts';

/** Document status as stored: `open` (draft or parked), `active` (armed), `closed` (FIB-4). */
export const FIBER_STATUSES = ['open', 'active', 'closed'] as const;
export const fiberStatusSchema = z.enum(FIBER_STATUSES);
export type FiberStatus = z.infer<typeof fiberStatusSchema>;

export const FIBER_KINDS = ['oneshot', 'standing', 'pinned'] as const;
export const fiberKindSchema = z.enum(FIBER_KINDS);
export type FiberKind = z.infer<typeof fiberKindSchema>;

/** What becomes of a worker that met a usage limit, once that is over. */
export const WHEN_FREE_AGAIN = ['go_on', 'wait'] as const;
/** What is done about a worker that is idle. */
export const WHEN_IDLE = ['nudge', 'wait'] as const;

/** Collaboration roster (FIB-13): role slug → collaborator slugs; an empty list keeps a role-only entry. */
export const rosterSchema = z.record(z.string(), z.array(z.string()));
export type Roster = z.infer<typeof rosterSchema>;

/** Launch markers that the daemon and `svc handoff` write under `svc.runtime`; times are ISO 8601 in UTC. */
const svcRuntimeSchema = z.looseObject({
  dispatched_at: z.string().optional(),
  handed_off_at: z.string().optional(),
  session_uuid: z.string().optional(),
  harness: z.string().optional(),
  run_id: z.string().optional(),
  thread_id: z.string().optional(),
  meeting: z.string().optional(),
  /** What the run before left in `outcome`, of a role with `auto_accept`, whose outcome is that of its own run. */
  previous_outcome: z.string().optional(),
  /** The daemon that began the run: the machine's name, a slash, and an id of the machine and data folder. */
  daemon: z.string().optional(),
});
export type SvcRuntime = z.infer<typeof svcRuntimeSchema>;

/** `svc.worktree` of a fiber whose next start makes a git worktree for it. */
export const NEW_WORKTREE = 'new';

/** The `svc` block of a fiber's frontmatter; unknown keys are kept. */
export const svcBlockSchema = z.looseObject({
  kind: fiberKindSchema.optional(),
  host: z.string().optional(),
  project_dir: z.string().optional(),
  agent: z.string().optional(),
  effort: z.string().optional(),
  surface: surfaceSchema.optional(),
  schedule: z.string().optional(),
  tz: z.string().optional(),
  /** Of a standing role: a run that ended without fault and left an outcome is accepted by itself. */
  auto_accept: z.boolean().optional(),
  /** Agents that take over, the first that is free, when the fiber's own is over its usage limit. */
  on_limit: z.array(z.string()).optional(),
  /** `go_on`: a worker that met a usage limit goes on by itself once that is over. */
  after_limit: z.enum(WHEN_FREE_AGAIN).optional(),
  /** `nudge`: a worker that stays idle is told once that its fiber is not closed. */
  when_idle: z.enum(WHEN_IDLE).optional(),
  /** `new`: the next start makes a git worktree; then its branch, which is checked out in `project_dir`. */
  worktree: z.string().optional(),
  /** The `project_dir` that the git worktree was made from. */
  worktree_of: z.string().optional(),
  runtime: svcRuntimeSchema.optional(),
});
export type SvcBlock = z.infer<typeof svcBlockSchema>;

/** The frontmatter of one fiber in snake_case; frontmatter keys with a hyphen map to these. */
export const fiberDocumentSchema = z.object({
  /** Canonical id, path-like (FIB-1). */
  id: z.string(),
  /** ULID, or null if the document has none yet (FIB-2). */
  uid: z.string().nullable(),
  /** Last path component (FIB-3). */
  leaf: z.string(),
  /** Root folder of the store that holds it. */
  store: z.string(),
  /** Absolute path of the markdown file. */
  path: z.string(),
  name: z.string(),
  status: fiberStatusSchema,
  /** Absent: no verdict; true: accepted; false: composted. */
  tempered: z.boolean().optional(),
  tags: z.array(z.string()),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  closed_at: z.string().optional(),
  outcome: z.string().optional(),
  due: z.string().optional(),
  horizon: z.string().optional(),
  start: z.string().optional(),
  collaboration: rosterSchema.optional(),
  svc: svcBlockSchema.optional(),
  /** `svc.project_dir`, else the top-level `project_dir` (FIB-12). */
  project_dir: z.string().optional(),
  /** SHA-256 hex of the file's bytes; `expected_digest` compares with it. */
  digest: z.string(),
  /** Paths of other documents with its ULID, as a copied folder has: nothing that is known by ULID is told of it. */
  twins: z.array(z.string()).optional(),
  /** Why the document could not be read as a fiber; the other fields are then best effort. */
  error: z.string().optional(),
});
export type FiberDocument = z.infer<typeof fiberDocumentSchema>;

/** Fields of rows and answers for an app conversation (WRK-4 to WRK-7); absent on the terminal surface. */
export const appIdentitySchema = z.object({
  /** Null until the launch knows the id of its conversation. */
  thread_id: z.string().nullable().optional(),
  /** Native transcript identity; may differ from `thread_id`. */
  transcript_session_uuid: z.string().nullable().optional(),
  project_id: z.string().nullable().optional(),
  /** `<scheme>://threads/<thread_id>`. */
  desktop_link: z.string().optional(),
});

/** How every answer names the worker of a fiber, on either surface (CAP-5, WRK-1). */
export const workerIdentitySchema = z.object({
  fiber_id: z.string(),
  host: z.string(),
  surface: surfaceSchema,
  mux_session: z.string().nullable(),
  session_uuid: z.string().nullable(),
  run_id: z.string(),
  agent: z.string(),
  harness: z.string(),
  ...appIdentitySchema.shape,
});

/** How full the context of a conversation is, in tokens. */
export const contextUseSchema = z.object({
  /** What the next request begins with, to the thousand or, where `most` is known, to about one percent. */
  tokens: z.number().int(),
  /** The size of the window; null if the transcript does not tell it. */
  most: z.number().int().nullable(),
});
export type ContextUse = z.infer<typeof contextUseSchema>;

/** A run as shown in a row. Times are milliseconds since the Unix epoch. */
export const runViewSchema = appIdentitySchema.extend({
  mux_session: z.string().nullable(),
  surface: surfaceSchema,
  agent: z.string(),
  harness: z.string(),
  session_uuid: z.string().nullable(),
  state: z.enum(['claimed', 'starting', 'running', 'unknown']),
  /**
   * `waiting`: it cannot go on without a person; `idle`: its turn is over; `attention`: its turn failed, or an app
   * conversation asks for a person; `unknown`: no information.
   */
  phase: z.enum(['working', 'waiting', 'attention', 'idle', 'unknown']),
  /** Of a worker that runs: nobody has known for a minute what it does. */
  needs_look: z.literal(true).optional(),
  /** Since when, if known. */
  phase_since: z.number().nullable(),
  /** The source: a hook of the agent program, the growth of its transcript, or the app server. */
  phase_source: z.enum(['hook', 'transcript', 'app']).nullable(),
  /** The last message of a worker that is not working; of an app conversation whose turn failed, the reason. */
  said: z.string().nullable(),
  run_id: z.string(),
  started_at: z.number(),
  last_activity_at: z.number().nullable(),
  /** From its transcript; null while it is not known, and not told by older hosts. */
  context: contextUseSchema.nullable().optional(),
});
export type RunView = z.infer<typeof runViewSchema>;

/** A refusal that is in force (DSP-5). Times are milliseconds since the Unix epoch. */
export const blockedViewSchema = z.object({
  reason: z.string(),
  message: z.string(),
  attempts: z.number().int(),
  first_attempted_at: z.number(),
  attempted_at: z.number(),
  /** When the poller retries; null if only a person can fix it. */
  retry_at: z.number().nullable(),
  /** Last screen of a start that could not be confirmed. */
  screen: z.string().optional(),
});
export type BlockedView = z.infer<typeof blockedViewSchema>;

/** How much of the last screen the report of a death has. */
export const DEATH_SCREEN_LIMITS = {
  lines: 12,
  line_chars: 200,
} as const;

/**
 * How the last worker of a fiber ended if nobody ended it on purpose, it did not hand off, and its agent did not end with
 * exit code 0. `at` in milliseconds since
 * the Unix epoch.
 */
export const deathSchema = z.object({
  run_id: z.string(),
  at: z.number(),
  /** `exited`, `session_gone`, `memory_limit`, `server_lost`, `reboot`, `agent_missing`, `project_dir_missing`. */
  reason: z.string(),
  /** Exit code of the agent program; null if it ended by a signal or its end was not recorded. */
  code: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** What happened, as a short phrase. */
  message: z.string(),
  /** The likely fix. */
  mend: z.string(),
  /** Last lines of its screen, as the program wrote them: escape them before printing. */
  screen: z.string().optional(),
});
export type Death = z.infer<typeof deathSchema>;

/** A session that has the name of a fiber's worker, or had it, in which no worker of this daemon runs. */
export const sessionNotOursSchema = z.object({
  mux_session: z.string(),
  message: z.string(),
  /** What a person types to end it. */
  command: z.string(),
});

export type SessionNotOurs = z.infer<typeof sessionNotOursSchema>;

/** One row of `GET /fibers`. */
export const fiberRowSchema = fiberDocumentSchema.extend({
  runtime: runViewSchema.optional(),
  blocked: blockedViewSchema.optional(),
  /** How its last worker died; absent if that one ended otherwise, and once the fiber is judged. */
  last_death: deathSchema.optional(),
  /**
   * Why a due fiber waits for a person: `boot_quarantine`, `killed`, `clean_exit`, `server_lost`, `loop_breaker` or
   * `not_concluded`.
   */
  held: z.string().optional(),
  /** What the person said who held it. */
  held_note: z.string().optional(),
  /** Ids of the other fibers whose workers run in the same work tree; absent where there is none (DSP-6). */
  shares_folder_with: z.array(z.string()).optional(),
  /** They keep nothing from starting; absent where there is none. */
  not_ours: z.array(sessionNotOursSchema).optional(),
  /** The first gate that keeps the poller from starting this armed fiber now; see `GET /why`. */
  gate: z.enum(GATES).optional(),
  next_due_at: z.number().optional(),
  body: z.string().optional(),
});
export type FiberRow = z.infer<typeof fiberRowSchema>;
