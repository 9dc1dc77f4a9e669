import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../../src/base/deferred.ts';
import { CodedError } from '../../../src/base/errors.ts';
import { worktreeName } from '../../../src/dispatch/start/own-worktree.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const wanted = (id: string) => world.fiber(id, { project_dir: '/srv/app', worktree: 'new' });
const cwds = () => world.machine.creates.map(({ cwd }) => cwd);
const OWN = /^\/srv\/app\.worktrees\/loader-\d{6}$/;

describe('a fiber that wants a git worktree', () => {
  it('[DSP-6] gets it at its first start, and every worker of it is in there', async () => {
    wanted('work/loader');
    await round();
    await round();
    expect(cwds()).toEqual([expect.stringMatching(OWN)]);
    const { project_dir, svc } = world.documents.index.get('work/loader');
    expect(project_dir).toMatch(OWN);
    expect(svc).toMatchObject({
      worktree_of: '/srv/app',
      worktree: expect.stringMatching(/^fiber\/loader-/),
    });
    expect(world.worktrees.size).toBe(1);

    world.machine.exit(world.machine.worker('loader'), { code: 0 });
    await round();
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'work/loader', force: true }));
    expect(new Set(cwds()).size).toBe(1);
    expect(cwds()).toHaveLength(2);
    expect(world.worktrees.size).toBe(1);
  });

  it('is started in it by a request, too', async () => {
    world.fiber('loader', { project_dir: '/srv/app', worktree: 'new' }, { status: 'open' });
    const reply = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'loader' }));
    expect(reply).toMatchObject({ dispatched: true });
    expect(cwds()).toEqual([expect.stringMatching(OWN)]);
  });

  it('is started by a request that comes while the poller has it made', async () => {
    const checkout = createDeferred<void>();
    world.makeWorktree = () => checkout.promise;
    wanted('loader');
    const polled = daemon.round();
    const asked = daemon.dispatcher.dispatch({ fiber_id: 'loader' });
    await world.run(polled);
    checkout.resolve();
    expect(await world.run(asked)).toMatchObject({ dispatched: true });
    await round();
    expect(cwds()).toEqual([expect.stringMatching(OWN)]);
  });

  it('does not keep other fibers from their start while it is made', async () => {
    const checkout = createDeferred<void>();
    world.makeWorktree = () => checkout.promise;
    wanted('loader');
    world.fiber('healthy', { project_dir: '/srv/other' });
    await round();
    await round();
    expect(cwds()).toEqual(['/srv/other']);
    expect(daemon.row('loader')?.blocked).toBeUndefined();
    checkout.resolve();
    await round();
    await round();
    expect(cwds()).toEqual(['/srv/other', expect.stringMatching(OWN)]);
  });

  it('is refused with how it starts without one, and is tried again later', async () => {
    let tries = 0;
    world.makeWorktree = async () => {
      tries += 1;
      if (tries === 1) throw new CodedError('worktree_unavailable', 'the disk is full');
    };
    wanted('loader');
    await round();
    await round();
    expect(cwds()).toEqual([]);
    expect(daemon.row('loader')?.blocked).toMatchObject({
      reason: 'worktree_unavailable',
      message: 'the disk is full. To have it work in /srv/app itself: svc reshape loader --drop-worktree',
    });
    world.clock.advance(3_600_000);
    await round();
    await round();
    expect(cwds()).toEqual([expect.stringMatching(OWN)]);
  });

  it('is rehearsed with its folder, and nothing is made', async () => {
    wanted('loader');
    const shown = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'loader', dry_run: true }));
    expect(shown).toMatchObject({
      would: expect.stringMatching(
        /^make the git worktree \/srv\/app\.worktrees\/loader-\d+ on branch fiber\/loader-\d+, then start demo for loader in \/srv\/app\.worktrees\//,
      ),
    });
    expect(JSON.stringify(shown)).toContain('worktree_of');
    expect(world.worktrees.size).toBe(0);
  });

  it('has one worktree, one worker and one document that agrees, wherever the daemon is killed on the way', async () => {
    let steps = 0;
    for (let kill = 1; kill < 40; kill += 1) {
      world.dispose();
      world = new FakeWorld();
      daemon = world.boot({ released: true });
      wanted('loader');
      world.crashIn(kill);
      await world.crashes(daemon.round().then(() => daemon.round()));
      if (world.crashed_at !== null) steps += 1;
      world.crashIn(null);
      daemon = world.boot({ released: true });
      for (let turn = 0; turn < 6; turn += 1) {
        await round();
        world.clock.advance(60_000);
      }
      const at = `killed at step ${kill}: ${world.crashed_at}`;
      expect(world.machine.living, at).toHaveLength(1);
      expect([...world.worktrees.keys()], at).toEqual([world.documents.index.get('loader').project_dir]);
      expect(new Set(cwds()).size, at).toBe(1);
    }
    expect(steps).toBeGreaterThan(8);
  });
});

describe('the name of a git worktree', () => {
  it.each([
    ['say-hello', 'say-hello-4q7zk2'],
    ['Käse & Brot!', 'ka-se-brot-4q7zk2'],
    ['..', '4q7zk2'],
    ['日本語', '4q7zk2'],
    ['-rf', 'rf-4q7zk2'],
    ['a'.repeat(300), `${'a'.repeat(40)}-4q7zk2`],
  ])('of %s is %s', (leaf, name) => {
    expect(worktreeName({ leaf, uid: '01K0000000000000000004Q7ZK2' })).toBe(name);
  });

  it('is a safe part of a path and of a branch, whatever the fiber is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (leaf) => {
        expect(worktreeName({ leaf, uid: '01K0000000000000000004Q7ZK2' })).toMatch(
          /^[a-z0-9]+(-[a-z0-9]+)*$/,
        );
      }),
    );
  });
});
