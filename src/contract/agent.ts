import { z } from 'zod';
import { HARNESS_NAMES, harnessNameSchema } from './harness-name.ts';
import { dryRunField } from './http/rehearsal.ts';
import { memoryMaxSchema } from './memory-max.ts';

/** What stands for each value of `env` where agents are shown. */
export const HIDDEN_VALUE = '(hidden)';
const HIDDEN_GIVEN = `"${HIDDEN_VALUE}" is what svc agents shows for a value; write the value itself`;

/** One entry of `agents.json` (design: operator files). */
export const agentEntrySchema = z.looseObject({
  id: z.string().min(1),
  harness: harnessNameSchema,
  /** Executable name or path, started with argv, never through a shell string. */
  cli: z.string().min(1).optional(),
  /** Null: the program's own choice. */
  model: z.string().nullable().optional(),
  args: z.array(z.string()).optional(),
  effort_levels: z.array(z.string()).optional(),
  default_effort: z.string().nullable().optional(),
  default: z.boolean().optional(),
  aliases: z.array(z.string()).optional(),
  env: z
    .record(
      z.string(),
      z.string().refine((value) => value !== HIDDEN_VALUE, { error: HIDDEN_GIVEN }),
    )
    .optional(),
  /**
   * `argument`: the launch message is given as an argument, for a program that cannot read it from a file or standard
   * input.
   */
  prompt: z.enum(['file', 'argument']).optional(),
  memory_max: memoryMaxSchema.optional(),
});
const agentAliasSchema = z.looseObject({ id: z.string().min(1), alias_of: z.string().min(1) });

export const agentsFileSchema = z.looseObject({
  version: z.literal(1).optional(),
  builtins: z.enum(['layer', 'restrict']).optional(),
  agents: z.array(z.union([agentAliasSchema, agentEntrySchema])),
});

/** An agent of the effective registry (RPL-5). */
export const agentSchema = z.object({
  id: z.string(),
  harness: z.enum(HARNESS_NAMES),
  cli: z.string(),
  model: z.string().nullable(),
  args: z.array(z.string()),
  effort_levels: z.array(z.string()),
  default_effort: z.string().nullable(),
  default: z.boolean(),
  aliases: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  /** Absent if the program reads the launch message from a file, which other users cannot read. */
  prompt: z.enum(['file', 'argument']).optional(),
  /** Absent if the limit of the host applies. */
  memory_max: memoryMaxSchema.optional(),
  source: z.enum(['builtin', 'file']),
});
export type Agent = z.infer<typeof agentSchema>;

/** `POST /agents/effort` (WPL-17): null restores the agent's default effort. */
export const agentEffortSchema = z.object({
  id: z.string().min(1),
  effort: z.string().min(1).nullable(),
  origin: z.string().optional(),
  dry_run: dryRunField,
});
export type AgentEffort = z.infer<typeof agentEffortSchema>;
export const agentEffortReplySchema = z.object({ agent: agentSchema });
export type AgentEffortReply = z.infer<typeof agentEffortReplySchema>;

/** `GET /agents` and `svc agents --json` (RPL-5); the values of each `env` are hidden. */
export const agentsReplySchema = z.object({ default: z.string().nullable(), agents: z.array(agentSchema) });
export type AgentsReply = z.infer<typeof agentsReplySchema>;
