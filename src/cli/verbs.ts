import type { Verb } from './verb.ts';

/** A verb that can be listed without loading it, so that each command pays only for its own modules. */
export type VerbRow = { name: string; summary: string; load(): Promise<Verb> };

function row(name: string, summary: string, load: () => Promise<{ verb: Verb }>): VerbRow {
  return { name, summary, load: async () => (await load()).verb };
}

/** Every verb of `svc`, in the order of the help. */
export const VERBS: readonly VerbRow[] = [
  row('demo', 'Try everything with an agent that costs nothing', () => import('./demo.ts')),
  row('daemon', 'Run, start, stop and inspect the daemon', () => import('./daemon.ts')),
  row('status', 'Show what the daemon does, or one fiber', () => import('./status.ts')),
  row('ps', 'List the running workers', () => import('./ps.ts')),
  row('attach', 'Open a worker’s terminal here', () => import('./attach.ts')),
  row('dispatch', 'Start a worker for a fiber now', () => import('./dispatch.ts')),
  row('kill', 'Stop the worker of a fiber', () => import('./kill.ts')),
  row('fiber', 'Make, read, edit and list fibers in a store', () => import('./fiber.ts')),
  row('install', 'Have a worker take up a fiber once', () => import('./install.ts')),
  row('repeat', 'Have a worker take up a fiber on a schedule', () => import('./repeat.ts')),
  row('pin', 'Keep a fiber as a role that is started by hand', () => import('./pin.ts')),
  row('uninstall', 'Make a fiber a plain document again', () => import('./uninstall.ts')),
  row('handoff', 'End this worker’s run; the next one starts fresh', () => import('./handoff.ts')),
  row('host', 'Print the host id of this machine', () => import('./host.ts')),
  row('agents', 'List the agents that can work on fibers', () => import('./agents.ts')),
  row('doctor', 'Check this installation and say how to mend it', () => import('./doctor.ts')),
  row(
    'demo-agent',
    'Play an agent that works without a model (used by `svc demo`)',
    () => import('./demo-agent.ts'),
  ),
];
