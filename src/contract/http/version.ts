import { z } from 'zod';
import { componentViewSchema } from '../component.ts';

/** A version mismatch found at boot (VER-3). */
const skewSchema = z.object({
  /** `prompt`: the package's own skills were written for other launch messages; `cli`: the program of `SVC_CLI`. */
  of: z.enum(['skills', 'hooks', 'prompt', 'cli']),
  /** The agent program or path concerned; null for the package. */
  where: z.string().nullable(),
  what: z.string(),
  /** What to run or do. */
  mend: z.string(),
});
export type Skew = z.infer<typeof skewSchema>;

/** The way into the private network, and out of it (OPR-1, OPR-3). */
const tailnetDialSchema = z.object({
  /**
   * `disabled`: nothing here uses the private network; `pending`: it has not been looked for yet; `unavailable`: no program
   * of it answers; `available`: one does; with a listener there, `unbound` until it listens and `ready` once it does; `error`:
   * the last request over it failed.
   */
  status: z.string(),
  /** Whether its socket is the one that is configured, one of this user, or the system's. */
  socket_source: z.enum(['configured', 'default', 'system', 'none']),
  /** True if an untrusted default socket was skipped. */
  default_socket_refused: z.boolean().optional(),
  /** Why it is not as it should be, with the fix. */
  error: z.string().nullable().optional(),
});
export type TailnetDial = z.infer<typeof tailnetDialSchema>;

/** What was found in the private network (OPR-1). Times are milliseconds since the Unix epoch. */
const discoverySchema = z.object({
  enabled: z.boolean(),
  /** `pending`: it has not been looked yet; `unavailable`: the private network could not be asked. */
  state: z.enum(['pending', 'ok', 'unavailable', 'disabled']),
  /** How the private network was asked: `localapi` or `cli`. */
  via: z.string().nullable(),
  error: z.string().nullable(),
  last_run_at: z.number().nullable(),
  /** Daemons of this user on other machines, by their host id. */
  peers: z.array(
    z.object({
      name: z.string(),
      url: z.string(),
      dns_name: z.string(),
      last_seen_at: z.number().nullable(),
    }),
  ),
  /**
   * Machines of this user that were asked and are no further host: `timeout`, `refused`, `status_<n>`, `not_json`,
   * `not_svc`, `same_host` or `duplicate_host`.
   */
  rejected: z.array(z.looseObject({ name: z.string(), reason: z.string() })),
});
export type Discovery = z.infer<typeof discoverySchema>;

/** `GET /version` (OPR-1, RDY-1). Times are milliseconds since the Unix epoch unless they end in `_at` with text. */
export const versionSchema = z.object({
  version: z.string(),
  git_short_sha: z.string(),
  /** ISO 8601. */
  booted_at: z.string(),
  ready: z.boolean(),
  /** Milliseconds from process start to ready; so far, during the boot. */
  boot_ms: z.number(),
  host: z.string(),
  host_class: z.enum(['personal', 'exposed']),
  pid: z.number(),
  node: z.string(),
  listen: z.array(z.string()),
  /** Which server speaks HTTP: uWebSockets.js or Node's own. */
  server: z.enum(['uws', 'node']).nullable(),
  peer_gate: z.object({ mode: z.string(), uid: z.number().nullable(), source: z.string() }),
  tailnet_dial: tailnetDialSchema,
  discovery: discoverySchema,
  components: z.array(componentViewSchema),
  /** Identifies matching worker skills and launch messages; null from an older daemon (VER-3). */
  generation: z.string().nullable().default(null),
  skew: z.array(skewSchema).default([]),
});
export type Version = z.infer<typeof versionSchema>;
/** What it tells of the private network. */
export type TailnetView = Pick<Version, 'tailnet_dial' | 'discovery'>;
