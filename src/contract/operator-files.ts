import { z } from 'zod';

/** `stores.json`; a bare array of paths is read too (DSP-7). */
export const storesFileSchema = z.union([
  z.array(z.string()).transform((stores) => ({ stores })),
  z.looseObject({ version: z.literal(1).optional(), stores: z.array(z.string()) }),
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
});
/** `<data dir>/daemon.json`, mode 0600: how the CLI finds the daemon. */
export const daemonFileSchema = z.object({
  pid: z.number().int(),
  /** Kernel start time of the process (`/proc/<pid>/stat` field 22), so that a reused pid is not mistaken. */
  start_time: z.string().nullable(),
  listen: z.array(z.string()),
  version: z.string(),
  booted_at: z.string(),
  boot_id: z.string().nullable(),
});
export type DaemonFile = z.infer<typeof daemonFileSchema>;
