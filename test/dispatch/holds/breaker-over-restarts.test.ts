import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const MINUTE = 60_000;
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const restart = async () => {
  daemon = world.boot({ released: true });
  await round();
};
const die = async () => {
  await round();
  world.machine.exit(world.machine.worker('a'), { code: 1 });
  await round();
};

describe('a fiber whose workers end soon, over restarts of the daemon', () => {
  it('[P26] is paused for longer each time, then held for a person, with every try counted', async () => {
    world.fiber('a');
    for (let death = 1; death <= 5; death += 1) {
      await die();
      await restart();
    }
    expect(daemon.row('a')).toMatchObject({
      gate: 'breaker',
      blocked: { reason: 'loop_breaker', attempts: 5 },
    });
    world.clock.advance(10 * MINUTE);
    await die();
    await restart();
    const { blocked } = daemon.row('a')!;
    expect(blocked).toMatchObject({ attempts: 6 });
    expect(blocked!.retry_at! - blocked!.attempted_at).toBe(60 * MINUTE);
    world.clock.advance(60 * MINUTE);
    await die();
    for (let turn = 0; turn < 3; turn += 1) {
      await restart();
      expect(daemon.row('a')).toMatchObject({
        held: 'loop_breaker',
        blocked: { attempts: 7, retry_at: null },
      });
      world.clock.advance(24 * 60 * MINUTE);
      await round();
    }
    expect(daemon.dispatcher.release().held).toEqual([{ fiber_id: 'a', reason: 'loop_breaker' }]);
    await round();
    expect(world.machine.creates).toHaveLength(7);
    const why = await world.run(daemon.dispatcher.why('a', { look: false }));
    expect(why.first).toMatchObject({
      gate: 'held',
      message: expect.stringContaining('7 workers in a row died soon after their start'),
      mend: expect.stringContaining('svc resume a'),
    });
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
    expect(daemon.row('a')).toMatchObject({ runtime: { state: 'starting' } });
    expect(daemon.row('a')?.blocked).toBeUndefined();
  });

  it('[P26] is started again by nobody in the pause, however often the daemon is', async () => {
    world.fiber('a');
    for (let death = 1; death <= 5; death += 1) await die();
    for (let turn = 0; turn < 4; turn += 1) {
      world.clock.advance(2 * MINUTE);
      await restart();
    }
    expect(world.machine.creates).toHaveLength(5);
    world.clock.advance(2 * MINUTE);
    await round();
    expect(world.machine.creates).toHaveLength(6);
  });
});

describe('an agent that a person leaves with its own command', () => {
  it('holds its oneshot at once, over restarts too, until a person lets it go on', async () => {
    world.fiber('a');
    await round();
    world.clock.advance(MINUTE);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('a')?.held).toBe('clean_exit');
    await restart();
    expect([daemon.row('a')?.held, world.machine.creates.length]).toEqual(['clean_exit', 1]);
    expect(daemon.row('a')?.blocked).toBeUndefined();
    const why = await world.run(daemon.dispatcher.why('a', { look: false }));
    expect(why.first?.message).toContain('exit code 0 and without a handoff');
    expect(why.first?.mend).toContain('svc resume a');
    const deaths = [daemon.row('a')?.last_death, why.last_death, ...daemon.state().deaths];
    expect(deaths).toEqual([undefined, undefined]);
    const ended = world.ledger.findLast(({ kind }) => kind === 'ended');
    expect(ended).toMatchObject({ reason: 'exited', detail: 'exit code 0, without a handoff' });
    expect(ended).not.toHaveProperty('mend');
    daemon.memory.quarantine.allow(daemon.row('a')?.uid ?? '');
    await round();
    expect(world.machine.creates).toHaveLength(2);
  });

  it.each([
    ['died', { code: 1 }],
    ['was told to end from outside', { code: 0, signal: 'SIGHUP' }],
  ])('is not meant where it %s', async (_, how) => {
    world.fiber('a');
    await round();
    world.machine.exit(world.machine.worker('a'), how);
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('a')?.held).toBeUndefined();
    expect(world.machine.creates).toHaveLength(2);
  });

  it('is not meant where it handed off or closed its fiber', async () => {
    world.fiber('a');
    const path = world.fiber('b');
    await round();
    await world.handOff('a');
    world.documents.edit(path, (text) => text.replace('status: active', 'status: closed'));
    world.machine.exit(world.machine.worker('b'), { code: 0 });
    for (let turn = 0; turn < 3; turn += 1) await round();
    world.documents.edit(path, (text) => text.replace('status: closed', 'status: active'));
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.living).toHaveLength(2);
  });
});
