import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeWorld } from '../../world/fake-world.ts';

const DAY = 24 * 60 * 60_000;
let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
});
afterEach(() => world.dispose());

it('[P13] a claim that never became a worker does not hold its fiber until a clock that was turned back catches up', async () => {
  world.fiber('a');
  const before = world.boot({ released: true });
  world.crashIn(4);
  expect(await world.crashes(before.round())).toBe(true);
  world.crashIn(null);
  expect(world.machine.creates).toEqual([]);
  world.clock.jumpTo(world.clock.now() - 2 * DAY);
  const daemon = world.boot({ released: true });
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  expect(world.machine.living).toHaveLength(1);
  expect(daemon.state().running).toMatchObject([{ fiber_id: 'a', state: 'starting' }]);
});

it('[P13] a launch that a crash cut short is not taken to be in the session that a person kept, of a time that is still to come', async () => {
  world.fiber('a', { kind: 'pinned' }, { status: 'open' });
  const before = world.boot({ released: true });
  await world.run(before.dispatcher.dispatch({ fiber_id: 'a' }));
  world.clock.jumpTo(world.clock.now() - 2 * DAY);
  const worker = world.machine.worker('a');
  world.machine.openPane(worker);
  for (let effects = 1; effects <= 12; effects += 1) {
    world.crashIn(effects);
    const forced = world.boot({ released: true }).dispatcher.dispatch({ fiber_id: 'a', force: true });
    await world.crashes(forced.catch(() => {}));
    world.crashIn(null);
    const daemon = world.boot({ released: true });
    world.clock.advance(12_000);
    for (let turn = 0; turn < 3; turn += 1) await world.run(daemon.round());
    expect(daemon.state().running.length, `after ${effects} effects`).toBe(world.machine.living.length);
  }
  expect(world.machine.living).toEqual([]);
});

it('[P13] a person’s pane in the session of a worker that has ended is not taken for a worker', async () => {
  world.fiber('a', { kind: 'pinned' }, { status: 'open' });
  const daemon = world.boot({ released: true });
  await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
  const worker = world.machine.worker('a');
  world.machine.openPane(worker);
  world.clock.jumpTo(world.clock.now() - 2 * DAY);
  await world.run(daemon.dispatcher.kills.kill('a'));
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  expect([world.machine.living, daemon.state().running]).toEqual([[], []]);
});

it('[P2] a handoff of a time that is still to come is not taken for that of a later worker, which went down with its server', async () => {
  world.fiber('a');
  const daemon = world.boot({ released: true });
  const round = () => world.run(daemon.round());
  await round();
  await world.handOff('a');
  world.clock.jumpTo(world.clock.now() - 2 * DAY);
  for (let turn = 0; turn < 2; turn += 1) await round();
  expect(world.machine.living).toHaveLength(1);
  world.machine.loseServer({ told: false });
  world.clock.advance(12_000);
  for (let turn = 0; turn < 3; turn += 1) await round();
  expect(daemon.state().incidents).toMatchObject([{ fibers: [{ fiber_id: 'a' }] }]);
  expect(world.machine.creates).toHaveLength(2);
});

it('the end of a worker is settled in time although the clock was turned back while its last word was awaited', async () => {
  world.fiber('a');
  const daemon = world.boot({ released: true });
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  world.clock.advance(60_000);
  world.machine.vanish(world.machine.worker('a'));
  world.clock.after(500, () => world.clock.jumpTo(world.clock.now() - 2 * DAY));
  await world.run(daemon.round());
  expect(daemon.state().deaths).toMatchObject([{ fiber_id: 'a', reason: 'session_gone' }]);
});
