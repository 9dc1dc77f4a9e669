import type { Verb } from './verb.ts';

/** A verb that can be listed without loading it, so that each command pays only for its own modules. */
export type VerbRow = { name: string; summary: string; load(): Promise<Verb> };

function row(name: string, summary: string, load: () => Promise<{ verb: Verb }>): VerbRow {
  return { name, summary, load: async () => (await load()).verb };
}

/** Every verb of `svc`, in the order of the help. */
export const VERBS: readonly VerbRow[] = [
  row('daemon', 'Run, start, stop and inspect the daemon', () => import('./daemon.ts')),
  row('status', 'Show what the daemon does, or one fiber', () => import('./status.ts')),
  row('ps', 'List the running workers', () => import('./ps.ts')),
  row('attach', 'Open a worker’s terminal here', () => import('./attach.ts')),
  row('dispatch', 'Start a worker for a fiber now', () => import('./dispatch.ts')),
  row('kill', 'Stop the worker of a fiber', () => import('./kill.ts')),
  row('doctor', 'Check this installation and say how to mend it', () => import('./doctor.ts')),
];
