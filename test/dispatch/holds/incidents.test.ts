import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sleep } from '../../../src/base/clock.ts';
import { createDeferred } from '../../../src/base/deferred.ts';
import { serverOf } from '../../../src/dispatch/holds/incidents.ts';
import { dismissIncident, resumeIncident } from '../../../src/dispatch/requests/resume-incident.ts';
import { Runs } from '../../../src/dispatch/run/runs.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const incidents = () => daemon.state().incidents;
const fibersOf = () => incidents().map(({ fibers }) => fibers.map(({ fiber_id }) => fiber_id).sort());
const resume = (id?: string) => world.run(resumeIncident(daemon, { id }));

async function working(): Promise<void> {
  for (const name of NAMES) world.fiber(name);
  await round();
  await round();
  expect(world.machine.living).toHaveLength(NAMES.length);
  world.clock.advance(60_000);
}

describe('a lost tmux server', () => {
  it.each([true, false])(
    '[P2] is one incident with all its fibers, held, and relaunches none (told by hang-up: %s)',
    async (told) => {
      await working();
      world.machine.loseServer({ told });
      for (let turn = 0; turn < 4; turn += 1) {
        await round();
        world.clock.advance(60_000);
      }
      expect(incidents()).toMatchObject([{ cause: 'server_lost' }]);
      expect(fibersOf()).toEqual([NAMES]);
      expect(world.machine.creates).toHaveLength(NAMES.length);
      expect(daemon.state().pending_launch.map(({ reason }) => reason)).toEqual(
        NAMES.map(() => 'server_lost'),
      );
    },
  );

  it.each([true, false])(
    '[P2] that another one replaced between two listings is one incident too, and no worker’s death (told by hang-up: %s)',
    async (told) => {
      await working();
      world.machine.loseServer({ told });
      world.machine.startServer();
      await round();
      await round();
      expect(incidents()).toMatchObject([{ cause: 'server_replaced' }]);
      expect(fibersOf()).toEqual([NAMES]);
      expect(world.machine.creates).toHaveLength(NAMES.length);
      expect(daemon.state().pending_launch).toHaveLength(NAMES.length);
    },
  );

  it('[P2] has no fiber that a person stopped while the loss of the others was settled', async () => {
    await working();
    const { memory } = daemon;
    let killing: Promise<unknown> | null = null;
    const release = vi.spyOn(memory.runs, 'release');
    release.mockImplementation((run) => {
      Runs.prototype.release.call(memory.runs, run);
      const left = memory.runs.all().at(-1);
      if (left !== undefined) killing ??= daemon.dispatcher.kills.kill(left.fiber_id);
    });
    world.machine.loseServer({ told: false });
    await round();
    await world.run(killing ?? Promise.reject(new Error('nobody was stopped')));
    const killed = daemon.state().pending_launch.filter(({ reason }) => reason === 'killed');
    expect(killed).toHaveLength(1);
    expect(fibersOf()).toEqual([NAMES.filter((name) => name !== killed[0]?.fiber_id)]);
  });

  it('[P2] is noted with one write for all its workers, and requests are answered between the ends of two', async () => {
    await working();
    const { memory, world: seen } = daemon;
    const record = vi.spyOn(memory.incidents, 'record');
    const turns = new Set<number>();
    const release = vi.spyOn(memory.runs, 'release');
    release.mockImplementation((run) => {
      turns.add(seen.clock.now());
      Runs.prototype.release.call(memory.runs, run);
    });
    world.machine.loseServer({ told: false });
    await round();
    expect(record.mock.calls.map(([losses]) => losses.length).filter((count) => count > 0)).toEqual([
      NAMES.length,
    ]);
    // Time passes only between two turns of the event loop.
    expect(turns.size).toBe(NAMES.length);
  });

  it('[P2] has no worker ask for all the others, although each was in a memory group', async () => {
    await working();
    daemon.world.workerMemory.readEnd = () => ({
      worker: { peak: 1, limit: 100, kills: 0 },
      total: null,
    });
    world.machine.loseServer({ told: true });
    const look = vi.spyOn(daemon.world.processes, 'look');
    await world.run(daemon.dispatcher.reconcile());
    expect(fibersOf()).toEqual([NAMES]);
    expect(look.mock.calls.length).toBeLessThanOrEqual(NAMES.length);
  });

  it('[P2] is not counted by the loop breaker, however often and soon it is lost', async () => {
    world.fiber('a');
    for (let turn = 0; turn < 7; turn += 1) {
      await round();
      if (turn > 0) await resume();
      await round();
      expect(world.machine.living).toHaveLength(1);
      world.machine.loseServer({ told: true });
      await round();
    }
    expect(daemon.state().blocked).toEqual([]);
    expect(fibersOf()).toEqual([['a']]);
  });

  it('[P2] is still told by the next daemon, which relaunches nothing either', async () => {
    await working();
    world.machine.loseServer({ told: false });
    await round();
    const before = incidents();
    daemon = world.boot({ released: false });
    await round();
    expect(incidents()).toEqual(before);
    expect(daemon.state().pending_launch.map(({ reason }) => reason)).toEqual(NAMES.map(() => 'server_lost'));
    expect(world.machine.creates).toHaveLength(NAMES.length);
  });

  it('[P2] of a server that another one replaced while no daemon ran is told by the next daemon all the same', async () => {
    for (const name of NAMES) world.fiber(name);
    for (let turn = 0; turn < 2; turn += 1) await round();
    // Too young to be told older than the new server by its start alone.
    world.machine.loseServer({ told: true });
    world.machine.startServer();
    daemon = world.boot({ released: false });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(incidents()).toMatchObject([{ cause: 'server_replaced' }]);
    expect(fibersOf()).toEqual([NAMES]);
    expect(daemon.state().pending_launch.map(({ reason }) => reason)).toEqual(NAMES.map(() => 'server_lost'));
    expect(world.machine.creates).toHaveLength(NAMES.length);
    const before = incidents();
    daemon = world.boot({ released: false });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect([incidents(), world.machine.living]).toEqual([before, []]);
  });

  it('[P2] names every fiber after the next start, wherever its daemon was killed while it noted the loss', async () => {
    for (let effects = 1; effects <= 8; effects += 1) {
      world.dispose();
      world = new FakeWorld();
      for (const name of NAMES) world.fiber(name, { kind: 'standing', schedule: '"0 8 * * *"' });
      daemon = world.boot({ released: true });
      for (const name of NAMES) await world.run(daemon.dispatcher.dispatch({ fiber_id: name }));
      await round();
      world.machine.loseServer({ told: true });
      world.crashIn(effects);
      expect(await world.crashes(daemon.round())).toBe(true);
      world.crashIn(null);
      daemon = world.boot({ released: false });
      for (let turn = 0; turn < 2; turn += 1) await round();
      expect([effects, ...new Set(fibersOf().flat())].sort()).toEqual([effects, ...NAMES].sort());
      expect(world.machine.living).toEqual([]);
    }
  });

  it('[P2] is over when a person has all its fibers started again, each once', async () => {
    await working();
    world.machine.loseServer({ told: true });
    await round();
    const [incident] = incidents();
    const reply = await resume(incident!.id);
    expect(reply.fibers.map(({ outcome }) => outcome)).toEqual(NAMES.map(() => 'started'));
    expect(reply.incidents).toEqual([]);
    await round();
    expect([world.machine.living.length, world.machine.creates.length]).toEqual([6, 12]);
    expect(incidents()).toEqual([]);
  });

  it('[P2] that is dismissed while its fibers are started again starts none of those that wait', async () => {
    await working();
    world.machine.loseServer({ told: true });
    for (let turn = 0; turn < 3; turn += 1) await round();
    const [begun, goOn] = [createDeferred<void>(), createDeferred<void>()];
    const look = daemon.world.lookAtDirectory;
    daemon.world.lookAtDirectory = async (path) => {
      begun.resolve();
      await goOn.promise;
      return look(path);
    };
    const resuming = resumeIncident(daemon, {});
    await begun.promise;
    await dismissIncident(daemon.memory, {});
    goOn.resolve();
    const { fibers } = await world.run(resuming);
    expect(fibers.map(({ outcome }) => outcome)).toEqual([
      'started',
      ...NAMES.slice(1).map(() => 'dismissed'),
    ]);
    expect(world.machine.creates).toHaveLength(NAMES.length + 1);
  });

  it('[P2] is answered while many of its fibers are still to be started, and all are started', async () => {
    await working();
    world.machine.loseServer({ told: true });
    await round();
    const look = daemon.world.lookAtDirectory;
    daemon.world.lookAtDirectory = async (path) => {
      await sleep(world.clock, 8_000);
      return look(path);
    };
    const resuming = resumeIncident(daemon, {});
    for (let second = 0; second < 20; second += 1) await world.run(sleep(world.clock, 1_000));
    const reply = await world.run(resuming);
    const outcomes = reply.fibers.map(({ outcome }) => outcome);
    expect([outcomes[0], outcomes.at(-1), outcomes.length]).toEqual(['started', 'queued', NAMES.length]);
    const queued = reply.fibers.filter(({ outcome }) => outcome === 'queued');
    expect(reply.incidents.flatMap(({ fibers }) => fibers.map(({ fiber_id }) => fiber_id))).toEqual(
      queued.map(({ fiber_id }) => fiber_id),
    );
    while (daemon.memory.incidents.fibers().length > 0) await world.run(sleep(world.clock, 1_000));
    expect([world.machine.living.length, world.machine.creates.length]).toEqual([6, 12]);
  });

  it('[P2] starts no more of its fibers when the daemon stops, and keeps them for the next one', async () => {
    await working();
    world.machine.loseServer({ told: true });
    await round();
    const begun = createDeferred<void>();
    const look = daemon.world.lookAtDirectory;
    daemon.world.lookAtDirectory = async (path) => {
      begun.resolve();
      return look(path);
    };
    const resuming = resumeIncident(daemon, {});
    await begun.promise;
    const stopping = daemon.dispatcher.stop();
    const { fibers } = await world.run(resuming);
    await world.run(stopping);
    expect(fibers.map(({ outcome }) => outcome)).toEqual(['started', ...NAMES.slice(1).map(() => 'queued')]);
    expect(fibersOf()).toEqual([NAMES.slice(1)]);
    expect(incidents()[0]?.fibers.map(({ refused }) => refused)).toEqual(NAMES.slice(1).map(() => null));
  });

  it('[P2] keeps a fiber that is refused, with the reason, and leaves out what a person closed or runs', async () => {
    await working();
    world.machine.loseServer({ told: true });
    await round();
    const edit = (id: string, change: (text: string) => string) =>
      world.documents.edit(world.documents.index.get(id).path, change);
    edit('a', (text) => text.replace('active', 'closed'));
    edit('b', (text) => text.replace('/srv/dev', '/srv/gone'));
    world.directories.set('/srv/gone', { kind: 'missing' });
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'c' }));
    await round();
    const reply = await resume();
    expect(reply.fibers.map(({ fiber_id, outcome }) => `${fiber_id} ${outcome}`).sort()).toEqual([
      'b refused',
      'd started',
      'e started',
      'f started',
    ]);
    expect(incidents()).toMatchObject([
      { fibers: [{ fiber_id: 'b', refused: expect.stringContaining('/srv/gone') }] },
    ]);
    await expect(resume('nothing')).rejects.toMatchObject({ code: 'not_found' });
  });

  const NOW = { pid: 7, started_at: 100_000 };
  it.each([
    ['the same server', { started_at: 101_000, server: NOW }, 'alive'],
    ['another pid', { started_at: 99_000, server: { ...NOW, pid: 6 } }, 'replaced'],
    [
      'another start under the same pid',
      { started_at: 99_000, server: { ...NOW, started_at: 5_000 } },
      'replaced',
    ],
    ['never listed, claimed just before the server began', { started_at: 95_000 }, 'alive'],
    ['never listed, claimed long before', { started_at: 80_000 }, 'replaced'],
  ])('[P2] is told from the one that answers: %s', (_what, run, answer) => {
    expect(serverOf(run, { kind: 'alive', sessions: [], server: NOW })).toBe(answer);
    expect(serverOf(run, { kind: 'alive', sessions: [] })).toBe('alive');
    expect(serverOf(run, { kind: 'absent' })).toBe('lost');
    expect(serverOf(run, { kind: 'unknown', detail: '' })).toBe('unknown');
  });
});
