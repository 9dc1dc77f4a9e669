import { z } from 'zod';
import { remoteNameSchema, remoteSchema } from '../operator-files.ts';
import { dryRunField, rehearsalSchema } from './rehearsal.ts';
import { remoteStateSchema } from './state.ts';

/** `POST /fleet/remotes` (WPL-18): adds or replaces one remote; null removes it. */
export const writeRemoteSchema = z.object({
  name: remoteNameSchema,
  /** Its entry in `remotes.json` without the name. */
  remote: remoteSchema.omit({ name: true }).nullable(),
  /** Of `remotes.json` as it was read. */
  expected_digest: z.string().optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export const remoteWrittenSchema = z.object({
  /** The names of all remotes now. */
  remotes: z.array(z.string()),
  path: z.string(),
  digest: z.string(),
  /** False if the file said so already. */
  changed: z.boolean(),
});
export type RemoteWritten = z.infer<typeof remoteWrittenSchema>;

/** How a remote is reached; times in milliseconds since the Unix epoch. */
const reachSchema = z.object({
  /** `answers`: it did, the last time; `no_answer`: it did not; `no_address`: its entry says nowhere to ask. */
  state: z.enum(['answers', 'no_answer', 'no_address']),
  /** Since when it is so, as far as this daemon has asked. */
  since: z.number(),
  /** When it last answered anything, its feed too; null if that is not known. */
  last_ok_at: z.number().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
export type Reached = z.infer<typeof reachSchema>;

/** A remote as it is now (REC-7). */
export const fleetRowSchema = z.object({
  name: z.string(),
  /** Its name on the board, if it has another one. */
  display: z.string().nullable(),
  /** `file`: configured in `remotes.json`; `discovered`: found in the private network. */
  source: z.enum(['file', 'discovered']),
  /** Where its daemon answers, without what may be secret in it: a path, or a host and a port; null where that is unknown. */
  address: z.string().nullable(),
  ssh: z.string().nullable(),
  reach: reachSchema,
  /** Of its daemon; null where it did not answer. */
  build: z
    .object({ version: z.string(), git_short_sha: z.string(), booted_at: z.string(), ready: z.boolean() })
    .nullable(),
  host_class: z.enum(['personal', 'exposed']).nullable(),
  /** How far its clock is ahead of the one here, in milliseconds; negative where it is behind, null where that is unknown. */
  clock_ahead_ms: z.number().nullable(),
  /** Its workers, and how many of them wait for a person; null where that is unknown. */
  workers: z.object({ running: z.number().int(), needs_you: z.number().int() }).nullable(),
  /** How fresh the copy of its fibers is, and what was wrong with its last answer; null for what is no remote. */
  feed: remoteStateSchema.pick({ state: true, last_ok_at: true, error: true }).nullable(),
});
export type FleetRow = z.infer<typeof fleetRowSchema>;

/** `GET /fleet` (RPL-9). */
export const fleetSchema = z.object({ host: z.string(), remotes: z.array(fleetRowSchema) });
export type Fleet = z.infer<typeof fleetSchema>;

/**
 * What keeps a tunnel up: not installed, installed with another text, or as the service manager says; `left_over` where
 * its remote is gone.
 */
const tunnelUnitStateSchema = z.enum([
  'not_installed',
  'outdated',
  'active',
  'restarting',
  'failed',
  'inactive',
  'left_over',
]);
export type TunnelUnitState = z.infer<typeof tunnelUnitStateSchema>;
export const tunnelUnitSchema = z.object({
  /** The remote that the tunnel leads to. */
  remote: z.string(),
  /** The name of the unit. */
  name: z.string(),
  path: z.string(),
  /** The text of the unit as it should be. */
  content: z.string(),
  state: tunnelUnitStateSchema,
});
export type TunnelUnit = z.infer<typeof tunnelUnitSchema>;

/** `POST /tunnels` (WPL-19): installs the tunnels of these remotes, or of all that want one. */
export const installTunnelsSchema = z.object({
  names: z.array(remoteNameSchema).optional(),
  dry_run: dryRunField,
  origin: z.string().optional(),
});
export const tunnelsInstalledSchema = z.object({ units: z.array(tunnelUnitSchema) });
export type TunnelsInstalled = z.infer<typeof tunnelsInstalledSchema>;
/** What an install would do, with the units as they are now. */
export const tunnelsRehearsalSchema = rehearsalSchema.extend({ units: z.array(tunnelUnitSchema).optional() });
export type TunnelsRehearsal = z.infer<typeof tunnelsRehearsalSchema>;
