import { basename } from 'node:path';
import { CodedError } from '../../../base/errors.ts';
import type { Agent } from '../../../contract/agent.ts';
import type { MuxSession, PaneAddress } from '../../../mux/mux.ts';
import type { ProcessIdentity } from '../../../platform/process-facts.ts';
import type { World } from '../../world/world.ts';

/** The agent that runs in a session of the multiplexer. */
export type SessionAgent = { agent: Agent; process: ProcessIdentity; cwd: string; pane: PaneAddress };

/** Programs that run another one, which their first argument names. */
const INTERPRETERS = /^(node|bun|deno|sh|bash|dash|zsh|python[\d.]*)$/;

/**
 * Finds the agent's process in the panes of a session by its command line: the outermost one that runs the
 * program of a registered agent. Of several agents with one program the `preferred` one is meant, else the
 * default. Throws `no_agent_in_session`, or `mux_unavailable` when the panes or processes are not told.
 */
export async function findSessionAgent(
  world: Pick<World, 'harness' | 'mux' | 'processes'>,
  session: MuxSession,
  preferred: string | undefined,
): Promise<SessionAgent> {
  const unknown = () =>
    new CodedError('mux_unavailable', `what runs in ${session.name} could not be determined; try again`);
  const panes = await world.mux.panes(session);
  if (panes === null) throw unknown();
  for (const pane of panes) {
    if (pane.dead) continue;
    const commands = await world.processes.commands(pane.pid);
    if (commands === null) throw unknown();
    for (const { pid, start_time, argv } of commands) {
      const agent = agentOfCommand(argv, world.harness.agents(), preferred);
      if (agent !== null)
        return { agent, process: { pid, start_time }, cwd: pane.cwd, pane: { id: pane.id, pid: pane.pid } };
    }
  }
  const programs = [...new Set(world.harness.agents().map((agent) => basename(agent.cli)))];
  throw new CodedError(
    'no_agent_in_session',
    `no agent runs in ${session.name}: none of its processes is ${programs.join(', ')}`,
  );
}

/** The agent whose program a command line runs; null for any other program. */
export function agentOfCommand(
  argv: readonly string[],
  agents: readonly Agent[],
  preferred: string | undefined,
): Agent | null {
  const [program = '', ...rest] = argv.map((word) => basename(word.replace(/^-/, '')));
  const script = INTERPRETERS.test(program)
    ? rest[argv.slice(1).findIndex((word) => !word.startsWith('-'))]
    : '';
  const found = agents.filter(({ cli }) => [program, script].includes(basename(cli)));
  return found.find(({ id }) => id === preferred) ?? found.find((agent) => agent.default) ?? found[0] ?? null;
}
