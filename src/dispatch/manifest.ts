import { z } from 'zod';
import { surfaceSchema } from '../contract/fiber.ts';

/** `run.json` of a run directory: the claim, written before anything is started (P13). Times are milliseconds. */
export const launchManifestSchema = z.object({
  launch_id: z.string(),
  run_id: z.string(),
  fiber_id: z.string(),
  uid: z.string(),
  leaf: z.string(),
  store: z.string(),
  path: z.string(),
  mux_session: z.string(),
  agent: z.string(),
  harness: z.enum(['claude', 'codex', 'pi']),
  session_uuid: z.string().nullable(),
  surface: surfaceSchema,
  project_dir: z.string(),
  dispatched_at: z.number(),
  state: z.enum(['claimed', 'spawned', 'ended']),
  /** Boot id of the machine at the start: after a reboot no recorded process can be alive. */
  boot_id: z.string().nullable(),
});
export type LaunchManifest = z.infer<typeof launchManifestSchema>;
