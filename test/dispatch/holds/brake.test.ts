import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../../src/base/deferred.ts';
import { requireMayStart } from '../../../src/dispatch/holds/start-refusal.ts';
import { pullBrake, releaseBrake, releaseHeld } from '../../../src/dispatch/requests/brake-requests.ts';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld, LEARNING, LEASE } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const pull = (request = {}) => world.run(pullBrake(daemon, request));
const dispatch = (fiber_id: string, more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id, ...more }));

describe('the emergency brake', () => {
  const captured = async () => {
    const claim = { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null };
    const asked = { prompt: 'a note', project_dir: '/srv/dev', agent: 'demo', store: STORE, claim };
    const answer = await world.run(daemon.dispatcher.surfaces.cli.captures.capture(asked));
    if (!answer.captured) throw new Error('no capture');
    return answer.mux_session ?? '';
  };

  it('names the sessions of captures that go on without a fiber, and ends them with the workers when asked', async () => {
    world.fiber('a');
    await round();
    const session = await captured();
    expect(await pull()).toMatchObject({ captures: [session], ended_captures: [] });
    const { ends } = await pullBrake(daemon, { kill: true, dry_run: true });
    expect(ends).toContain(session);
    expect(await pull({ kill: true })).toMatchObject({
      killed: ['a'],
      captures: [],
      ended_captures: [session],
    });
    expect(world.machine.living).toEqual([]);
    expect(daemon.state().captures).toMatchObject([
      { mux_session: session, state: 'ended', ended_reason: 'kill' },
    ]);
  });

  it('tells of a capture that could not be seen to end', async () => {
    const session = await captured();
    world.machine.listing = 'unknown';
    world.machine.end = () => {};
    expect(await pull({ kill: true })).toMatchObject({ captures: [session], ended_captures: [] });
  });

  it('holds a fiber that a capture is claimed for while the captures are ended', async () => {
    world.fiber('a', {}, { status: 'open' });
    await round();
    const uid = daemon.row('a')?.uid ?? '';
    const mux_session = await captured();
    const { surfaces } = daemon.dispatcher;
    const claim = { fiber_id: 'a', surface: 'cli', mux_session } as const;
    const { endCaptures } = surfaces.cli;
    surfaces.cli.endCaptures = async (only) => {
      await surfaces.cli.claims.claim(claim);
      return endCaptures(only);
    };
    expect(await pull({ kill: true })).toMatchObject({ killed: ['a'], captures: [], ended_captures: [] });
    expect(world.machine.living).toEqual([]);
    expect(daemon.memory.quarantine.namedHoldOf(uid)?.reason).toBe('killed');
  });

  it('lets nothing new start by itself, leaves workers alone, and lets all of it start when it is let go', async () => {
    world.fiber('a');
    await round();
    world.fiber('b');
    expect(await pull({ note: 'looking into it' })).toMatchObject({
      changed: true,
      running: ['a'],
      killed: [],
      note: 'looking into it',
    });
    await round();
    await round();
    expect(world.machine.creates).toHaveLength(1);
    expect(world.machine.living).toHaveLength(1);
    expect(daemon.state()).toMatchObject({ brake: { on: true, note: 'looking into it' }, blocked: [] });
    expect(await releaseBrake(daemon, {})).toEqual({ stopped: false, changed: true, held: [] });
    await round();
    expect(world.machine.living).toHaveLength(2);
    expect(daemon.state().brake).toEqual({ on: false, since: null, note: null });
  });

  it('outlasts the end of the daemon, and keeps its first moment when it is pulled once more', async () => {
    const first = await pull({ note: 'first' });
    world.clock.advance(60_000);
    expect(await pull()).toMatchObject({ changed: false, since: first.since, note: 'first' });
    world.fiber('a');
    daemon = world.boot({ released: true });
    await round();
    expect(world.machine.creates).toEqual([]);
    expect(daemon.state().brake).toMatchObject({ on: true, since: first.since, note: 'first' });
    await releaseBrake(daemon, {});
    expect(existsSync(join(world.data_dir, 'brake.json'))).toBe(false);
    daemon = world.boot({ released: true });
    await round();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('counts as pulled when its file cannot be read', async () => {
    writeFileSync(join(world.data_dir, 'brake.json'), '{"vers');
    world.fiber('a');
    daemon = world.boot({ released: true });
    await round();
    expect([world.machine.creates.length, daemon.state().brake.on]).toEqual([0, true]);
  });

  it('[WPL-1] [ERR-17] refuses a forced start with stopped_all and no trace, unless it says that it knows', async () => {
    const path = world.fiber('a', {}, { status: 'closed' });
    const text = world.documents.files.get(path);
    await pull();
    for (const more of [{}, { force: true }, { ad_hoc: true }])
      expect(await dispatch('a', more)).toMatchObject({ dispatched: false, reason: 'stopped_all' });
    expect(await dispatch('a')).toMatchObject({
      message: expect.stringContaining('`svc dispatch a --despite-brake`'),
    });
    expect([world.documents.files.get(path), world.looked, world.ledger]).toEqual([text, [], []]);
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(await dispatch('a', { despite_brake: true })).toMatchObject({ dispatched: true });
    expect(daemon.state().brake.on).toBe(true);
  });

  it('stops a launch whose checks are still being asked', async () => {
    world.fiber('a');
    daemon.world.lookAtDirectory = async (real) => {
      daemon.memory.brake.pull(null, world.clock.now());
      return { kind: 'directory', real };
    };
    await round();
    expect([world.machine.creates.length, world.documents.writes]).toEqual([0, 0]);
    expect(daemon.row('a')?.blocked).toBeUndefined();
  });

  it('[WPL-4] ends the workers too when asked, and holds each until it is resumed or dispatched', async () => {
    world.fiber('a');
    world.fiber('b');
    await round();
    expect((await pullBrake(daemon, { kill: true, dry_run: true })).ends).toHaveLength(2);
    expect([world.machine.living.length, daemon.memory.brake.pulled]).toEqual([2, null]);
    const pulled = await pull({ kill: true });
    expect(pulled.killed.sort()).toEqual(['a', 'b']);
    expect([pulled.running, world.machine.living]).toEqual([[], []]);
    expect((await releaseBrake(daemon, {})).held.sort()).toEqual(['a', 'b']);
    await round();
    expect(world.machine.living).toEqual([]);
    expect(daemon.dispatcher.release()).toMatchObject({ pending: 0, held: [{ reason: 'killed' }, {}] });
    await round();
    expect(world.machine.living).toEqual([]);
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
    daemon.memory.quarantine.allow(daemon.row('b')?.uid ?? '');
    await round();
    expect(world.machine.living).toHaveLength(2);
  });

  it('refuses whatever else would start an agent', async () => {
    expect(() => requireMayStart(daemon.memory, null, { look: true })).not.toThrow();
    await pull({ note: 'a leak' });
    expect(() => requireMayStart(daemon.memory, null, { look: true })).toThrow(/a leak.*svc resume-all/);
  });

  it('tells of a worker that could not be seen to end', async () => {
    world.fiber('a');
    await round();
    world.machine.listing = 'unknown';
    world.machine.end = () => {};
    expect(await pull({ kill: true })).toMatchObject({
      killed: [],
      running: ['a'],
      not_killed: [{ fiber_id: 'a' }],
    });
  });
});

describe.each(['cli', 'app'] as const)('a capture on the surface %s', (surface) => {
  const CLAIM = { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null };
  const capture = () => {
    const request = { prompt: 'x', project_dir: '/srv/dev', claim: CLAIM, store: STORE, surface };
    return daemon.dispatcher.surfaces[surface].captures.capture(request);
  };
  const started = () => world.machine.creates.length + world.app.conversations.length;

  beforeEach(() => world.agents.push({ ...LEARNING, id: 'codex' }));

  it.each([
    ['the emergency brake is pulled', () => void daemon.memory.brake.pull(null, 0), 'stopped_all'],
    [
      'the lease is lost',
      () => {
        world.lease = { ...LEASE, state: 'elsewhere' };
      },
      'store_leased',
    ],
    [
      'the data folder is taken away',
      () => {
        world.data_dir_fault = 'it is gone';
      },
      'data_dir_lost',
    ],
  ])('does not start where %s while its checks are asked', async (_, stop, code) => {
    const [asked, answer] = [createDeferred<void>(), createDeferred<void>()];
    const look = daemon.world.lookAtDirectory;
    daemon.world.lookAtDirectory = async (path) => {
      asked.resolve();
      await answer.promise;
      return look(path);
    };
    const refused = expect(capture()).rejects.toMatchObject({ code });
    await asked.promise;
    stop();
    answer.resolve();
    await refused;
    expect(started()).toBe(0);
  });

  it('that is being started is waited for by the brake', async () => {
    const [begun, goOn] = [createDeferred<void>(), createDeferred<void>()];
    const held =
      <A extends unknown[], R>(start: (...args: A) => Promise<R>) =>
      async (...args: A) => {
        begun.resolve();
        await goOn.promise;
        return start(...args);
      };
    const { mux, app } = daemon.world;
    Object.assign(mux, { create: held(mux.create) });
    Object.assign(app ?? {}, { start: held(app?.start ?? (() => Promise.reject(new Error('no server')))) });
    const capturing = capture();
    await begun.promise;
    let waits = true;
    const pulled = pullBrake(daemon, {}).then(() => {
      waits = false;
    });
    await dispatch('nothing').catch(() => undefined);
    expect(waits).toBe(true);
    goOn.resolve();
    expect(await world.run(capturing)).toMatchObject({ captured: true });
    await world.run(pulled);
    expect(started()).toBe(1);
  });
});

describe('the release of what the start of the daemon holds', () => {
  it.each([{}, { dry_run: true }])(
    '[WPL-25] is refused while nobody can tell what it would start, and names the fibers then: %j',
    async (asked) => {
      world.fiber('a');
      world.documents.list();
      daemon = world.boot({ released: false });
      world.machine.listing = 'unknown';
      await expect(world.run(releaseHeld(daemon.dispatcher, asked))).rejects.toMatchObject({
        code: 'mux_unavailable',
        message: expect.stringContaining('svc doctor'),
      });
      world.machine.listing = 'normal';
      await round();
      expect(world.machine.creates).toEqual([]);
      expect(await world.run(releaseHeld(daemon.dispatcher, {}))).toMatchObject({
        pending: 1,
        fibers: ['a'],
      });
    },
  );
});
