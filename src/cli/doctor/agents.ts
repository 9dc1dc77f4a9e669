import { systemClock } from '../../base/clock.ts';
import { isCoded } from '../../base/errors.ts';
import { readStores } from '../../config/path-lists.ts';
import { openStore } from '../../fibers/store.ts';
import { createAdapters } from '../../harness/adapters.ts';
import { loadRegistry } from '../../harness/agents/registry.ts';
import { createCapabilities } from '../../harness/capabilities.ts';
import { type AgentFinding, type AgentUse, checkHarnesses } from '../../harness/doctor.ts';
import { createRunner } from '../../platform/process.ts';
import { type Check, type DoctorContext, type Finding, fail, ok, warn } from './check.ts';
import { hostOf } from './host.ts';

/** Which agents can start, and which question of theirs would wait for a person in a worker's terminal. */
export const checkAgents: Check = async (context) => {
  const { env, settings } = context;
  const { registry } = loadRegistry(settings);
  const capabilities = createCapabilities({ runner: createRunner(), env });
  const adapters = createAdapters({ env, uid: process.getuid?.() ?? null, capabilities });
  const uses = usesOf(context);
  // A broken agents file is told where the operator files are.
  const { startable, findings } = await checkHarnesses({ registry, problem: null, adapters, env, uses });
  return [summary(startable), ...findings.map(told)];
};

function summary(startable: readonly string[]): Finding {
  if (startable.length > 0) return ok('agents', `these can start: ${startable.join(', ')}`);
  return warn(
    'agents',
    'no agent can start here, so only the demo can show a worker',
    'install Claude Code (npm install -g @anthropic-ai/claude-code), Codex (npm install -g @openai/codex) or ' +
      'Pi (npm install -g @earendil-works/pi-coding-agent), and run it once to log in',
  );
}

function told(finding: AgentFinding): Finding {
  const name = finding.agents.length === 0 ? 'agents' : `agent ${finding.agents.join(', ')}`;
  const { what, mend } = finding;
  return finding.severity === 'error' ? fail(name, what, mend) : warn(name, what, mend);
}

/** The fibers that this host is to work on, without those that are done; a store that cannot be read has none. */
function usesOf({ settings }: DoctorContext): AgentUse[] {
  const host = hostOf(settings);
  return storesOf(settings).flatMap((root) => {
    try {
      return openStore(root, { clock: systemClock })
        .list()
        .documents.filter(({ svc, status }) => svc?.host === host && status !== 'closed')
        .map(({ id, svc, project_dir }) => ({
          fiber: id,
          agent: svc?.agent ?? null,
          project_dir: project_dir ?? null,
        }));
    } catch (error) {
      if (isCoded(error)) return [];
      throw error;
    }
  });
}

function storesOf(settings: DoctorContext['settings']): string[] {
  try {
    return readStores(settings).paths;
  } catch (error) {
    if (isCoded(error, 'invalid_config')) return [];
    throw error;
  }
}
