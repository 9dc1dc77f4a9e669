import { isCoded, messageOf } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Agent } from '../../contract/agent.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { readUsageNotice, type UsageSign } from '../../harness/transcripts/usage-limit.ts';
import type { Run } from '../run/run.ts';
import type { World } from '../world/world.ts';
import type { Memory } from './memory.ts';
import type { AccountLimit, Payer } from './usage-limit-book.ts';

const MOST_NOTICE = 200;
const NO_SIGN: UsageSign = { kind: 'none' };

/** The limit that keeps the agent of this fiber from being started; null when none does (P10). */
export function limitOf(
  world: Pick<World, 'harness' | 'clock'>,
  memory: Pick<Memory, 'limits'>,
  agent_id: string | null,
): AccountLimit | null {
  if (memory.limits.isEmpty) return null;
  const agent = agentNamed(world, agent_id);
  return agent === null ? null : memory.limits.of(payerOf(world, agent), world.clock.now());
}

/**
 * The agent that takes over a fiber whose own is over its usage limit: the first of its chain (`svc.on_limit`) that this host
 * knows, that is another one, and that is over no limit itself; null where there is none.
 */
export function successorOf(
  world: Pick<World, 'harness' | 'clock'>,
  memory: Pick<Memory, 'limits'>,
  svc: FiberDocument['svc'],
): string | null {
  const own = agentNamed(world, svc?.agent ?? null)?.id;
  const takesOver = (name: string) => {
    const agent = agentNamed(world, name);
    return agent !== null && agent.id !== own && limitOf(world, memory, name) === null;
  };
  return svc?.on_limit?.find(takesOver) ?? null;
}

/** One sentence on a limit that is in force. */
export function describeLimit(limit: AccountLimit): string {
  const until = new Date(limit.until).toISOString();
  const whose =
    limit.family === null
      ? `the account of agent ${limit.agent}`
      : `${limit.family} on the account of agent ${limit.agent}`;
  return limit.told
    ? `${whose} is over its usage limit until ${until} (“${limit.notice}”)`
    : `${whose} is over its usage limit (“${limit.notice}”), which does not say until when; it is tried again at ${until}`;
}

/**
 * Reads what the end of a run's transcript and its hooks say of its account, the later word counting, and notes it.
 * True when the fiber's row moved. `transcript` is null where there is none on this host.
 */
export async function lookForLimit(
  world: World,
  memory: Pick<Memory, 'limits' | 'refusals'>,
  run: Run,
  transcript: string | null,
): Promise<boolean> {
  const { harness, clock, settings, logger } = world;
  try {
    const agent = harness.agent(run.agent);
    const sign = laterOf(
      transcript === null ? NO_SIGN : await harness.usage(run.harness, transcript),
      signOfHooks(world, run),
    );
    const now = clock.now();
    if (sign.kind === 'none') return false;
    if (sign.kind === 'working') {
      if (sign.at < run.started_at) return false;
      memory.limits.lift(payerOf(world, agent), sign.at);
      const blocked = memory.refusals.get(run.key)?.reason === 'usage_limit';
      memory.refusals.clear(run.key, 'usage_limit');
      return blocked;
    }
    const { at, resets_at, family } = sign.limit;
    // A resumed conversation begins with what an earlier run met.
    if (at < run.started_at) return false;
    const limit: AccountLimit = {
      account: harness.account(agent),
      family,
      agent: agent.id,
      notice: sign.limit.notice.slice(0, MOST_NOTICE),
      at,
      until: resets_at ?? at + settings.usage_limit_retry_ms,
      told: resets_at !== null,
    };
    if (!memory.limits.note(limit, now)) return false;
    logger.warn({ fiber: run.fiber_id, agent: agent.id, until: limit.until }, 'a usage limit was met');
    memory.refusals.record(
      run.key,
      {
        reason: 'usage_limit',
        message: `${describeLimit(limit)}; its worker does not go on by itself: \`svc attach ${shellWord(run.fiber_id)}\``,
      },
      now,
      limit.until,
    );
    return true;
  } catch (error) {
    logger.warn(
      { fiber: run.fiber_id, detail: messageOf(error) },
      'a run could not be looked at for a usage limit',
    );
    return false;
  }
}

/** Lists a fiber that only a usage limit keeps back as blocked, and no longer once the limit is over. */
export function showLimit(
  world: World,
  memory: Memory,
  document: FiberDocument,
  key: string,
  gate: string | null,
): boolean {
  const row = memory.refusals.get(key);
  const limit = gate === 'usage_limit' ? limitOf(world, memory, document.svc?.agent ?? null) : null;
  if (limit === null) {
    if (row?.reason !== 'usage_limit' || memory.runs.get(key) !== undefined) return false;
    memory.refusals.clear(key, 'usage_limit');
    return true;
  }
  const message = `${describeLimit(limit)}; \`svc dispatch ${shellWord(document.id)} --force\` starts it anyway`;
  if (row?.reason === 'usage_limit' && row.retry_at === limit.until && row.message === message) return false;
  memory.refusals.clear(key);
  memory.refusals.record(key, { reason: 'usage_limit', message }, world.clock.now(), limit.until);
  return true;
}

function signOfHooks(world: Pick<World, 'runDirectories' | 'zone'>, run: Run): UsageSign {
  const told = world.runDirectories.usageNotice(run.launch_id);
  return told === null ? NO_SIGN : readUsageNotice(told.notice, told.at, world.zone);
}

/** Of two signs of a limit the transcript's is kept: it may tell more. */
function laterOf(transcript: UsageSign, hooks: UsageSign): UsageSign {
  if (hooks.kind !== 'limited' || transcript.kind === 'limited') return transcript;
  return transcript.kind === 'working' && transcript.at > hooks.limit.at ? transcript : hooks;
}

function payerOf(world: Pick<World, 'harness'>, agent: Agent): Payer {
  return { account: world.harness.account(agent), model: agent.model };
}

/** The agent of a name, or the default one for null; null where this host does not know it. */
function agentNamed(world: Pick<World, 'harness'>, name: string | null): Agent | null {
  try {
    return world.harness.agent(name);
  } catch (error) {
    if (isCoded(error, 'agent_unknown')) return null;
    throw error;
  }
}
