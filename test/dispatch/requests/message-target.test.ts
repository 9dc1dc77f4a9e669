import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { messageTarget } from '../../../src/dispatch/requests/message-target.ts';
import { workerScreen } from '../../../src/dispatch/requests/worker-screen.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const target = (native_id: string) =>
  world.run(messageTarget(daemon.world, daemon.memory, { harness: 'claude', native_id }));
const screen = (mux_session: string) =>
  world.run(workerScreen(daemon.world, daemon.memory, { mux_session, history: 0, since: null }));

describe('the session of a worker that is started or ended', () => {
  it('[WPL-10] [MSG-2] is not past while its start or its end is under way', async () => {
    world.fiber('a');
    await round();
    const { session_uuid } = daemon.row('a')?.runtime ?? {};
    const { dispatcher, memory } = daemon;
    const start = dispatcher.dispatch({ fiber_id: 'a', force: true });
    while (memory.starting.size === 0) await null;
    expect(await target(session_uuid ?? '')).toMatchObject({ kind: 'moving' });
    await world.run(start);
    expect(await target(session_uuid ?? '')).toEqual({ kind: 'past' });
    const next = daemon.row('a')?.runtime?.session_uuid ?? '';
    const kill = dispatcher.kills.kill('a');
    while (memory.runs.all()[0]?.state.kind !== 'ending') await null;
    expect(await target(next)).toMatchObject({ kind: 'moving' });
    await world.run(kill);
    expect(await target(next)).toEqual({ kind: 'past' });
  });
});

describe('the session of a worker that an earlier daemon started', () => {
  it('[MSG-3] is neither past nor without a worker before tmux has told what runs, and found after it', async () => {
    world.fiber('a');
    await round();
    const { session_uuid, mux_session } = daemon.row('a')?.runtime ?? {};
    expect(await target(session_uuid ?? '')).toMatchObject({ kind: 'running' });
    world.machine.listing = 'unknown';
    daemon = world.boot({ released: true });
    expect(await target(session_uuid ?? '')).toMatchObject({ kind: 'unknown' });
    await round();
    expect(await target(session_uuid ?? '')).toMatchObject({ kind: 'unknown' });
    expect(await target('of-nobody')).toMatchObject({ kind: 'unknown' });
    expect(await screen(mux_session ?? '')).toMatchObject({ kind: 'unknown' });
    world.machine.listing = 'normal';
    await round();
    expect(await target(session_uuid ?? '')).toMatchObject({ kind: 'running', fiber_id: 'a' });
    expect(await target('of-nobody')).toEqual({ kind: 'none' });
    expect(await screen('of-nobody')).toEqual({ kind: 'no_worker' });
  });
});
