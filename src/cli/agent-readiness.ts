import { CodedError, isCoded } from '../base/errors.ts';
import { readSettings } from '../config/settings.ts';
import type { Agent } from '../contract/agent.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { doctorReplySchema } from '../contract/http/doctor.ts';
import { createAdapters } from '../harness/adapters.ts';
import { type AgentRegistry, loadRegistry, resolveAgent } from '../harness/agents/registry.ts';
import { createCapabilities } from '../harness/capabilities.ts';
import { guardAdapters } from '../harness/guarded-adapter.ts';
import { canStart, checkReadiness, isInstalled, lackWords, type Readiness } from '../harness/readiness.ts';
import { createDisks } from '../platform/disks.ts';
import { createRunner } from '../platform/process.ts';
import type { CliContext } from './command-line/verb.ts';
import type { DaemonClient } from './daemon-client/client.ts';
import { thisHost } from './find-fiber.ts';

/** Where the daemon finds the programs. */
const TOOLS = doctorReplySchema.pick({ tools: true });

/** What is known of these agents, in their order, as each would be started in a folder. */
export async function readinessOf(
  { env, clock }: Pick<CliContext, 'env' | 'clock'>,
  agents: readonly Agent[],
  project_dir: string | null,
): Promise<Readiness[]> {
  const runner = createRunner();
  const disks = createDisks({ clock, runner });
  const capabilities = createCapabilities({ runner, env });
  const uid = process.getuid?.() ?? null;
  const adapters = guardAdapters(createAdapters({ env, uid, capabilities }), { disks, clock, env });
  try {
    return await Promise.all(agents.map((agent) => checkReadiness({ agent, project_dir, adapters, env })));
  } finally {
    disks.stop();
  }
}

/**
 * What would keep the agent of a fiber of this host from its work in its folder, and those that take over at a usage
 * limit from starting; each a sentence with the fix.
 */
export async function readinessWarnings(
  context: CliContext,
  { svc, project_dir }: Pick<FiberDocument, 'svc' | 'project_dir'>,
): Promise<string[]> {
  if (svc === undefined || project_dir === undefined || svc.host !== thisHost(context)) return [];
  const registry = loadRegistry(readSettings(context.env));
  // The write has told of an agent that nobody knows.
  const own = knownAgent(registry, svc.agent ?? null);
  const others = (svc.on_limit ?? []).flatMap((name) => knownAgent(registry, name));
  const agents = [...own, ...others];
  const readiness = await readinessOf(context, agents, project_dir);
  return agents.flatMap((agent, at) => {
    const of_agent = readiness[at]!;
    const isOwn = at < own.length;
    const name = isOwn ? agent.id : `${agent.id}, which takes over at a usage limit,`;
    if (!canStart(of_agent))
      return [
        `warning: the fiber is written, but agent ${name} cannot start here: ${lackWords(agent, of_agent)}`,
      ];
    return isOwn ? of_agent.findings.map(({ what, mend }) => `${what}; ${mend}`) : [];
  });
}

function knownAgent(registry: AgentRegistry, name: string | null): Agent[] {
  try {
    return [resolveAgent(registry, name)];
  } catch (error) {
    if (isCoded(error, 'agent_unknown')) return [];
    throw error;
  }
}

/**
 * Throws `agent_unavailable` for an agent whose program neither this command nor the daemon, which starts it, finds.
 * Whether it is known is for the write to say.
 */
export async function requireProgram(
  { env }: CliContext,
  name: string,
  project_dir: string | null,
  daemon: Pick<DaemonClient, 'get'> | null,
): Promise<void> {
  const [agent] = knownAgent(loadRegistry(readSettings(env)), name);
  if (agent === undefined || (await isInstalled(agent, project_dir, env))) return;
  const tools = (await daemon?.get('/doctor', TOOLS).catch(() => null))?.tools ?? [];
  if (tools.some((tool) => tool.name === agent.cli && tool.path !== null)) return;
  const lack = lackWords(agent, { installed: false, account: { signed_in: null, mend: null } });
  throw new CodedError(
    'agent_unavailable',
    `agent ${agent.id} cannot start here: ${lack}. To have it ready to start all the same, add --anyway`,
  );
}
