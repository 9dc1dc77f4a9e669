import { afterEach, expect, it } from 'vitest';
import { pollerCalls } from '../../../../src/contract/threads/poller.ts';
import { FakeWorld } from '../../world/fake-world.ts';

let world: FakeWorld;
afterEach(() => world.dispose());

/** How long tmux is waited for before it counts as silent, in milliseconds. */
const SILENCE_MS = 5_000;

it('[P5] a kill while tmux does not answer names tmux within its deadline, and is settled once tmux answers', async () => {
  world = new FakeWorld();
  const daemon = world.boot({ released: true });
  world.fiber('a');
  for (let turn = 0; turn < 2; turn += 1) await world.run(daemon.round());
  const { list } = daemon.world.mux;
  daemon.world.mux.list = async () => {
    await new Promise<void>((resolve) => {
      world.clock.after(SILENCE_MS, resolve);
    });
    return { kind: 'unknown', detail: 'the tmux server did not answer in time' };
  };
  const asked_at = world.clock.now();
  await expect(world.run(daemon.dispatcher.kills.kill('a'))).rejects.toMatchObject({
    code: 'mux_unavailable',
    message: expect.stringMatching(
      /tmux does not answer .*did not answer in time.*svc doctor.*its fiber is held/,
    ),
  });
  expect(world.clock.now() - asked_at).toBeLessThan(pollerCalls.kill.deadline_ms);
  daemon.world.mux.list = list;
  await world.run(daemon.round());
  expect(daemon.state()).toMatchObject({
    running: [],
    pending_launch: [{ fiber_id: 'a', reason: 'killed' }],
  });
  expect(world.machine.creates).toHaveLength(1);
});
