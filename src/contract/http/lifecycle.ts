import { z } from 'zod';
import { FIELD_LIMITS } from '../document-limits.ts';
import { fiberKindSchema, WHEN_FREE_AGAIN, WHEN_IDLE } from '../fiber.ts';
import { surfaceSchema } from '../surface.ts';
import { referenceSchema } from './bounded.ts';
import { undoSchema } from './fibers.ts';
import { dryRunField } from './rehearsal.ts';

const word = z.string().trim().min(1, 'is empty').max(FIELD_LIMITS.text_chars);
const outcome = z.string().trim().min(1, 'is empty').max(FIELD_LIMITS.outcome_chars);
const origin = { origin: referenceSchema.optional() };
const rehearsed = { dry_run: dryRunField };
/** `store` is the root of its store, for an id that two stores have; `dry_run` only shows the effects. */
const whose = { fiber: word, store: word.optional(), ...origin, ...rehearsed };
/** `kill`: also end the worker that runs; without it the worker keeps running. */
const kill = { kill: z.boolean().optional() };
/** `keep_worker`: the worker keeps running; without it, it is ended before the work is accepted. */
const keep_worker = { keep_worker: z.boolean().optional() };
const shape = {
  project_dir: word.optional(),
  agent: word.optional(),
  effort: word.optional(),
  host: word.optional(),
  surface: surfaceSchema.optional(),
};
/** The next start makes a git worktree of the `project_dir`, and its worker is in that. */
const worktree = { worktree: z.literal(true).optional() };
/** Whether a run that ended without fault and left an outcome is accepted by itself. */
const auto_accept = z.boolean().optional();
/** An effort of null removes the fiber's effort, so that the agent's default applies. */
const effort = { effort: word.nullable().optional() };

const lifecycleOptions = [
  z.strictObject({ action: z.literal('install'), ...whose, ...shape, ...worktree }),
  z.strictObject({ action: z.literal('pin'), ...whose, ...shape, ...worktree }),
  z.strictObject({
    action: z.literal('repeat'),
    ...whose,
    ...shape,
    ...worktree,
    schedule: word,
    tz: word.optional(),
    auto_accept,
  }),
  z.strictObject({
    action: z.literal('reshape'),
    ...whose,
    ...shape,
    /** `false` removes the git worktree, where nothing is lost by that. */
    worktree: z.boolean().optional(),
    kind: fiberKindSchema.optional(),
    after_limit: z.enum(WHEN_FREE_AGAIN).optional(),
    when_idle: z.enum(WHEN_IDLE).optional(),
    on_limit: z.array(word).max(FIELD_LIMITS.on_limit).optional(),
    schedule: word.optional(),
    tz: word.optional(),
    auto_accept,
  }),
  z.strictObject({ action: z.literal('pause'), ...whose, ...kill }),
  z.strictObject({ action: z.literal('resume'), ...whose }),
  z.strictObject({ action: z.literal('accept'), ...whose, outcome: outcome.optional(), ...keep_worker }),
  z.strictObject({ action: z.literal('set-model'), ...whose, model: word, ...effort }),
  z.strictObject({ action: z.literal('set-agent'), ...whose, agent: word, ...effort }),
  z.strictObject({ action: z.literal('set-outcome'), ...whose, outcome }),
  z.strictObject({ action: z.literal('uninstall'), ...whose, ...kill }),
] as const;
/** `POST /lifecycle` (WPL-3): one verb of the service with its fields; a field that the verb does not have is refused. */
export const lifecycleBodySchema = z.discriminatedUnion('action', lifecycleOptions);
/** The verbs of the service: those of `POST /lifecycle`, and the two that travel by `POST /transition`. */
export const lifecycleRequestSchema = z.discriminatedUnion('action', [
  ...lifecycleOptions,
  z.strictObject({ action: z.literal('close'), ...whose, outcome: outcome.optional(), ...kill }),
  z.strictObject({ action: z.literal('reopen'), ...whose }),
]);
export type LifecycleRequest = z.infer<typeof lifecycleRequestSchema>;
export const LIFECYCLE_ACTIONS = lifecycleRequestSchema.options.map((option) => option.shape.action.value);

/** The result of the verb: the exit status and the text that the command prints, and the code of a refusal. */
export const lifecycleAnswerSchema = z.object({
  status: z.number().int(),
  text: z.string(),
  error: z.string().nullable(),
});
export type LifecycleAnswer = z.infer<typeof lifecycleAnswerSchema>;

/** Header with the code of a refusal, in addition to the text body of a 422. */
export const REFUSAL_CODE_HEADER = 'Svc-Error';

export const TRANSITION_TARGETS = ['drafts', 'inFlight', 'awaitingReview', 'tempered', 'composted'] as const;
/** `POST /transition` (WPL-2): one fiber moved to a column of the board. */
export const transitionRequestSchema = z.object({
  fiber_id: referenceSchema.min(1),
  target: z.enum(TRANSITION_TARGETS),
  /** Of the document that the caller saw: another one is refused with `conflict`. */
  expected_digest: referenceSchema.optional(),
  ...origin,
  ...rehearsed,
});
export const MOVE_ACTIONS = ['close', 'reopen'] as const;
/** The body of `POST /transition`: a column, or the action `close` or `reopen` with the fields of the verb. */
export const transitionBodySchema = z
  .object({
    ...transitionRequestSchema.shape,
    target: transitionRequestSchema.shape.target.optional(),
    action: z.enum(MOVE_ACTIONS).optional(),
    /** With an action: the root of the fiber's store, for an id that two stores have. */
    store: word.optional(),
    /** With `close`. */
    outcome: outcome.optional(),
    ...kill,
  })
  .refine(({ target, action }) => (target === undefined) !== (action === undefined), {
    message: 'must name either the target column, or the action close or reopen',
  });
export type TransitionBody = z.infer<typeof transitionBodySchema>;
/** What an action did, in the words that the command prints. */
export const actedSchema = z.object({
  fiber_id: z.string(),
  action: z.enum(MOVE_ACTIONS),
  invoked: z.literal(true),
  text: z.string(),
});
export type TransitionRequest = z.infer<typeof transitionRequestSchema>;
export type TransitionTarget = TransitionRequest['target'];

/** `none`: the fiber was already in that column. */
const TRANSITION_ACTIONS = [
  'none',
  'pause',
  'draft',
  'dispatch',
  'resume',
  'close',
  'accept',
  'compost',
] as const;
const transitionActionSchema = z.enum(TRANSITION_ACTIONS);
export type TransitionAction = z.infer<typeof transitionActionSchema>;
const moved = {
  fiber_id: z.string(),
  target: z.enum(TRANSITION_TARGETS),
  origin: z.string(),
  action: transitionActionSchema,
};
/** `undo`: absent where the move ended or started a worker, or changed nothing. */
export const transitionedSchema = z.object({
  ...moved,
  invoked: z.literal(true),
  undo: undoSchema.optional(),
});
/** A launch that was refused (422): the fiber stays in its column. */
export const transitionRefusedSchema = z.object({
  ...moved,
  invoked: z.literal(false),
  dispatched: z.literal(false),
  reason: z.string(),
  host: z.string(),
  message: z.string(),
  needs: z.literal('project_dir').optional(),
});
export type TransitionRefused = z.infer<typeof transitionRefusedSchema>;
export const transitionAnswerSchema = z.discriminatedUnion('invoked', [
  transitionedSchema,
  transitionRefusedSchema,
]);
export type TransitionAnswer = z.infer<typeof transitionAnswerSchema>;
