import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../../src/base/errors.ts';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import { successorOf } from '../../../src/dispatch/holds/usage-limits.ts';
import { AGENT, type Daemon, FakeWorld, LEARNING } from '../world/fake-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOTICE = "You've hit your session limit · resets 8pm (UTC)";
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const restart = () => {
  daemon = world.boot({ released: true });
};
const transcriptOf = (id: string) => {
  const session = world.documents.index.get(id).svc?.runtime?.session_uuid ?? '';
  world.writesConversation(session);
  return `/t/${session}.jsonl`;
};
/** The worker of a fiber meets a limit, as its transcript tells. */
function meetsLimit(id: string, more: { resets_at?: number | null; family?: string } = {}): number {
  world.clock.advance(1_000);
  const { resets_at = world.clock.now() + 3 * HOUR, family = null } = more;
  const limit = { notice: NOTICE, at: world.clock.now(), resets_at, family };
  world.usage.set(transcriptOf(id), { kind: 'limited', limit });
  return resets_at ?? 0;
}
const armed = () => world.machine.creates.map((one) => one.name.split('-')[0]);
const arm = (id: string) => {
  world.documents.edit(world.documents.index.get(id).path, (text) => text.replace('open', 'active'));
};

describe('the agent that takes over', () => {
  const OTHER = { ...AGENT, id: 'other', default: false };
  const named = (agents: Record<string, typeof AGENT>) => ({
    clock: { now: () => 0 } as never,
    harness: {
      agent: (name: string | null) => {
        const found = agents[name ?? 'a'];
        if (found === undefined) throw new CodedError('agent_unknown', `there is no agent ${name}`);
        return found;
      },
      account: (agent: typeof AGENT) => agent.id,
    } as never,
  });
  it.each<[string[] | undefined, string | undefined, string[], string | null]>([
    [['b', 'c'], 'a', [], 'b'],
    [['b', 'c'], 'a', ['b'], 'c'],
    [['a', 'b'], 'a', [], 'b'],
    [['a', 'b'], undefined, [], 'b'],
    [['also-a', 'b'], 'a', [], 'b'],
    [['also-b'], 'a', [], 'also-b'],
    [['unknown', 'b'], 'a', [], 'b'],
    [['unknown'], 'a', [], null],
    [['b'], 'a', ['b'], null],
    [[], 'a', [], null],
    [undefined, 'a', [], null],
  ])('of %j for %s, while %j are over their limit too, is %s', (on_limit, agent, over, next) => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ ...OTHER, id }));
    const world = named({ a: a!, b: b!, c: c!, 'also-a': a!, 'also-b': b! });
    const of = ({ account }: { account: string }) => (over.includes(account) ? {} : null);
    const memory = { limits: { isEmpty: false, of } } as never;
    const svc = { kind: 'oneshot', agent, on_limit } as FiberDocument['svc'];
    expect(successorOf(world, memory, svc)).toBe(next);
  });
});

