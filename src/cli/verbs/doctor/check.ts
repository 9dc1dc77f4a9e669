import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { Settings } from '../../../config/settings.ts';
import type { Disks } from '../../../platform/disks.ts';
import type { DaemonLookup } from '../../daemon-client/daemon-file.ts';

/** One finding. `mend` says what to do; null if there is nothing to do. */
export const findingSchema = z.object({
  name: z.string(),
  level: z.enum(['ok', 'warn', 'fail']),
  what: z.string(),
  mend: z.string().nullable(),
  /** Of a warning: nothing is broken, and no work can start before it is fixed. */
  keeps_back: z.literal(true).optional(),
});
export type Finding = z.infer<typeof findingSchema>;

/** The input of the checks, read once. */
export type DoctorContext = {
  env: NodeJS.ProcessEnv;
  clock: Clock;
  settings: Settings;
  daemon: DaemonLookup;
  /** Used before a check accesses a folder that may be on a remote disk. */
  disks: Pick<Disks, 'prove' | 'answering'>;
};

/** Faults are findings; an error that a check throws becomes one failed finding. */
export type Check = (context: DoctorContext) => Promise<Finding[]> | Finding[];
/** A check and the name under which its failure is reported. */
export type NamedCheck = { name: string; check: Check };

export function ok(name: string, what: string): Finding {
  return { name, level: 'ok', what, mend: null };
}

/** A finding as a person reads it, with its fix below it. */
export function findingLine({ name, level, what, mend }: Finding): string {
  const head = `${level.padEnd(4)}  ${name}: ${what}\n`;
  return mend === null ? head : `${head}      fix: ${mend}\n`;
}

export function warn(name: string, what: string, mend: string): Finding {
  return { name, level: 'warn', what, mend };
}

/** Of what a machine lacks before its first work. */
export function lack(name: string, what: string, mend: string): Finding {
  return { ...warn(name, what, mend), keeps_back: true };
}

export function fail(name: string, what: string, mend: string): Finding {
  return { name, level: 'fail', what, mend };
}
