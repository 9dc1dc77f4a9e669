import { z } from 'zod';
import { memoryMaxSchema } from './memory-max.ts';
import { socketPathSchema } from './socket-path.ts';

/** The operator files by the name that `/config/:id` has for them (OPF-1). */
export const operatorFileIdSchema = z.enum(['stores', 'projects', 'agents', 'remotes', 'host']);
export type OperatorFileId = z.infer<typeof operatorFileIdSchema>;

/** One store of `stores.json`: its path, or the path with permissions for that store. */
const storeEntrySchema = z.union([
  z.string(),
  z.looseObject({
    path: z.string(),
    /** Documents that are symlinks out of the store are read and written. */
    follow: z.boolean().optional(),
  }),
]);
export type StoreEntry = z.infer<typeof storeEntrySchema>;
/** `stores.json`; a bare array is read too (DSP-7). */
export const storesFileSchema = z.union([
  z.array(storeEntrySchema).transform((stores) => ({ stores })),
  z.looseObject({ version: z.literal(1).optional(), stores: z.array(storeEntrySchema) }),
]);
/** `projects.json`; a bare array of paths is read too (DSP-8). */
export const projectsFileSchema = z.union([
  z.array(z.string()).transform((projects) => ({ projects })),
  z.looseObject({ version: z.literal(1).optional(), projects: z.array(z.string()) }),
]);
/** `host.json`. */
export const hostFileSchema = z.looseObject({
  version: z.literal(1).optional(),
  host: z.string().min(1).optional(),
  host_class: z.enum(['personal', 'exposed']).optional(),
  max_concurrent: z.number().int().positive().optional(),
  /** Workers that wait for a person or for their limit count too. */
  count_resting: z.boolean().optional(),
  /** Folder with the descriptions of roles, one document each; it may be a store. */
  role_store: z
    .string()
    .regex(/^(\/|~\/|~$)/, 'must be an absolute path, or one that begins with ~/')
    .optional(),
  /** Limit per worker; an agent may have its own. */
  memory_max: memoryMaxSchema.optional(),
  /** Total limit of all workers. */
  memory_max_total: memoryMaxSchema.optional(),
});
const port = z.int().min(1).max(65_535);
const milliseconds = z.int().positive();
/** The name of a remote is its host id, as fibers name it in `svc.host`. */
export const remoteNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be a host id, such as host-b');
/** One remote of `remotes.json`; unknown keys are kept (AUT-4). */
export const remoteSchema = z.looseObject({
  name: remoteNameSchema,
  display: z.string().optional(),
  /** Alias for ssh. */
  ssh: z
    .string()
    .min(1)
    .refine((alias) => !alias.startsWith('-'), 'may not begin with a dash')
    .optional(),
  ssh_flags: z.array(z.string()).optional(),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  /** Unix socket on this machine where its daemon answers, such as the near end of a tunnel; goes before `url` and `port`. */
  socket: socketPathSchema.optional(),
  /** Port on this machine where the tunnel ends. */
  port: port.optional(),
  /** Port on that machine where its daemon listens. */
  remote_port: port.optional(),
  auth: z.string().optional(),
  /** Short commit: only while its daemon is of this build is it asked for anything. */
  build: z.string().min(1).optional(),
  checkout: z.string().optional(),
  /** Unix socket on that machine where its daemon listens; goes before `remote_port`. */
  remote_socket: socketPathSchema.optional(),
  /** False: this machine keeps no tunnel to it. */
  tunnel: z
    .union([
      z.literal(false),
      z.looseObject({ manager: z.string().optional(), multiplex: z.boolean().optional() }),
    ])
    .optional(),
  poll_interval_ms: milliseconds.optional(),
  request_timeout_ms: milliseconds.optional(),
});
export type Remote = z.infer<typeof remoteSchema>;
/** `remotes.json`. */
export const remotesFileSchema = z.looseObject({
  version: z.literal(1).optional(),
  defaults: z
    .looseObject({
      poll_interval_ms: milliseconds.optional(),
      request_timeout_ms: milliseconds.optional(),
      stale_multiplier: z.number().positive().optional(),
    })
    .optional(),
  remotes: z.array(remoteSchema),
});
export type RemotesFile = z.infer<typeof remotesFileSchema>;
/** `<data dir>/daemon.json`, mode 0600: how the CLI finds the daemon. */
export const daemonFileSchema = z.object({
  pid: z.number().int(),
  /** Kernel start time of the process (`/proc/<pid>/stat` field 22), so that a reused pid is recognised. */
  start_time: z.string().nullable(),
  listen: z.array(z.string()),
  version: z.string(),
  booted_at: z.string(),
  boot_id: z.string().nullable(),
});
export type DaemonFile = z.infer<typeof daemonFileSchema>;
