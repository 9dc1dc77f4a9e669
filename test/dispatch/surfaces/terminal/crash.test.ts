import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeWorld } from '../../world/fake-world.ts';

let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
});
afterEach(() => world.dispose());

/** Crashes a launch of `prepare`'s fiber at every effect in turn, and hands each outcome to `then`. */
async function atEveryEffect(
  prepare: () => Promise<void> | void,
  begin: (daemon: ReturnType<FakeWorld['boot']>) => Promise<unknown>,
  then: (step: string) => Promise<void>,
): Promise<string[]> {
  const steps: string[] = [];
  for (let effect = 1; effect < 60; effect += 1) {
    world.dispose();
    world = new FakeWorld();
    await prepare();
    const daemon = world.boot({ released: true });
    await world.run(daemon.dispatcher.reconcile());
    world.crashIn(effect);
    if (!(await world.crashes(begin(daemon)))) return steps;
    steps.push(world.crashed_at ?? '');
    world.crashIn(null);
    await then(steps.at(-1) ?? '');
  }
  throw new Error('there is no end of effects');
}

describe('a daemon that is killed between two steps', () => {
  it('[P1] [P13] of a launch never starts a second worker, and never loses the fiber', async () => {
    const steps = await atEveryEffect(
      () => void world.fiber('a'),
      (daemon) => daemon.round(),
      async (step) => {
        const next = world.boot();
        await world.run(next.round());
        world.clock.advance(11_000);
        await world.run(next.round());
        const living = world.machine.living.length;
        const row = next.row('a');
        expect([step, row?.status]).toEqual([step, 'active']);
        if (living === 1) {
          expect([step, row?.runtime?.state]).toEqual([step, 'starting']);
          expect(world.ledger.filter((line) => line.kind === 'dispatch').length).toBeGreaterThan(0);
          expect(next.state().pending_launch).toEqual([]);
        } else {
          // Nothing was started: the document is as it was, and the fiber waits for its release.
          expect([step, row?.runtime, row?.svc?.runtime]).toEqual([step, undefined, undefined]);
          expect(next.state().pending_launch).toMatchObject([{ fiber_id: 'a' }]);
        }
        next.dispatcher.release();
        for (let turn = 0; turn < 3; turn += 1) await world.run(next.round());
        expect([step, world.machine.living.length]).toEqual([step, 1]);
      },
    );
    expect(steps.length).toBeGreaterThan(8);
    expect(steps).toContain('the session is created');
  });

  it('[STD-1] of the launch of a standing role does not lose the occurrence', async () => {
    await atEveryEffect(
      () => void world.fiber('role', { kind: 'standing', schedule: '"0 8 * * *"' }),
      (daemon) => daemon.round(),
      async (step) => {
        const next = world.boot({ released: true });
        await world.run(next.round());
        world.clock.advance(11_000);
        await world.run(next.round());
        await world.run(next.round());
        expect([step, world.machine.living.length]).toEqual([step, 1]);
        expect(next.row('role')?.svc?.runtime?.run_id).toBe(`scheduled-${Date.UTC(2026, 0, 1, 8)}`);
      },
    );
  });

  it('[WPL-1] of a forced start leaves at most one worker, and the fiber in somebody’s hands', async () => {
    await atEveryEffect(
      async () => {
        world.fiber('a');
        await world.run(world.boot({ released: true }).round());
      },
      async (daemon) => {
        await daemon.dispatcher.dispatch({ fiber_id: 'a', force: true });
      },
      async (step) => {
        const next = world.boot({ released: true });
        for (let turn = 0; turn < 3; turn += 1) {
          await world.run(next.round());
          expect([step, world.machine.living.length]).toEqual([
            step,
            Math.min(1, world.machine.living.length),
          ]);
          world.clock.advance(11_000);
        }
        await world.run(next.round());
        expect([step, world.machine.living.length]).toEqual([step, 1]);
      },
    );
  });

  it('[P5] of a kill finds the worker ended or still running, and kills it at the next word', async () => {
    const steps = await atEveryEffect(
      async () => {
        world.fiber('a');
        await world.run(world.boot({ released: true }).round());
      },
      (daemon) => daemon.dispatcher.kills.kill('a'),
      async (step) => {
        const next = world.boot();
        await world.run(next.round());
        if (world.machine.living.length === 1) await world.run(next.dispatcher.kills.kill('a'));
        await world.run(next.round());
        expect([step, world.machine.living.length]).toEqual([step, 0]);
        expect([step, world.machine.creates.length]).toEqual([step, 1]);
        expect([step, next.state().pending_launch]).toMatchObject([step, [{ reason: 'killed' }]]);
      },
    );
    expect(steps).toContain('update a run directory');
  });
});
