import { readSettings } from '../../config/settings.ts';
import type { Agent } from '../../contract/agent.ts';
import { agentsReply, loadRegistry } from '../../harness/agents/registry.ts';
import { EXIT, type Verb } from '../command-line/verb.ts';
import { registerEffort } from './agents/effort.ts';

/** `svc agents`: the effective agent registry of this host (RPL-5, OPF-3); a file that cannot be used is refused. */
export const verb: Verb = {
  name: 'agents',
  summary: 'List the agents that can work on fibers',
  register(command, context, exit) {
    registerEffort(command, context, exit);
    command.option('--json', 'answer as JSON').action((flags: { json?: boolean }) => {
      const { registry, problem } = loadRegistry(readSettings(context.env));
      if (problem !== null) throw problem;
      if (flags.json === true) context.out(`${JSON.stringify(agentsReply(registry), null, 2)}\n`);
      else context.out(table(registry.agents));
      exit(EXIT.ok);
    });
  },
};

function table(agents: readonly Agent[]): string {
  const rows = [
    ['AGENT', 'HARNESS', 'MODEL', 'EFFORT', 'ALSO CALLED'],
    ...agents.map((agent) => [
      agent.default ? `${agent.id} (default)` : agent.id,
      agent.harness,
      agent.model ?? '(its own)',
      agent.default_effort ?? '(its own)',
      agent.aliases.join(', '),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}
