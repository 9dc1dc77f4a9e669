import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const starts = () => world.machine.creates.length;
/** Lets time go by in steps in which the poller may look again. */
async function pass(ms: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += 500) {
    world.clock.advance(500);
    await world.run(Promise.resolve());
  }
}

describe('starts on a machine that is short', () => {
  it('wait without a refusal, with the figure and the floor, and go on by themselves once there is enough', async () => {
    world.free = { ...world.free, memory: 1.1e9 };
    for (const id of ['a', 'b', 'c']) world.fiber(id);
    await round();
    expect(starts()).toBe(0);
    expect(daemon.state().blocked).toEqual([]);
    expect(daemon.state().start_gate).toMatchObject({
      waiting: 3,
      hold: { message: '1.1 GB of memory is free, and new workers wait below 1.2 GB' },
    });
    const why = await world.run(daemon.dispatcher.why('b', { look: true }));
    expect(why).toMatchObject({ verdict: 'waits', first: { gate: 'resources' } });
    expect(why.first?.message).toContain('1.1 GB of memory is free');
    expect(why.first?.mend).toContain('svc dispatch b');
    expect(daemon.row('a')).toMatchObject({ gate: 'resources' });

    world.free = { ...world.free, memory: 9e9 };
    await pass(10_000);
    expect(starts()).toBe(3);
    expect(daemon.state().start_gate).toEqual({ hold: null, waiting: 0 });
  });

  it('[WPL-1] are passed by a person', async () => {
    world.free = { ...world.free, descriptors: 0 };
    world.fiber('a');
    await round();
    expect(await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }))).toMatchObject({
      dispatched: true,
    });
  });

  it('stop at the floor however many are due, since young workers count before the machine tells', async () => {
    world.free = { ...world.free, memory: 4e9 };
    for (let at = 0; at < 200; at += 1) world.fiber(`f${at}`);
    await round();
    // 4.0 GB less 300 MB for each start, down to 1.2 GB.
    expect(starts()).toBe(10);
    expect(daemon.state().start_gate).toMatchObject({
      waiting: 190,
      hold: { message: expect.stringContaining('10 workers that just started') },
    });
  });

  it('are made one by one while it is busy, and a person passes that', async () => {
    world.pressure = { load: 21.3, cores: 2, waiting: 0.97, memory: 0 };
    for (const id of ['a', 'b', 'c']) world.fiber(id);
    await round();
    expect(starts()).toBe(1);
    const why = await world.run(daemon.dispatcher.why('c', { look: true }));
    expect(why.first).toMatchObject({ gate: 'resources' });
    expect(why.first?.message).toContain('this machine is busy (load 21.3 on 2 cores, above 8)');
    await pass(19_000);
    expect(starts()).toBe(1);
    await pass(10_000);
    expect(starts()).toBe(2);
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'c' }));
    expect(starts()).toBe(3);
  });

  it('are spaced after a burst, where the system tells nothing', async () => {
    world.start_policy = { ...world.start_policy, burst: 20, spacing_ms: 1_000 };
    daemon = world.boot({ released: true });
    for (let at = 0; at < 60; at += 1) world.fiber(`f${at}`);
    await round();
    expect(starts()).toBe(20);
    await pass(10_000);
    expect(starts()).toBeGreaterThanOrEqual(27);
    expect(starts()).toBeLessThanOrEqual(31);
    await pass(40_000);
    expect(starts()).toBe(60);
  });
});
