import { z } from 'zod';
import { agentEffortReplySchema, agentSchema, agentsReplySchema } from '../contract/agent.ts';
import { fiberDocumentSchema, fiberRowSchema } from '../contract/fiber.ts';
import { brakePulledSchema, brakeReleasedSchema } from '../contract/http/brake.ts';
import { capturedSchema, captureRefusedSchema, claimedSchema } from '../contract/http/capture.ts';
import { dispatchedSchema, killedSchema, refusedSchema, releasedSchema } from '../contract/http/dispatch.ts';
import { nestedSchema } from '../contract/http/fibers.ts';
import { incidentReplySchema, incidentSchema } from '../contract/http/incidents.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { searchReplySchema } from '../contract/http/search.ts';
import { spendSchema } from '../contract/http/spend.ts';
import { stateSchema } from '../contract/http/state.ts';
import { versionSchema } from '../contract/http/version.ts';
import { whySchema } from '../contract/http/why.ts';
import { remoteSchema } from '../contract/operator-files.ts';
import { lifeEntrySchema } from './verbs/log/fiber-life.ts';

const fiber = z.object({ fiber: fiberDocumentSchema });
const fiberWithBody = z.object({ fiber: fiberDocumentSchema.extend({ body: z.string() }) });
const runningSchema = stateSchema.shape.running.element;
const address = { pid: z.number(), booted_at: z.string(), listen: z.array(z.string()) };
const started = z.object({
  started: z.literal(true),
  already_running: z.literal(false),
  version: z.string(),
  ...address,
});

const remotesChanged = z.object({ file: z.string(), remotes: z.array(z.string()) });

/** Shapes that the page of the command line tells once and names elsewhere. */
export const SHAPES: ReadonlyMap<z.ZodType, string> = new Map<z.ZodType, string>([
  [fiberDocumentSchema, 'Fiber'],
  [fiberRowSchema, 'FiberRow'],
  [runningSchema, 'Worker'],
  [agentSchema, 'Agent'],
  [incidentSchema, 'Incident'],
  [lifeEntrySchema, 'LifeEntry'],
  [rehearsalSchema, 'Rehearsal'],
  [stateSchema, 'State'],
  [versionSchema, 'Version'],
]);

/** What each command prints with `--json` and exit code 0, or 1 where it says so; with `--dry-run` a `Rehearsal`. */
export const RESULTS: Readonly<Record<string, z.ZodType>> = {
  search: searchReplySchema,
  'remotes list': z.object({ remotes: z.array(remoteSchema) }),
  'remotes add': remotesChanged,
  'remotes rm': remotesChanged,
  doctor: z.object({
    ok: z.boolean(),
    findings: z.array(
      z.object({
        name: z.string(),
        level: z.enum(['ok', 'warn', 'fail']),
        what: z.string(),
        mend: z.string().nullable(),
      }),
    ),
  }),
  'daemon start': z.union([
    started,
    z.object({ started: z.literal(false), already_running: z.literal(true), ...address }),
  ]),
  'daemon stop': z.object({
    stopped: z.boolean(),
    pid: z.number().nullable(),
    workers: z.array(z.string()).nullable(),
  }),
  'daemon restart': started,
  'daemon status': z.union([
    z.looseObject({ running: z.literal(true) }),
    z.object({ running: z.literal(false), reason: z.string() }),
  ]),
  'daemon logs': z.looseObject({ level: z.number(), time: z.unknown(), msg: z.string() }),
  'daemon release': releasedSchema,
  'daemon settings': z.array(
    z.object({ env: z.string(), value: z.unknown(), default: z.unknown(), meaning: z.string() }),
  ),
  status: z.union([z.object({ version: versionSchema, state: stateSchema }), fiberRowSchema]),
  'fiber init': z.object({ store: z.string(), stores: z.array(z.string()).nullable() }),
  'fiber add': fiberWithBody,
  'fiber edit': fiberWithBody,
  'fiber show': fiberWithBody,
  'fiber ls': z.object({
    fibers: z.array(fiberDocumentSchema),
    errors: z.array(z.object({ path: z.string().nullable(), message: z.string() })),
  }),
  'fiber nest': nestedSchema,
  'fiber rm': z.object({ removed: z.object({ id: z.string(), path: z.string() }) }),
  'fiber check': z.object({
    checked: z.number(),
    problems: z.array(z.object({ path: z.string(), message: z.string() })),
  }),
  install: fiber,
  repeat: fiber,
  pin: fiber,
  reshape: fiber,
  pause: fiber,
  resume: fiber,
  accept: fiber,
  close: fiber,
  reopen: fiber,
  'set-agent': fiber,
  'set-model': fiber,
  'set-outcome': fiber,
  uninstall: fiber,
  ps: z.array(runningSchema),
  capture: z.union([capturedSchema, captureRefusedSchema]),
  claim: claimedSchema,
  dispatch: z.union([dispatchedSchema, refusedSchema]),
  log: z.object({
    host: z.string(),
    fiber: fiberRowSchema,
    entries: z.array(lifeEntrySchema),
    earlier: z.number().int(),
    spend: spendSchema.nullable(),
  }),
  why: whySchema,
  kill: z.union([
    killedSchema,
    z.object({ killed: z.literal(false), fiber_id: z.string(), mux_session: z.null() }),
  ]),
  handoff: z.object({ fiber: fiberDocumentSchema, ends_session: z.boolean() }),
  'stop-all': brakePulledSchema,
  'resume-all': brakeReleasedSchema,
  incident: z.object({ incidents: z.array(incidentSchema) }),
  'incident resume': incidentReplySchema,
  'incident dismiss': incidentReplySchema,
  host: z.object({
    host: z.string(),
    source: z.enum(['environment', 'file', 'os']),
    contract: z.number(),
  }),
  agents: agentsReplySchema,
  'agents effort': agentEffortReplySchema,
  'resolve-dir': z.object({ path: z.string() }),
  setup: z.looseObject({
    harness: z.string(),
    mode: z.enum(['install', 'uninstall']),
    dry_run: z.boolean(),
    changes: z.array(z.object({ path: z.string(), action: z.enum(['create', 'update', 'remove']) })),
    kept: z.array(z.string()),
  }),
};
