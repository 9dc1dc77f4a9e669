import { isCoded } from '../base/errors.ts';
import { readSettings } from '../config/settings.ts';
import type { Agent } from '../contract/agent.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { createAdapters } from '../harness/adapters.ts';
import { loadRegistry, resolveAgent } from '../harness/agents/registry.ts';
import { createCapabilities } from '../harness/capabilities.ts';
import { guardAdapters } from '../harness/guarded-adapter.ts';
import { canStart, checkReadiness, lackWords, type Readiness } from '../harness/readiness.ts';
import { createDisks } from '../platform/disks.ts';
import { createRunner } from '../platform/process.ts';
import type { CliContext } from './command-line/verb.ts';
import { thisHost } from './find-fiber.ts';

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

/** What would keep the agent of a fiber of this host from its work in its folder; each a sentence with the fix. */
export async function readinessWarnings(
  context: CliContext,
  { svc, project_dir }: Pick<FiberDocument, 'svc' | 'project_dir'>,
): Promise<string[]> {
  if (svc === undefined || project_dir === undefined || svc.host !== thisHost(context)) return [];
  try {
    const agent = resolveAgent(loadRegistry(readSettings(context.env)), svc.agent ?? null);
    const [readiness] = await readinessOf(context, [agent], project_dir);
    if (!canStart(readiness!))
      return [`agent ${agent.id} cannot start here: ${lackWords(agent, readiness!)}`];
    return readiness!.findings.map(({ what, mend }) => `${what}; ${mend}`);
  } catch (error) {
    // The write has told of an agent that nobody knows.
    if (isCoded(error, 'agent_unknown')) return [];
    throw error;
  }
}
