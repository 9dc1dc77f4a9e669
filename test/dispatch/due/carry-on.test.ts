import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT, type Daemon, FakeWorld, LEARNING } from '../world/fake-world.ts';

const HOUR = 3_600_000;
const NOTICE = "You've hit your session limit · resets 8pm (UTC)";

describe('a fiber whose agent is over its usage limit', () => {
  let world: FakeWorld;
  let daemon: Daemon;
  beforeEach(() => {
    world = new FakeWorld();
    world.agents = [AGENT, LEARNING, { ...AGENT, id: 'second', default: false, env: { ACCOUNT: 'b' } }];
    daemon = world.boot({ released: true });
  });
  afterEach(() => world.dispose());

  const round = () => world.run(daemon.round());
  const documentOf = (id: string) => world.documents.index.get(id);
  function meetsLimit(id: string): void {
    world.clock.advance(1_000);
    const session = documentOf(id).svc?.runtime?.session_uuid ?? '';
    world.writesConversation(session);
    const at = world.clock.now();
    const limit = { notice: NOTICE, at, resets_at: at + 3 * HOUR, family: null };
    world.usage.set(`/t/${session}.jsonl`, { kind: 'limited', limit });
  }
  const started = () => daemon.memory.runs.all().map(({ fiber_id, agent }) => `${fiber_id} ${agent}`);

  it('[P10] [P13] is taken over once, by the next agent that is free, which is told of the conversation before', async () => {
    world.fiber('a', { on_limit: '[demo, learning, second]', effort: 'high' });
    await round();
    const session = documentOf('a').svc?.runtime?.session_uuid;
    meetsLimit('a');
    for (let turn = 0; turn < 4; turn += 1) await round();
    expect(started()).toEqual(['a learning']);
    expect(world.machine.creates).toHaveLength(2);
    expect(world.machine.living).toHaveLength(1);
    expect(documentOf('a').svc).toMatchObject({
      agent: 'learning',
      on_limit: ['demo', 'learning', 'second'],
    });
    expect(documentOf('a').svc?.effort).toBeUndefined();
    const [run] = daemon.memory.runs.all();
    expect(readFileSync(daemon.world.runDirectories.promptFile(run!.launch_id), 'utf8')).toContain(session);
  });

  it('[P10] is taken over where it has not been started yet', async () => {
    world.fiber('first');
    await round();
    meetsLimit('first');
    await round();
    world.fiber('later', { on_limit: '[second]' });
    await round();
    expect(started()).toEqual(['first demo', 'later second']);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['ended by a person', () => world.run(daemon.dispatcher.kills.kill('a'))],
    ['paused', async () => edit((text) => text.replace('status: active', 'status: open'))],
    ['closed', async () => edit((text) => text.replace('status: active', 'status: closed'))],
    ['stopped with all others', async () => daemon.memory.brake.pull(null, world.clock.now())],
  ])('[P10] is left alone once it was %s', async (_what, stop) => {
    world.fiber('a', { on_limit: '[second]' });
    await round();
    meetsLimit('a');
    await world.run(daemon.dispatcher.watchActivity());
    await stop();
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.creates).toHaveLength(1);
  });
  const edit = (change: (text: string) => string) => world.documents.edit(documentOf('a').path, change);

  it('[P10] goes on with its conversation once the limit is over, once, where its document says so', async () => {
    world.fiber('a', { after_limit: 'go_on' });
    world.fiber('b');
    await round();
    const session = documentOf('a').svc?.runtime?.session_uuid;
    meetsLimit('a');
    for (let turn = 0; turn < 2; turn += 1) await round();
    expect(world.machine.creates).toHaveLength(2);
    world.clock.advance(3 * HOUR + 1);
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.creates).toHaveLength(3);
    expect(started().sort()).toEqual(['a demo', 'b demo']);
    const run = daemon.memory.runs.all().find(({ fiber_id }) => fiber_id === 'a');
    expect(run).toMatchObject({ session_uuid: session, resume: { session_uuid: session } });
  });

  it('[P10] is left to its worker where that goes on working, and without a chain', async () => {
    world.fiber('a', { on_limit: '[second]' });
    world.fiber('b');
    await round();
    meetsLimit('b');
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(started()).toEqual(['a demo', 'b demo']);
  });

  it('[WPL-1] is given another agent by a person, who sees beforehand what that would do', async () => {
    world.fiber('a');
    await round();
    const ask = (more: object) =>
      world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', because_limit: true, ...more }));
    expect(await ask({ agent: 'second' })).toMatchObject({
      dispatched: false,
      message: expect.stringContaining('over no usage limit'),
    });
    meetsLimit('a');
    await round();
    expect(await ask({})).toMatchObject({
      dispatched: false,
      message: expect.stringContaining('name one with --agent'),
    });
    const session = documentOf('a').svc?.runtime?.session_uuid;
    const shown = await ask({ agent: 'second', dry_run: true });
    expect(shown).toMatchObject({
      prompt: expect.stringContaining(session ?? '?'),
      ends: [expect.any(String)],
    });
    expect(started()).toEqual(['a demo']);
    expect(await ask({ agent: 'second' })).toMatchObject({ dispatched: true, agent: 'second' });
    expect(started()).toEqual(['a second']);
    expect(documentOf('a').svc?.agent).toBe('second');
  });

  it('[WPL-1] gets the agent of any request that starts it, and one that runs keeps its own', async () => {
    world.fiber('a', {}, { status: 'open' });
    await round();
    const dispatch = (agent: string) => world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', agent }));
    expect(await dispatch('second')).toMatchObject({ dispatched: true, agent: 'second' });
    expect(await dispatch('demo')).toMatchObject({
      already_running: true,
      notes: [
        'the worker that runs keeps its agent; to end it and start a fresh one: `svc dispatch a --agent demo --force`',
      ],
    });
    expect(
      await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', agent: 'nobody', force: true })),
    ).toMatchObject({
      dispatched: false,
      reason: 'agent_unknown',
    });
    expect(started()).toEqual(['a second']);
  });
});
