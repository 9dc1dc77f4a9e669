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
const SCHEDULE = { kind: 'standing', schedule: '"0 8 * * *"' };
const KINDS = { oneshot: {}, standing: SCHEDULE, pinned: { kind: 'pinned' } };
type Kind = keyof typeof KINDS;
const forced = () => daemon.dispatcher.dispatch({ fiber_id: 'a', force: true });

async function working(kind: Kind): Promise<void> {
  world.fiber('a', KINDS[kind]);
  await round();
  await round();
  world.clock.advance(60_000);
}

/** The daemon says that a forced start ends the worker, and is killed before it has ended it. */
async function crashBeforeTheEnd(): Promise<void> {
  world.crashIn(3);
  expect(await world.crashes(forced())).toBe(true);
  expect(world.crashed_at).toBe('end a process');
  world.crashIn(null);
  daemon = world.boot({ released: true });
  await round();
  expect(world.machine.living).toHaveLength(1);
}

/** Nobody can tell what became of the worker, so the start is refused; the worker lives on all the same. */
async function refuseTheStart(): Promise<void> {
  world.machine.kernel = 'silent';
  const end = world.machine.end;
  world.machine.end = () => {};
  const kill = world.machine.kill;
  world.machine.kill = () => 'unknown';
  expect(await world.run(forced())).toMatchObject({ dispatched: false, reason: 'mux_unavailable' });
  Object.assign(world.machine, { end, kill, kernel: 'answers' });
  await round();
  expect(world.machine.living).toHaveLength(1);
}

describe.each([
  ['whose daemon was killed first', crashBeforeTheEnd],
  ['that could not be seen to end its worker', refuseTheStart],
])('a forced start %s', (_, cutShort) => {
  it.each(Object.keys(KINDS) as Kind[])(
    '[P2] counts the later loss of the tmux server as such, and starts no %s again by itself',
    async (kind) => {
      await working(kind);
      await cutShort();
      world.machine.loseServer({ told: true });
      world.clock.advance(600_000);
      for (let turn = 0; turn < 3; turn += 1) await round();
      expect(daemon.state().incidents).toMatchObject([
        { cause: 'server_lost', fibers: [{ fiber_id: 'a', refused: null }] },
      ]);
      expect(world.machine.creates).toHaveLength(1);
    },
  );

  it.each([
    ['oneshot', 'active', 2],
    ['standing', 'closed', 1],
    ['pinned', 'open', 1],
  ] as const)('[LIF-5] leaves the later end of a %s worker what it is', async (kind, status, starts) => {
    await working(kind);
    await cutShort();
    // The refusal, where there was one, has been waited for.
    world.clock.advance(600_000);
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect([daemon.row('a')?.status, world.machine.creates.length]).toEqual([status, starts]);
  });

  it('[P5] gives way to a kill that another daemon has to settle', async () => {
    await working('oneshot');
    await cutShort();
    world.crashIn(3);
    expect(await world.crashes(daemon.dispatcher.kills.kill('a'))).toBe(true);
    world.crashIn(null);
    daemon = world.boot();
    await round();
    world.machine.exit(world.machine.worker('a'), { signal: 'SIGHUP' });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.state().pending_launch).toMatchObject([{ fiber_id: 'a', reason: 'killed' }]);
    expect(world.machine.creates).toHaveLength(1);
  });
});

it('[P5] leaves nothing to be settled of the workers that forced starts have ended', async () => {
  await working('pinned');
  for (let times = 0; times < 3; times += 1) {
    world.clock.advance(1_000);
    expect(await world.run(forced())).toMatchObject({ dispatched: true });
    expect(daemon.row('a')).toMatchObject({ status: 'active', runtime: {} });
  }
  await round();
  const states = daemon.world.runDirectories.all().map(({ state }) => state);
  expect(states).toEqual(['ended', 'ended', 'ended', 'spawned']);
  expect(daemon.row('a')).not.toHaveProperty('held');
  expect(daemon.memory.unconcluded.size).toBe(0);
});

describe('a forced start that has ended its worker', () => {
  const LEFT = { oneshot: 'active', standing: 'closed', pinned: 'open' };

  it.each(Object.keys(KINDS) as Kind[])(
    '[LIF-5] [P1] and whose daemon is killed at any later step leaves a %s with a new worker, or as its worker’s end leaves it',
    async (kind) => {
      const left = new Set<string>();
      for (let effects = 1; effects < 40; effects += 1) {
        world.dispose();
        world = new FakeWorld();
        daemon = world.boot({ released: true });
        await working(kind);
        const worker = world.machine.worker('a');
        world.crashIn(effects);
        const crashed = await world.crashes(forced());
        world.crashIn(null);
        if (!crashed) break;
        daemon = world.boot();
        for (let turn = 0; turn < 3; turn += 1) {
          await round();
          world.clock.advance(12_000);
        }
        if (worker.alive) continue;
        const { status, runtime, held } = daemon.row('a') ?? {};
        const seen = runtime === undefined ? status : 'working';
        left.add(seen ?? '');
        const step = world.crashed_at ?? '';
        expect([step, seen]).toEqual([step, world.machine.living.length > 0 ? 'working' : LEFT[kind]]);
        expect([step, held]).toEqual([
          step,
          kind === 'oneshot' && runtime === undefined ? expect.anything() : undefined,
        ]);
        expect(daemon.world.runDirectories.all().filter((one) => one.state !== 'ended')).toHaveLength(
          world.machine.living.length,
        );
      }
      expect(left).toEqual(new Set(['working', LEFT[kind]]));
    },
  );

  it.each(['standing', 'pinned'] as const)(
    '[LIF-5] and is refused then leaves a %s as its worker’s end leaves it',
    async (kind) => {
      await working(kind);
      world.machine.next = 'refuse';
      expect(await world.run(forced())).toMatchObject({ dispatched: false, reason: 'mux_unavailable' });
      await round();
      expect(daemon.row('a')).toMatchObject({ status: LEFT[kind] });
      expect(world.machine.living).toEqual([]);
    },
  );
});

it('[P1] [P4] takes no worker of an earlier daemon for running before it was seen to live', async () => {
  await working('oneshot');
  const worker = world.machine.worker('a');
  // A pane that a person opened keeps the session.
  world.machine.openPane(worker);
  world.machine.vanish(worker);
  world.machine.kernel = 'silent';
  daemon = world.boot();
  await round();
  world.machine.kernel = 'answers';
  for (let turn = 0; turn < 3; turn += 1) await round();
  expect(daemon.state().pending_launch).toMatchObject([{ fiber_id: 'a', reason: 'boot_quarantine' }]);
  expect(world.machine.creates).toHaveLength(1);
});
