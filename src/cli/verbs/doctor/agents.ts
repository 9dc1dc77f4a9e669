import { alternatives } from '../../../base/alternatives.ts';
import { isCoded } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { readStores } from '../../../config/path-lists.ts';
import { holdsControlCharacters } from '../../../config/resolve-directory.ts';
import type { Agent } from '../../../contract/agent.ts';
import { proveStore } from '../../../fibers/prove-store.ts';
import { openStore } from '../../../fibers/store.ts';
import { createAdapters } from '../../../harness/adapters.ts';
import { loadRegistry } from '../../../harness/agents/registry.ts';
import { createCapabilities } from '../../../harness/capabilities.ts';
import { type AgentFinding, type AgentUse, checkHarnesses } from '../../../harness/doctor.ts';
import { guardAdapters, silentAmong, unreachable } from '../../../harness/guarded-adapter.ts';
import { HARNESSES } from '../../../harness/harnesses.ts';
import { createRunner } from '../../../platform/process.ts';
import { followedStores } from '../../find-fiber.ts';
import { type Check, type DoctorContext, type Finding, fail, lack, ok, warn } from './check.ts';
import { hostOf } from './host.ts';

/** Which agents can start, and which would wait for an answer in a worker's terminal. */
export const checkAgents: Check = async (context) => {
  const { env, settings } = context;
  const registry = loadRegistry(settings);
  const capabilities = createCapabilities({ runner: createRunner(), env });
  const guard = { disks: context.disks, clock: context.clock, env };
  const adapters = guardAdapters(
    createAdapters({ env, uid: process.getuid?.() ?? null, capabilities }),
    guard,
  );
  const [unusable, named] = partition(await usesOf(context), ({ project_dir }) =>
    holdsControlCharacters(project_dir ?? ''),
  );
  const { silent, uses } = await withoutSilent(named, context);
  // The check of the operator files reports an invalid agents file.
  const { startable, missing, findings } = await checkHarnesses({ registry, adapters, env, uses });
  const isKept = findings.some(({ severity }) => severity === 'error');
  return [
    // What keeps the agents that are in use from starting says more.
    ...(startable.length === 0 && isKept ? [] : [summary(startable)]),
    ...(startable.length === 0 ? [] : withoutDefault(registry.agents, missing)),
    ...findings.map(told),
    ...unusable.map(noDirectory),
    ...silent,
    ...readable(registry.agents),
  ];
};

function summary(startable: readonly string[]): Finding {
  const programs = Object.values(HARNESSES).map(({ title, install }) => `${title} (${install})`);
  if (startable.length > 0) return ok('agents', `these can start: ${startable.join(', ')}`);
  return lack('agents', 'no agent', `install ${alternatives(programs)}, and run it once to sign in`);
}

/** A fiber that names no agent gets the default one. */
function withoutDefault(agents: readonly Agent[], missing: readonly string[]): Finding[] {
  const named = agents.filter((agent) => agent.default && missing.includes(agent.id));
  return named.map((agent) =>
    warn(
      `agent ${agent.id}`,
      'it is the default agent, and its program is not installed',
      'set "default": true of another one in agents.json',
    ),
  );
}

/** Every user of the machine can read the arguments of a process. */
function readable(agents: readonly Agent[]): Finding[] {
  const named = agents.filter(({ prompt }) => prompt === 'argument').map(({ id }) => id);
  if (named.length === 0) return [];
  return [
    warn(
      `agent ${named.join(', ')}`,
      'other users of this machine can read its launch messages, which it gets as an argument',
      'take "prompt": "argument" out of agents.json where the program reads a file or its standard input',
    ),
  ];
}

function told(finding: AgentFinding): Finding {
  const name = finding.agents.length === 0 ? 'agents' : `agent ${finding.agents.join(', ')}`;
  const { what, mend } = finding;
  return finding.severity === 'error' ? fail(name, what, mend) : warn(name, what, mend);
}

function noDirectory({ fiber }: AgentUse): Finding {
  const mend = `set another with: svc install ${shellWord(fiber)} --project-dir DIR`;
  return fail(`fiber ${fiber}`, 'its project_dir holds control characters, so no worker can start', mend);
}

/** The fibers whose project folder answers, and one finding for each folder that does not. */
async function withoutSilent(
  all: readonly AgentUse[],
  { disks }: DoctorContext,
): Promise<{ silent: Finding[]; uses: AgentUse[] }> {
  const folders = [...new Set(all.flatMap(({ project_dir }) => project_dir ?? []))];
  const faults = await Promise.all(folders.map((folder) => silentAmong([folder], disks)));
  const silent = new Set(folders.filter((_, at) => faults[at] !== null));
  const told = faults.flatMap((fault) => (fault === null ? [] : [unreachable(fault)]));
  return {
    silent: told.map(({ what, mend }) => fail('project folder', what, mend)),
    uses: all.filter(({ project_dir }) => project_dir === null || !silent.has(project_dir)),
  };
}

function partition<T>(all: readonly T[], takes: (one: T) => boolean): [T[], T[]] {
  return [all.filter(takes), all.filter((one) => !takes(one))];
}

/** The fibers that this host is to work on, except finished ones; a store that cannot be read has none. */
async function usesOf({ settings, clock, disks }: DoctorContext): Promise<AgentUse[]> {
  const host = hostOf(settings);
  const followed = followedStores(settings);
  const roots = storesOf(settings);
  const follows = (root: string) => followed.includes(root);
  const proofs = await Promise.all(roots.map((root) => proveStore(disks, root, { follow: follows(root) })));
  return roots.flatMap((root, at) => {
    if (proofs[at] !== 'answers') return [];
    try {
      return openStore(root, { clock, follow: follows, answering: () => disks.answering() })
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
