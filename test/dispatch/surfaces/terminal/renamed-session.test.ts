import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeWorld } from '../../world/fake-world.ts';

let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
});
afterEach(() => world.dispose());

it('[WRK-2] a worker whose session a person renamed is shown and ended by its new name, after a restart too', async () => {
  world.fiber('a');
  world.fiber('b');
  const daemon = world.boot({ released: true });
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  const worker = world.machine.worker('a');
  const other = world.machine.worker('b').session.name;
  worker.session = { ...worker.session, name: 'mine' };
  const names = (one: typeof daemon) => one.state().running.map(({ mux_session }) => mux_session);
  await world.run(daemon.round());
  expect(names(daemon)).toEqual(expect.arrayContaining(['mine', other]));
  worker.session = { ...worker.session, name: 'ours' };
  const next = world.boot({ released: true });
  for (let turn = 0; turn < 2; turn += 1) await world.run(next.round());
  expect(names(next)).toEqual(expect.arrayContaining(['ours', other]));
  expect(world.machine.creates).toHaveLength(2);
  await world.run(next.dispatcher.kills.kill('a'));
  await world.run(next.round());
  expect(names(next)).toEqual([other]);
  expect(world.machine.living.map(({ session }) => session.name)).toEqual([other]);
});

it('[WRK-2] a worker that outlives its session keeps the name it had', async () => {
  world.fiber('a');
  const daemon = world.boot({ released: true });
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  const worker = world.machine.worker('a');
  const { name } = worker.session;
  world.machine.startByHand('shell', ['top']);
  worker.hung_up = true;
  await world.run(daemon.round());
  expect(daemon.state().running).toMatchObject([{ mux_session: name }]);
});
