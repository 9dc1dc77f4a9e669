import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LastDeaths, MOST_DEATHS } from '../../../src/dispatch/holds/last-deaths.ts';
import { Runs } from '../../../src/dispatch/run/runs.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
});
afterEach(() => world.dispose());

const SCREEN = 'Error: not logged in\n\x1b]0;hacked\x07\u202egnp.exe';

/** Every read that tells of a death; all must tell the same. */
async function told(daemon: Daemon) {
  const why = await daemon.dispatcher.why('loader', { look: false });
  const [listed] = daemon.state().deaths.map(({ fiber_id: _f, uid: _u, store: _s, ...death }) => death);
  expect(why.last_death).toEqual(daemon.row('loader')?.last_death);
  expect(listed).toEqual(why.last_death);
  return why.last_death;
}

async function startOne(daemon: Daemon) {
  await world.run(daemon.round());
  return world.machine.worker('loader');
}

describe('the last death of a fiber', () => {
  it('is told from the first death on, with code, screen and fix, also while the next worker runs', async () => {
    world.fiber('loader');
    const daemon = world.boot({ released: true });
    world.machine.exit(await startOne(daemon), { code: 3, screen: SCREEN });
    await world.run(daemon.round());
    const death = await told(daemon);
    expect(death).toMatchObject({ reason: 'exited', code: 3, message: 'exit code 3', screen: SCREEN });
    expect(death?.mend).toContain('log in');
    expect(daemon.row('loader')?.runtime).toBeDefined();
    expect(world.ledger.findLast(({ kind }) => kind === 'ended')).toMatchObject({
      ...{ reason: 'exited', detail: 'exit code 3', mend: death?.mend, screen: SCREEN },
    });
    expect(JSON.stringify(world.logs)).not.toContain('not logged in');
  });

  it('is told after a restart too, and by none that ended otherwise since', async () => {
    world.fiber('loader');
    const before = world.boot({ released: true });
    world.machine.exit(await startOne(before), { signal: 'SIGSEGV' });
    await world.run(before.round());
    const daemon = world.boot({ released: true });
    await world.run(daemon.round());
    expect(await told(daemon)).toMatchObject({ signal: 'SIGSEGV' });
    await world.handOff('loader');
    await world.run(daemon.round());
    expect(await told(daemon)).toBeUndefined();
    const later = world.boot();
    await world.run(later.round());
    expect(await told(later)).toBeUndefined();
  });

  it('[P2] of a worker that went down with its server is told until the next one runs, also after a restart', async () => {
    world.fiber('loader');
    const before = world.boot({ released: true });
    await startOne(before);
    world.machine.loseServer({ told: true });
    await world.run(before.round());
    expect((await told(before))?.mend).toContain('svc incident resume --all');
    await world.run(before.dispatcher.dispatch({ fiber_id: 'loader' }));
    await world.run(before.round());
    expect(await told(before)).toBeUndefined();
    const daemon = world.boot({ released: true });
    await world.run(daemon.round());
    expect(await told(daemon)).toBeUndefined();
  });

  it('is no death when a person ends the worker', async () => {
    world.fiber('loader');
    const daemon = world.boot({ released: true });
    await startOne(daemon);
    await world.run(daemon.dispatcher.kills.kill('loader'));
    expect(await told(daemon)).toBeUndefined();
  });

  it('forgets the oldest above its limit', () => {
    const deaths = new LastDeaths();
    const death = {
      ...{ run_id: 'r', at: 1, reason: 'exited', code: 1, signal: null, message: 'm', mend: 'n' },
    };
    for (let index = 0; index <= MOST_DEATHS; index += 1) deaths.ended(`uid-${index}`, death);
    const of = (uid: string) => deaths.of({ uid, svc: { host: 'a' } } as never, 'a', new Runs());
    expect([of('uid-0'), of('uid-1')]).toEqual([undefined, death]);
  });
});
