import { CodedError } from '../../base/errors.ts';
import { appendToList, removeKey } from '../../config/json-splice.ts';
import { commitChange, type OperatorChange } from '../../config/operator-change.ts';
import { withOperatorLock } from '../../config/operator-lock.ts';
import { readOperatorText } from '../../config/operator-text.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import type { Agent } from '../../contract/agent.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import { builtinAgents } from './builtin-agents.ts';
import { parseRegistry, resolveAgent, resolveEffort } from './registry.ts';

/** An agent to add; what is left out is that of its program. */
export type NewAgent = {
  id: string;
  harness: HarnessName;
  cli?: string | undefined;
  model?: string | undefined;
  default_effort?: string | undefined;
  args?: readonly string[] | undefined;
  default?: boolean | undefined;
};

/** An id is typed behind `--agent`, and stands in lists with commas. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const EMPTY = '{\n  "version": 1,\n  "agents": []\n}\n';

/**
 * Adds one agent at the end of the agents file; the rest keeps its text, but for the mark of an earlier default agent. Throws
 * `invalid_request` for an id that is no plain word, `conflict` for a name that is taken, `effort_unknown`, and `invalid_config` for an invalid file, which is not changed.
 */
export async function addAgent(settings: Settings, added: NewAgent): Promise<Agent> {
  return withOperatorLock(operatorFilePaths(settings).agents, () => {
    const { change, agent } = planAddAgent(settings, added);
    commitChange(change);
    return agent;
  });
}

/** The checks and the result of `addAgent` without the write. */
export function planAddAgent(settings: Settings, added: NewAgent): { change: OperatorChange; agent: Agent } {
  if (!ID.test(added.id)) throw noId(added.id);
  const { agents: file } = operatorFilePaths(settings);
  const before = readOperatorText(file);
  const text = before ?? EMPTY;
  if (Object.hasOwn(parseRegistry(file, text).names, added.id))
    throw new CodedError(
      'conflict',
      `there is an agent "${added.id}" already; choose another id, or change that one in ${file}`,
    );
  const base = added.default === true ? withoutDefault(text) : text;
  const withEntry = (entry: NewAgent) => {
    const said = Object.entries(entry).filter(([, value]) => value !== undefined && value !== false);
    const after = appendToList(base, ['agents'], Object.fromEntries(said));
    return { after, agent: resolveAgent(parseRegistry(file, after), added.id) };
  };
  const { default_effort = null } = added;
  resolveEffort(withEntry({ ...added, default_effort: undefined }).agent, default_effort);
  const { after, agent } = withEntry(added);
  return { change: { file, before, after }, agent };
}

function noId(typed: string): CodedError {
  const near = typed
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  const example = near === '' ? '' : `, such as ${near}`;
  return new CodedError(
    'invalid_request',
    `"${typed}" cannot be the id of an agent; use letters, digits, and - _ . between them${example}`,
  );
}

function withoutDefault(text: string): string {
  const { agents } = JSON.parse(text) as { agents: { default?: boolean }[] };
  return agents.reduce(
    (all, { default: is_default }, at) =>
      is_default === undefined ? all : removeKey(all, ['agents', at, 'default']),
    text,
  );
}

/** An agent whose program is installed, and where. */
export type InstalledAgent = { id: string; harness: HarnessName; cli: string };

/** The agents that everybody has and whose programs are on this machine; `find` returns the path of a program. */
export async function installedAgents(
  find: (program: string) => Promise<string | null>,
): Promise<InstalledAgent[]> {
  const agents = builtinAgents();
  const paths = await Promise.all(agents.map(({ cli }) => find(cli)));
  return agents.flatMap(({ id, harness }, nth) => {
    const cli = paths[nth] ?? null;
    return cli === null ? [] : [{ id, harness, cli }];
  });
}

/** Writes an agents file with these agents and no others. Throws `conflict` if there is one. */
export async function initAgents(settings: Settings, found: readonly InstalledAgent[]): Promise<string> {
  const { agents: file } = operatorFilePaths(settings);
  return withOperatorLock(file, () => {
    commitChange(planInitAgents(settings, found));
    return file;
  });
}

/** The checks and the result of `initAgents` without the write. */
export function planInitAgents(settings: Settings, found: readonly InstalledAgent[]): OperatorChange {
  const { agents: file } = operatorFilePaths(settings);
  const before = readOperatorText(file);
  if (before !== null)
    throw new CodedError(
      'conflict',
      `${file} is there already and is kept; add to it with: svc agents add <id> --harness <name>`,
    );
  const models = new Map(builtinAgents().map(({ id, model }) => [id, model]));
  const agents = found.map(({ id, harness, cli }) => {
    const model = models.get(id) ?? null;
    return { id, harness, cli, ...(model === null ? {} : { model }) };
  });
  const after = `${JSON.stringify({ version: 1, builtins: 'restrict', agents }, null, 2)}\n`;
  parseRegistry(file, after);
  return { file, before, after };
}
