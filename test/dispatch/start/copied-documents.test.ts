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
const dispatch = (fiber_id: string) => world.run(daemon.dispatcher.dispatch({ fiber_id }));
const why = (id: string) => world.run(daemon.dispatcher.why(id, { look: true }));
/** Copies a document with all that is in it, as `cp -r` of its folder does; answers the path of the copy. */
const copy = (path: string, id: string) => {
  const to = path.replaceAll('/a', `/${id}`);
  world.documents.files.set(to, world.documents.files.get(path)!);
  return to;
};

describe('a document that was copied with its ULID', () => {
  it('[DSP-9] keeps the worker that was started for it, and nothing of that is told of the copy', async () => {
    const path = world.fiber('a');
    await round();
    expect(world.machine.creates).toHaveLength(1);
    const twin = copy(path, 'b');
    await round();
    const [a, b] = [daemon.row('a')!, daemon.row('b')!];
    expect([a.twins, b.twins]).toEqual([[twin], [path]]);
    expect(a.runtime).toMatchObject({ mux_session: world.machine.worker('a').session.name });
    expect([b.runtime, b.last_death]).toEqual([undefined, undefined]);

    expect(await why('a')).toMatchObject({ verdict: 'running', twins: [twin] });
    const told = await why('b');
    expect(told).toMatchObject({ verdict: 'waits', twins: [path] });
    expect(told.runtime).toBeUndefined();
    expect(JSON.stringify(told)).toContain(`svc fiber new-id ${twin}`);

    expect(await dispatch('a')).toMatchObject({ dispatched: true, already_running: true });
    expect(await dispatch('b')).toMatchObject({ dispatched: false, reason: 'ambiguous_fiber' });
    await expect(world.run(daemon.dispatcher.kills.kill('b'))).rejects.toMatchObject({
      code: 'no_worker',
    });
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[DSP-9] has its past back once the copy is gone, and the copy never had it', async () => {
    const path = world.fiber('a');
    await round();
    const twin = copy(path, 'b');
    await round();
    world.machine.exit(world.machine.worker('a'), { code: 3 });
    await round();
    await round();
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.row('b')).not.toHaveProperty('last_death');
    world.documents.remove(twin);
    world.documents.list();
    await round();
    expect(daemon.row('b')).toBeUndefined();
    expect(daemon.row('a')?.twins).toBeUndefined();
    expect(daemon.row('a')?.last_death).toMatchObject({ code: 3 });
  });

  it('[DSP-9] stays with its worker over a restart of the daemon', async () => {
    const path = world.fiber('a');
    await round();
    copy(path, 'b');
    daemon = world.boot({ released: true });
    await round();
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ mux_session: world.machine.worker('a').session.name });
    expect(daemon.row('b')?.runtime).toBeUndefined();
    expect(world.machine.creates).toHaveLength(1);
  });
});
