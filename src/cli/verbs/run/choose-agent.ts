import { CodedError } from '../../../base/errors.ts';
import type { Agent } from '../../../contract/agent.ts';
import { canStart, lackWords, type Readiness } from '../../../harness/readiness.ts';

/** An agent of the registry, and what is known of it here. */
export type Candidate = Readiness & { agent: Pick<Agent, 'id' | 'harness' | 'cli' | 'default'> };

/**
 * The agent that begins: the one that was asked for, else the default one, else the first that can start. Throws
 * `agent_unavailable`, which says what to install or where to sign in.
 */
export function chooseAgent<C extends Candidate>(candidates: readonly C[], asked: string | null): C {
  const named = asked === null ? undefined : candidates.find(({ agent }) => agent.id === asked);
  if (named !== undefined) {
    if (canStart(named)) return named;
    throw new CodedError(
      'agent_unavailable',
      `agent ${named.agent.id} cannot start here: ${lackWords(named.agent, named)}`,
    );
  }
  const able = candidates.filter(canStart);
  const chosen = able.find(({ agent }) => agent.default) ?? able[0];
  if (chosen !== undefined) return chosen;
  // Several agents share a program, whose lack is said once.
  const lacks = [...new Set(candidates.map((one) => lackWords(one.agent, one)))];
  throw new CodedError(
    'agent_unavailable',
    `no agent can start here: ${lacks.join('; ')}. One of them is enough; to look around without one: svc demo`,
  );
}
