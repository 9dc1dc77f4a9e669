import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contextTarget } from '../../../src/dispatch/requests/context-target.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

/** Starts a worker; gives how its session is asked for. */
async function start(fiber: string, more: Record<string, string> = {}) {
  world.fiber(fiber, more);
  await world.run(daemon.dispatcher.dispatch({ fiber_id: fiber }));
  await world.run(daemon.round());
  const run = daemon.memory.runs.all().find(({ fiber_id }) => fiber_id === fiber)!;
  return { harness: run.harness, native_id: run.session_uuid ?? run.app!.thread_id! };
}

const target = (query: Parameters<typeof contextTarget>[2]) =>
  world.run(contextTarget(daemon.world, daemon.memory.runs.all(), query));

describe('the session that context is for', () => {
  it('[MSG-2] is the one of a worker that runs, with its transcript and the state of its hooks', async () => {
    const query = await start('talk');
    expect(await target(query)).toMatchObject({ kind: 'found', fiber_id: 'talk', hooks: 'current' });
    world.hooks = 'absent';
    expect(await target(query)).toMatchObject({ kind: 'found', hooks: 'absent' });
  });

  it('[MSG-5] is nobody’s where no worker of this host has been in it', async () => {
    await start('talk');
    expect(await target({ harness: 'claude', native_id: 'unheard-of' })).toEqual({ kind: 'none' });
  });

  it('has no hooks where it is an app conversation', async () => {
    const query = await start('talk', { surface: 'app', agent: 'learning' });
    expect(await target(query)).toMatchObject({ kind: 'found', hooks: null });
  });

  it('is one that ended, as long as its conversation can be resumed', async () => {
    const query = await start('talk');
    await world.run(daemon.dispatcher.kills.kill('talk'));
    await world.run(daemon.round());
    expect(daemon.memory.runs.all()).toEqual([]);
    expect(await target(query)).toEqual({ kind: 'lost' });
    world.past.set(query.native_id, { kind: 'found', path: '/t.jsonl', cwd: '/srv' });
    expect(await target(query)).toMatchObject({ kind: 'found', fiber_id: 'talk', transcript: '/t.jsonl' });
    world.past.set(query.native_id, { kind: 'unknown', detail: 'the disk does not answer' });
    expect(await target(query)).toEqual({ kind: 'unknown', detail: 'the disk does not answer' });
  });
});
