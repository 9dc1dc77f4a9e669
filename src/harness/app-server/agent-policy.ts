import type { Agent } from '../../contract/agent.ts';

/** The approval policy and sandbox in an agent's arguments; null where they set none. */
export function agentPolicy(agent: Pick<Agent, 'args'>): { approval: string | null; sandbox: string | null } {
  if (agent.args.includes('--dangerously-bypass-approvals-and-sandbox'))
    return { approval: 'never', sandbox: 'danger-full-access' };
  return {
    approval: argumentOf(agent.args, ['-a', '--ask-for-approval']),
    sandbox: argumentOf(agent.args, ['-s', '--sandbox']),
  };
}

function argumentOf(args: readonly string[], names: readonly string[]): string | null {
  for (const [at, argument] of args.entries()) {
    if (names.includes(argument)) return args[at + 1] ?? null;
    const named = names.find((name) => name.startsWith('--') && argument.startsWith(`${name}=`));
    if (named !== undefined) return argument.slice(named.length + 1);
  }
  return null;
}
