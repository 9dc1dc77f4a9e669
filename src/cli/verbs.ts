import type { Verb } from './command-line/verb.ts';
import type { VerbGroup, VerbRow } from './command-line/verb-row.ts';

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
  row(
    'Start here',
    'demo',
    'Try everything with an agent that costs nothing',
    () => import('./verbs/demo.ts'),
  ),
  row(
    'Start here',
    'doctor',
    'Check this installation and say how to mend it',
    () => import('./verbs/doctor.ts'),
  ),
  row('Start here', 'daemon', 'Run, start, stop and inspect the daemon', () => import('./verbs/daemon.ts')),
  row('Start here', 'status', 'Show what the daemon does, or one fiber', () => import('./verbs/status.ts')),
  row('Tasks', 'fiber', 'Make, read, edit and list fibers in a store', () => import('./verbs/fiber.ts')),
  row('Tasks', 'search', 'Find fibers by what is written in them', () => import('./verbs/search.ts')),
  row('Tasks', 'install', 'Have a worker take up a fiber once', () => import('./install.ts')),
  row('Tasks', 'repeat', 'Have a worker take up a fiber on a schedule', () => import('./repeat.ts')),
  row('Tasks', 'pin', 'Keep a fiber as a role that is started by hand', () => import('./pin.ts')),
  row(
    'Tasks',
    'reshape',
    'Change the kind, schedule, folder or surface of a fiber',
    () => import('./reshape.ts'),
  ),
  row('Tasks', 'pause', 'Park a fiber, so that no worker takes it up', () => import('./pause.ts')),
  row(
    'Tasks',
    'resume',
    'Let a parked, closed or awaiting fiber be taken up again',
    () => import('./resume.ts'),
  ),
  row('Tasks', 'accept', 'Accept the work; a role on a schedule goes on', () => import('./accept.ts')),
  row('Tasks', 'close', 'Close a fiber for review', () => import('./close.ts')),
  row('Tasks', 'reopen', 'Take a closed fiber up again', () => import('./reopen.ts')),
  row('Tasks', 'set-agent', 'Give a fiber another agent', () => import('./set-agent.ts')),
  row('Tasks', 'set-model', 'Have a fiber worked on by another model', () => import('./set-model.ts')),
  row('Tasks', 'set-outcome', 'Write the line that the card shows', () => import('./set-outcome.ts')),
  row('Tasks', 'uninstall', 'Make a fiber a plain document again', () => import('./uninstall.ts')),
  row('Workers', 'ps', 'List the running workers', () => import('./verbs/ps.ts')),
  row('Workers', 'attach', 'Open a worker’s terminal here', () => import('./verbs/attach.ts')),
  row(
    'Workers',
    'capture',
    'Have a worker make a fiber of a text and take it up',
    () => import('./verbs/capture.ts'),
  ),
  row('Workers', 'claim', 'Make this session the worker of a fiber', () => import('./verbs/claim.ts')),
  row('Workers', 'dispatch', 'Start a worker for a fiber now', () => import('./verbs/dispatch.ts')),
  row('Workers', 'why', 'Say why a fiber is not running, and the mend', () => import('./verbs/why.ts')),
  row('Workers', 'log', 'Show what happened to a fiber, and what it used', () => import('./verbs/log.ts')),
  row('Workers', 'kill', 'Stop the worker of a fiber', () => import('./verbs/kill.ts')),
  row(
    'Workers',
    'handoff',
    'End this worker’s run; the next one starts fresh',
    () => import('./verbs/handoff.ts'),
  ),
  row(
    'Workers',
    'stop-all',
    'Emergency brake: start nothing new on this host',
    () => import('./verbs/stop-all.ts'),
  ),
  row('Workers', 'resume-all', 'Let work start again after stop-all', () => import('./verbs/resume-all.ts')),
  row('This machine', 'host', 'Print the host id of this machine', () => import('./verbs/host.ts')),
  row('This machine', 'agents', 'List the agents that can work on fibers', () => import('./verbs/agents.ts')),
  row(
    'This machine',
    'remotes',
    'List, add and remove the other hosts that this one knows',
    () => import('./verbs/remotes.ts'),
  ),
  row('This machine', 'completion', 'Print the completion script for your shell', async () => ({
    verb: (await import('./verbs/completion.ts')).createCompletionVerb(VERBS),
  })),
  row(
    'This machine',
    'resolve-dir',
    'Print a folder as a fiber names it',
    () => import('./verbs/resolve-dir.ts'),
  ),
  row(
    'This machine',
    'setup',
    'Give an agent program the skills and hooks',
    () => import('./verbs/setup.ts'),
  ),
  row(
    'Workers',
    'incident',
    'List lost tmux servers; start what they cut off',
    () => import('./verbs/incident.ts'),
  ),
  row(null, 'hook', 'Record what an agent program or Git tells', () => import('./verbs/hook.ts')),
  row(
    null,
    'demo-agent',
    'Play an agent that works without a model (used by `svc demo`)',
    () => import('./verbs/demo-agent.ts'),
  ),
];
