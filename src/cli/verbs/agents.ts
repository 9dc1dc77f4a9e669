import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { type Agent, agentEffortReplySchema, agentsReplySchema } from '../../contract/agent.ts';
import { rehearsedFile } from '../../fibers/rehearsed-write.ts';
import { planAgentEffort, setAgentEffort } from '../../harness/agents/agent-effort.ts';
import { agentsReply, hideEnv, loadRegistry } from '../../harness/agents/registry.ts';
import { argument, DRY_RUN, option } from '../command-line/options.ts';
import { formatTable } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { defineVerb } from '../command-line/verb.ts';

/** `svc agents`: the effective agent registry of this host (RPL-5, OPF-3); an invalid file is refused. */
export const verb = defineVerb({
  summary: 'List the agents that can work on fibers',
  examples: [['svc agents', 'ids for --agent']],
  json: agentsReplySchema,
  run(context) {
    const registry = loadRegistry(readSettings(context.env));
    if (registry.problem !== null) throw registry.problem;
    return { json: agentsReply(registry), text: table(registry.agents) };
  },
});

/** `svc agents effort <id> <level>|--reset`: sets the default effort of one agent (WPL-17), from the next launch on. */
export const effort = defineVerb({
  summary: 'Set the default effort of an agent',
  arguments: {
    id: argument('<id>', 'id or alias'),
    level: argument('[level]', 'one of its effort levels'),
  },
  options: {
    reset: option('--reset', 'remove the default, so that the agent uses its own'),
    dry_run: DRY_RUN,
  },
  examples: [['svc agents effort codex high', 'its effort where a fiber names none']],
  json: agentEffortReplySchema,
  async run(context, { id, level, reset, dry_run }) {
    if ((level === undefined) === (reset !== true))
      throw new CodedError(
        'invalid_request',
        'name either a level or --reset; `svc agents` lists the agents',
      );
    const settings = readSettings(context.env);
    if (dry_run === true) {
      const { path, before, after, agent } = planAgentEffort(settings, id, level ?? null);
      const would = `write the default effort of ${agent.id}`;
      return rehearsed(rehearsedFile(would, path, { before, after }));
    }
    const agent = await setAgentEffort(settings, id, level ?? null);
    return {
      json: { agent: hideEnv(agent) },
      text: `${agent.id}: ${agent.default_effort ?? 'its own effort'}\n`,
    };
  },
});

function table(agents: readonly Agent[]): string {
  return formatTable(
    ['agent', 'harness', 'model', 'effort', 'also called'],
    agents.map((agent) => [
      agent.default ? `${agent.id} (default)` : agent.id,
      agent.harness,
      agent.model ?? '(its own)',
      agent.default_effort ?? '(its own)',
      agent.aliases.join(', '),
    ]),
  );
}
