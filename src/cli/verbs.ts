import type { Verb } from './verb.ts';

/** Headings of the help, in its order. */
export const VERB_GROUPS = ['Start here', 'Tasks', 'Workers', 'This machine'] as const;
type VerbGroup = (typeof VERB_GROUPS)[number];

/**
 * A verb that can be listed without loading it, so that each command pays only for its own modules. One without a
 * group is for programs and not listed.
 */
export type VerbRow = { name: string; summary: string; group: VerbGroup | null; load(): Promise<Verb> };

function row(
  group: VerbGroup | null,
  name: string,
  summary: string,
  load: () => Promise<{ verb: Verb }>,
): VerbRow {
  return { name, summary, group, load: async () => (await load()).verb };
}

/** Every verb of `svc`, in the order of the help. */
export const VERBS: readonly VerbRow[] = [
  row('Start here', 'demo', 'Try everything with an agent that costs nothing', () => import('./demo.ts')),
  row('Start here', 'doctor', 'Check this installation and say how to mend it', () => import('./doctor.ts')),
  row('Start here', 'daemon', 'Run, start, stop and inspect the daemon', () => import('./daemon.ts')),
  row('Start here', 'status', 'Show what the daemon does, or one fiber', () => import('./status.ts')),
  row('Tasks', 'fiber', 'Make, read, edit and list fibers in a store', () => import('./fiber.ts')),
  row('Tasks', 'install', 'Have a worker take up a fiber once', () => import('./install.ts')),
  row('Tasks', 'repeat', 'Have a worker take up a fiber on a schedule', () => import('./repeat.ts')),
  row('Tasks', 'pin', 'Keep a fiber as a role that is started by hand', () => import('./pin.ts')),
  row('Tasks', 'uninstall', 'Make a fiber a plain document again', () => import('./uninstall.ts')),
  row('Workers', 'ps', 'List the running workers', () => import('./ps.ts')),
  row('Workers', 'attach', 'Open a worker’s terminal here', () => import('./attach.ts')),
  row(
    'Workers',
    'capture',
    'Have a worker make a fiber of a text and take it up',
    () => import('./capture.ts'),
  ),
  row('Workers', 'claim', 'Make this session the worker of a fiber', () => import('./claim.ts')),
  row('Workers', 'dispatch', 'Start a worker for a fiber now', () => import('./dispatch.ts')),
  row('Workers', 'kill', 'Stop the worker of a fiber', () => import('./kill.ts')),
  row('Workers', 'handoff', 'End this worker’s run; the next one starts fresh', () => import('./handoff.ts')),
  row('This machine', 'host', 'Print the host id of this machine', () => import('./host.ts')),
  row('This machine', 'agents', 'List the agents that can work on fibers', () => import('./agents.ts')),
  row(
    null,
    'demo-agent',
    'Play an agent that works without a model (used by `svc demo`)',
    () => import('./demo-agent.ts'),
  ),
];
