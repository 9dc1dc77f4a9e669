import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { expandHome, readSettings } from '../../config/settings.ts';
import { type Agent, agentEffortReplySchema, agentsReplySchema } from '../../contract/agent.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import { rehearsedFile } from '../../fibers/rehearsed-write.ts';
import { planAgentEffort, setAgentEffort } from '../../harness/agents/agent-effort.ts';
import {
  addAgent,
  initAgents,
  installedAgents,
  planAddAgent,
  planInitAgents,
} from '../../harness/agents/agents-file.ts';
import { agentsReply, hideEnv, loadRegistry } from '../../harness/agents/registry.ts';
import { HARNESSES } from '../../harness/harnesses.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { NEUTRAL_DIRECTORY } from '../../platform/piped-process.ts';
import { createRunner } from '../../platform/process.ts';
import { argument, choice, DRY_RUN, option, repeated, required } from '../command-line/options.ts';
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
    return { json: agentsReply(registry), text: table(registry.agents, context.width) };
  },
});

/** `svc agents effort <id> <level>|--reset`: sets the default effort of one agent (WPL-17), from the next launch on. */
export const effort = defineVerb({
  summary: 'Set the default effort of an agent',
  arguments: {
    id: argument('<id>', 'id or alias', { completes: 'agents' }),
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

/** `svc agents add <id>`: one more entry of the agents file (OPF-3), from the next launch on. */
export const add = defineVerb({
  summary: 'Add an agent to agents.json',
  arguments: { id: argument('<id>', 'what fibers call it: letters, digits, and - _ . between them') },
  options: {
    harness: required(choice('--harness <name>', HARNESS_NAMES, 'the program behind it')),
    model: option('--model <model>', 'model, as the program names it; its own choice otherwise'),
    cli: option('--cli <program>', 'name or path of the program, where it is another than usual'),
    arg: repeated('--arg <argument>', 'an argument of the program, in place of the usual ones'),
    effort: option('--effort <level>', 'its effort where a fiber names none'),
    default: option('--default', 'fibers that name no agent get this one'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc agents add opus-high --harness claude --model opus --effort high', 'then: --agent opus-high'],
    ['svc agents add mine --harness pi --cli ~/bin/pi --default', 'another installation, for every fiber'],
  ],
  page: 'operator-files.md',
  json: agentEffortReplySchema,
  async run(context, { id, harness, model, cli, arg, effort: default_effort, default: is_default, dry_run }) {
    const settings = readSettings(context.env);
    const program = cli === undefined ? undefined : expandHome(cli);
    const added = { id, harness, cli: program, model, default_effort, args: arg, default: is_default };
    if (dry_run === true) {
      const { change, agent } = planAddAgent(settings, added);
      return rehearsed(rehearsedFile(`add the agent ${agent.id}`, change.file, change));
    }
    const agent = await addAgent(settings, added);
    const missing = (await findExecutable(agent.cli, context.env.PATH ?? '')) === null;
    return {
      json: { agent: hideEnv(agent) },
      text: `${agent.id}: ${agent.harness}, ${agent.model ?? 'its own model'}${agent.default ? ', the default' : ''}\n`,
      warnings: missing ? [`"${agent.cli}" is not installed here; install it, or correct --cli`] : [],
    };
  },
});

/** How long a program may take to tell its version, in milliseconds. */
const VERSION_MS = 10_000;

/** `svc agents init`: writes an agents file with what is installed on this machine; keeps one that is there. */
export const init = defineVerb({
  summary: 'Write agents.json with the agents that are installed here',
  options: { dry_run: DRY_RUN },
  examples: [['svc agents init', 'lists what it found; never replaces a file']],
  page: 'operator-files.md',
  json: z.object({
    file: z.string(),
    agents: z.array(
      z.object({
        id: z.string(),
        harness: z.enum(HARNESS_NAMES),
        cli: z.string(),
        version: z.string().nullable(),
      }),
    ),
  }),
  async run(context, { dry_run }) {
    const settings = readSettings(context.env);
    const found = await installedAgents((program) => findExecutable(program, context.env.PATH ?? ''));
    const change = planInitAgents(settings, found);
    if (found.length === 0) {
      const programs = Object.values(HARNESSES).map(({ title, install }) => `${title} (${install})`);
      throw new CodedError(
        'agent_not_found',
        `no agent program is installed; install ${programs.join(' or ')}`,
      );
    }
    if (dry_run === true) return rehearsed(rehearsedFile('write the agents file', change.file, change));
    const file = await initAgents(settings, found);
    const versions = new Map<string, string | null>();
    for (const { cli } of found) if (!versions.has(cli)) versions.set(cli, await versionOf(cli, context.env));
    const agents = found.map((agent) => ({ ...agent, version: versions.get(agent.cli) ?? null }));
    const rows = agents.map(({ id, cli, version }) => [id, version ?? '-', cli]);
    const listed = formatTable(['agent', 'version', 'program'], rows, context.width);
    return {
      json: { file, agents },
      text: `${listed}Written to ${file}; only these agents start from now on.\n`,
    };
  },
});

/** What a program says of itself; null if it says no version. */
async function versionOf(cli: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const result = await createRunner().run({
    ...{ file: cli, args: ['--version'], cwd: NEUTRAL_DIRECTORY, env },
    ...{ timeout_ms: VERSION_MS, max_output_bytes: 64 * 1024 },
  });
  return result.kind === 'exited' ? (/\d{1,9}\.\d{1,9}[\w.-]{0,60}/.exec(result.stdout)?.[0] ?? null) : null;
}

function table(agents: readonly Agent[], width: number): string {
  return formatTable(
    ['agent', 'harness', 'model', 'effort', 'also called'],
    agents.map((agent) => [
      agent.default ? `${agent.id} (default)` : agent.id,
      agent.harness,
      agent.model ?? '(its own)',
      agent.default_effort ?? '(its own)',
      agent.aliases.join(', '),
    ]),
    width,
  );
}
