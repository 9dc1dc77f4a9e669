import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Disks } from '../../../platform/disks.ts';
import type { DaemonLookup } from '../../daemon-client/daemon-file.ts';

/** One thing that was looked at. `mend` says what to do, and is null where nothing is to be done. */
export const findingSchema = z.object({
  name: z.string(),
  level: z.enum(['ok', 'warn', 'fail']),
  what: z.string(),
  mend: z.string().nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

/** What the checks look at, read once. */
export type DoctorContext = {
  env: NodeJS.ProcessEnv;
  clock: Clock;
  settings: Settings;
  daemon: DaemonLookup;
  /** Asked before a check touches what may lie on the disk of another machine. */
  disks: Pick<Disks, 'prove'>;
};

/** What is wrong with the world is a finding; a check that throws all the same becomes one failed finding. */
export type Check = (context: DoctorContext) => Promise<Finding[]> | Finding[];
/** A check under the name that its failure is told by. */
export type NamedCheck = { name: string; check: Check };

export function ok(name: string, what: string): Finding {
  return { name, level: 'ok', what, mend: null };
}

export function warn(name: string, what: string, mend: string): Finding {
  return { name, level: 'warn', what, mend };
}

export function fail(name: string, what: string, mend: string): Finding {
  return { name, level: 'fail', what, mend };
}
