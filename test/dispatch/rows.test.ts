import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, FakeWorld } from './world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const why = (id: string) => daemon.dispatcher.why(id, { look: false });

describe('what time alone moves in a row', () => {
  it('moves without a tick: a worker that was quiet for long is not shown to work', async () => {
    world.fiber('a');
    await round();
    const [run] = daemon.memory.runs.all();
    world.writesTranscript(run!.launch_id, run!.session_uuid ?? '');
    await round();
    daemon.rows.refreshStale([]);
    expect(daemon.row('a')?.runtime?.phase).toBe('working');
    world.clock.advance(121_000);
    daemon.rows.refreshStale([]);
    expect(daemon.row('a')?.runtime).toEqual((await why('a')).runtime);
    expect(daemon.row('a')?.runtime?.phase).toBe('unknown');
  });

  it('moves when a reason that all fibers share begins or ends', async () => {
    world.fiber('a');
    daemon.rows.refreshAll([]);
    daemon.memory.brake.pull('a test', world.clock.now());
    daemon.memory.mux_answers = true;
    daemon.rows.refreshStale([]);
    expect([daemon.row('a')?.gate, (await why('a')).first?.gate]).toEqual(['stopped_all', 'stopped_all']);
    daemon.memory.brake.release();
    daemon.rows.refreshStale([]);
    expect([daemon.row('a')?.gate, (await why('a')).first?.gate]).toEqual([undefined, undefined]);
  });

  it('moves back with a clock that is turned back', async () => {
    world.fiber('role', { kind: 'standing', schedule: '"0 8 * * *"' });
    daemon.memory.mux_answers = true;
    daemon.rows.refreshAll([]);
    world.clock.jumpTo(world.clock.now() - 48 * 3_600_000);
    daemon.rows.refreshStale([]);
    expect(daemon.row('role')?.gate).toBe((await why('role')).first?.gate);
  });
});

describe('the row of a document that is moved while its worker runs', () => {
  it('has the worker once the old place is seen to be empty, without a tick', async () => {
    const old = world.fiber('a');
    await round();
    const { files, index } = world.documents;
    const look = (path: string) => {
      index.refresh(path, (at) => world.documents.row(at));
      daemon.rows.documentsMoved([path]);
    };
    const text = files.get(old)!;
    const moved = old.replaceAll('/a', '/b');
    files.set(moved, text);
    look(moved);
    expect(daemon.row('b')?.runtime).toBeUndefined();
    world.documents.remove(old);
    look(old);
    expect(daemon.row('b')?.runtime).toEqual((await why('b')).runtime);
    expect(daemon.row('b')?.runtime?.run_id).toBe(daemon.memory.runs.all()[0]?.run_id);
    expect(daemon.memory.runs.all()).toHaveLength(1);
  });
});

describe('a daemon that has not looked yet which workers run', () => {
  /** A second daemon beside workers that run and a fiber that waits; it has listed its stores, and nothing else. */
  async function listed(): Promise<void> {
    daemon = world.boot({ released: false });
    world.fiber('waits');
    world.documents.list();
    daemon.rows.refreshAll([]);
  }

  it('[OPR-2] tells of no worker that it died, and of no fiber that it is held', async () => {
    world.fiber('a');
    await round();
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    await listed();
    const unknown = { runtime: undefined, held: undefined, last_death: undefined };
    expect(daemon.row('a')).toMatchObject({ status: 'active' });
    expect({ ...unknown, ...daemon.row('a') }).toMatchObject(unknown);
    expect(daemon.state()).toMatchObject({ deaths: [], pending_launch: [], boot_quarantine: { held: 0 } });
    await round();
    expect(daemon.row('a')?.runtime).toBeDefined();
    expect(daemon.state().pending_launch).toMatchObject([{ fiber_id: 'waits' }]);
  });

  it('[DSP-1] has a cold feed, so that nobody takes its rows for the state of the workers', async () => {
    await listed();
    expect(daemon.feed.state).toBe('cold');
    daemon.rows.lookedAtWorkers([]);
    expect(daemon.feed.state).toBe('fresh');
  });
});