describe('a usage limit', () => {
  it('[P10] is shown on the fiber whose worker met it, with the time of its end', async () => {
    world.fiber('a');
    await round();
    const until = meetsLimit('a');
    await round();
    expect(daemon.row('a')).toMatchObject({
      runtime: { mux_session: expect.any(String) },
      blocked: { reason: 'usage_limit', retry_at: until, message: expect.stringContaining(NOTICE) },
    });
    const why = await world.run(daemon.dispatcher.why('a', { look: false }));
    expect(why).toMatchObject({
      verdict: 'running',
      first: {
        gate: 'running',
        message: expect.stringContaining(NOTICE),
        mend: expect.stringContaining('svc dispatch a --agent AGENT --because-limit'),
      },
    });
  });

  it.each([
    ['although it left no transcript', () => undefined, true],
    [
      'and not when it was at work afterwards',
      () => world.usage.set(transcriptOf('a'), { kind: 'working', at: world.clock.now() }),
      false,
    ],
  ])('[P10] is known from the hooks of a worker that is gone, %s', async (_how, afterwards, limited) => {
    world.fiber('a');
    await round();
    const [run] = daemon.memory.runs.all();
    const line = { at: world.clock.now() + 1, type: 'usage_limit', session: 's', notice: NOTICE };
    const told = join(daemon.world.runDirectories.directory(run!.launch_id), 'usage-limits.jsonl');
    writeFileSync(told, `${JSON.stringify(line)}\n{"cut`);
    world.clock.advance(1_000);
    afterwards();
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    expect(daemon.memory.limits.isEmpty).toBe(!limited);
  });

  it('[P10] [DSP-5] keeps back every fiber of that account and no other, until it ends', async () => {
    world.agents = [AGENT, LEARNING, { ...AGENT, id: 'second', default: false, env: { ACCOUNT: 'b' } }];
    world.fiber('a');
    await round();
    const until = meetsLimit('a');
    await round();
    for (const [id, agent] of [
      ['same', 'demo'],
      ['codex', 'learning'],
      ['other', 'second'],
    ] as const)
      world.fiber(id, { agent });
    await round();
    expect(armed()).toEqual(['a', 'codex', 'other']);
    expect(daemon.row('same')?.blocked).toMatchObject({
      reason: 'usage_limit',
      retry_at: until,
      attempts: 1,
    });
    world.clock.advance(until - world.clock.now() - MINUTE);
    await round();
    expect(armed()).not.toContain('same');
    world.clock.advance(2 * MINUTE);
    await round();
    expect(armed()).toContain('same');
    expect(daemon.row('same')?.blocked).toBeUndefined();
  });

  it('[P10] is no reason for a loop: a worker that ended by it is started after it, not before', async () => {
    world.fiber('a');
    await round();
    const until = meetsLimit('a');
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    for (let turn = 0; turn < 5; turn += 1) {
      await round();
      world.clock.advance(10 * MINUTE);
    }
    expect(armed()).toEqual(['a']);
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'usage_limit', retry_at: until });
    world.clock.advance(3 * HOUR);
    await round();
    expect(armed()).toEqual(['a', 'a']);
  });

  it('[P10] is known to the next daemon', async () => {
    world.fiber('a');
    await round();
    const until = meetsLimit('a');
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    restart();
    await round();
    expect(armed()).toEqual(['a']);
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'usage_limit', retry_at: until });
  });

  it('[P10] is learned again where the file of the limits cannot be read', async () => {
    writeFileSync(join(world.data_dir, 'usage-limits.json'), 'torn');
    restart();
    world.fiber('a');
    await round();
    expect(armed()).toEqual(['a']);
    expect(world.logs.map((line) => line.msg)).toContain(
      'the usage limits cannot be read; they are learned again',
    );
  });

  it('[P10] that does not say when it ends is tried again after the setting’s time', async () => {
    world.env.SVC_USAGE_LIMIT_RETRY_MS = String(20 * MINUTE);
    restart();
    world.fiber('a');
    await round();
    meetsLimit('a', { resets_at: null });
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    const met_at = world.clock.now();
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'usage_limit', retry_at: met_at + 20 * MINUTE });
    expect(daemon.row('a')?.blocked?.message).toContain('does not say until when');
    world.clock.advance(21 * MINUTE);
    await round();
    expect(armed()).toEqual(['a', 'a']);
  });

  it('[P10] [WPL-1] does not stop a person, who is told of it', async () => {
    world.fiber('a');
    world.fiber('b', {}, { status: 'open' });
    await round();
    meetsLimit('a');
    await round();
    const reply = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'b', force: true }));
    expect(reply).toMatchObject({ dispatched: true, notes: [expect.stringContaining(NOTICE)] });
    expect(armed()).toEqual(['a', 'b']);
  });

  it('[P10] is over when the account is seen at work again', async () => {
    world.fiber('a');
    world.fiber('b', {}, { status: 'open' });
    await round();
    meetsLimit('a');
    await round();
    arm('b');
    await round();
    expect(daemon.row('b')?.blocked?.reason).toBe('usage_limit');
    world.clock.advance(10 * MINUTE);
    world.usage.set(transcriptOf('a'), { kind: 'working', at: world.clock.now() });
    await round();
    await round();
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(armed()).toEqual(['a', 'b']);
  });

  it('[P10] is not over because of an answer that was under way when it was met', async () => {
    world.fiber('a');
    world.fiber('b');
    await round();
    meetsLimit('a');
    await round();
    world.clock.advance(30_000);
    world.usage.set(transcriptOf('b'), { kind: 'working', at: world.clock.now() });
    await round();
    expect(daemon.memory.limits.isEmpty).toBe(false);
  });

  it('[P10] of one family of models lets the others work', async () => {
    world.agents = [
      { ...AGENT, model: 'claude-opus' },
      { ...AGENT, id: 'small', model: 'sonnet', default: false },
    ];
    world.fiber('a');
    await round();
    meetsLimit('a', { family: 'opus' });
    await round();
    world.fiber('large', { agent: 'demo' });
    world.fiber('small', { agent: 'small' });
    await round();
    expect(armed()).toEqual(['a', 'small']);
  });

  it('[P10] that an earlier run of a resumed conversation met is no news', async () => {
    world.fiber('a');
    await round();
    const before = {
      notice: NOTICE,
      at: world.clock.now() - HOUR,
      resets_at: world.clock.now() + HOUR,
      family: null,
    };
    world.usage.set(transcriptOf('a'), { kind: 'limited', limit: before });
    await round();
    expect(daemon.memory.limits.isEmpty).toBe(true);
  });

  it('[P10] does not undo a person’s kill when it ends', async () => {
    world.fiber('a');
    await round();
    const until = meetsLimit('a');
    await round();
    await world.run(daemon.dispatcher.kills.kill('a'));
    world.clock.advance(until - world.clock.now() + MINUTE);
    await round();
    expect(armed()).toEqual(['a']);
    expect(daemon.row('a')?.held).toBe('killed');
  });
});
