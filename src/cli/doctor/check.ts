import type { Settings } from '../../config/settings.ts';
import type { DaemonLookup } from '../daemon-file.ts';

/** One thing that was looked at. `mend` says what to do, and is null where nothing is to be done. */
export type Finding = {
  name: string;
  level: 'ok' | 'warn' | 'fail';
  what: string;
  mend: string | null;
};

/** What the checks look at, read once. */
export type DoctorContext = {
  env: NodeJS.ProcessEnv;
  settings: Settings;
  daemon: DaemonLookup;
};

/** A check never throws for the world it looks at: what is wrong is a finding. */
export type Check = (context: DoctorContext) => Promise<Finding[]> | Finding[];

export function ok(name: string, what: string): Finding {
  return { name, level: 'ok', what, mend: null };
}

export function warn(name: string, what: string, mend: string): Finding {
  return { name, level: 'warn', what, mend };
}

export function fail(name: string, what: string, mend: string): Finding {
  return { name, level: 'fail', what, mend };
}
