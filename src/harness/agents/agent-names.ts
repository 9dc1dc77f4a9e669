import type { Agent } from '../../contract/agent.ts';
import type { Refuse } from './agent-layers.ts';

/**
 * Maps every id and alias to an agent id. An alias may take the name of a built-in agent, which it then replaces. An
 * alias without a target, in a cycle, or with two targets is refused.
 */
export function resolveAliases(
  agents: readonly Agent[],
  entries: readonly { id: string; alias_of: string }[],
  refuse: Refuse,
): Record<string, string> {
  const targets = new Map<string, string>();
  const declared = [
    ...entries.map(({ id, alias_of }) => [id, alias_of] as const),
    ...agents.flatMap((agent) => agent.aliases.map((alias) => [alias, agent.id] as const)),
  ];
  for (const [alias, target] of declared) {
    if (targets.has(alias) && targets.get(alias) !== target) {
      refuse(`alias "${alias}" means both "${targets.get(alias)}" and "${target}"; keep one of the two`);
    }
    if (agents.some((agent) => agent.id === alias && agent.source === 'file')) {
      refuse(`"${alias}" is both an agent and an alias; rename one of the two`);
    }
    targets.set(alias, target);
  }
  const names: [string, string][] = [...targets.keys()].map((alias) => [
    alias,
    follow(alias, targets, agents, refuse),
  ]);
  for (const { id } of agents) if (!targets.has(id)) names.push([id, id]);
  return Object.fromEntries(names);
}

function follow(
  alias: string,
  targets: Map<string, string>,
  agents: readonly Agent[],
  refuse: Refuse,
): string {
  const path = [alias];
  for (;;) {
    const last = path.at(-1)!;
    const next = targets.get(last);
    if (next === undefined) {
      if (agents.some((agent) => agent.id === last)) return last;
      return refuse(
        `alias "${path.at(-2)}" refers to the agent "${last}", which does not exist; correct its alias_of`,
      );
    }
    if (path.includes(next)) {
      return refuse(
        `the aliases ${[...path, next].map((name) => `"${name}"`).join(' → ')} form a cycle; correct one alias_of`,
      );
    }
    path.push(next);
  }
}
