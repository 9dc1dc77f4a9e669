import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STORE } from '../../world/fake-documents.ts';
import { type Daemon, FakeWorld, LEARNING } from '../../world/fake-world.ts';

const CLAIM = { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null };
const REQUEST = { prompt: 'a thought', project_dir: '/srv/dev', claim: CLAIM };
let world: FakeWorld;
let daemon: Daemon;
let path: string;
beforeEach(() => {
  world = new FakeWorld();
  world.agents.push({ ...LEARNING, id: 'codex' });
  daemon = world.boot({ released: true });
  path = world.fiber('a', {}, { status: 'open' });
});
afterEach(() => world.dispose());

async function round(): Promise<void> {
  await world.run(daemon.round());
  await world.run(daemon.dispatcher.watchSurfaces());
}
const kinds = () => world.ledger.filter(({ fiber }) => fiber === 'a').map(({ kind }) => kind);
const text = () => world.documents.files.get(path);

/** What a claim of each kind of worker is asked with. */
const WORKERS = {
  'a capture': async () => {
    const captured = await world.run(
      daemon.dispatcher.surfaces.cli.captures.capture({ ...REQUEST, store: STORE }),
    );
    return { mux_session: captured.captured ? (captured.mux_session ?? '') : '' };
  },
  'a session that a person started': async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    return { mux_session: 'desk' };
  },
  'a capture in the app': async () => {
    await world.run(
      daemon.dispatcher.surfaces.app.captures.capture({ ...REQUEST, surface: 'app', store: STORE }),
    );
    return { surface: 'app' as const, session_uuid: world.app.only().thread_id };
  },
  'a conversation that a person began': async () => ({
    surface: 'app' as const,
    session_uuid: world.app.add().thread_id,
  }),
};
type Worker = keyof typeof WORKERS;
const ALL = Object.keys(WORKERS) as Worker[];
type Asked = { mux_session?: string; surface?: 'app'; session_uuid?: string };

const claim = (asked: Asked, fiber_id = 'a') =>
  asked.surface === 'app'
    ? daemon.dispatcher.surfaces.app.claims.claim({ fiber_id, ...asked })
    : daemon.dispatcher.surfaces.cli.claims.claim({ fiber_id, meeting: 'meet-1', ...asked });

/** A claim whose daemon is killed at this step; the next daemon has not looked at anything yet. */
async function cutShort(worker: Worker, step: string): Promise<Asked> {
  const asked = await WORKERS[worker]();
  await round();
  for (let effects = 1; effects < 20; effects += 1) {
    world.crashIn(effects);
    const crashed = await world.crashes(claim(asked));
    const { crashed_at } = world;
    world.crashIn(null);
    if (!crashed) break;
    daemon = world.boot({ released: true });
    if (crashed_at === step) return asked;
    // The claim before this step was not recorded, or it was taken back: it is asked for again.
    world.dispose();
    world = new FakeWorld();
    world.agents.push({ ...LEARNING, id: 'codex' });
    daemon = world.boot({ released: true });
    path = world.fiber('a', {}, { status: 'open' });
    Object.assign(asked, await WORKERS[worker]());
    await round();
  }
  throw new Error(`no claim of ${worker} comes by "${step}"`);
}

describe('a claim whose daemon was killed before the document had it', () => {
  it.each(ALL)('[WPL-5] [P1] [FIB-9] is made by the next daemon for %s', async (worker) => {
    const asked = await cutShort(worker, 'write the document');
    expect(text()).not.toContain('run_id');
    await round();
    const { runtime, svc } = daemon.row('a') ?? {};
    expect(runtime).toMatchObject({ state: expect.stringMatching(/^(starting|running)$/) });
    expect(svc?.runtime).toMatchObject({
      run_id: runtime?.run_id,
      dispatched_at: new Date(runtime?.started_at ?? 0).toISOString(),
      ...(asked.surface === 'app' ? { thread_id: asked.session_uuid } : { meeting: 'meet-1' }),
    });
    await round();
    expect(kinds()).toEqual(['claim']);
    expect(await world.run(claim(asked))).toMatchObject({ claimed: true, already_claimed: true });
    daemon = world.boot({ released: true });
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ run_id: runtime?.run_id });
    expect(kinds()).toEqual(['claim']);
    expect(world.machine).toMatchObject({ kills: [], ended: [] });
    expect(world.app.interrupts).toEqual([]);
  });

  it.each(ALL)('[WPL-5] [P13] keeps the fiber for %s while its document is locked', async (worker) => {
    await cutShort(worker, 'write the document');
    world.documents.edit(path, (before) => before.replace('status: open', 'status: active'));
    world.documents.locked = true;
    const creates = world.machine.creates.length;
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('a')).toMatchObject({ status: 'active', runtime: { state: 'claimed' } });
    expect(kinds()).toEqual([]);
    world.documents.locked = false;
    await round();
    expect(daemon.row('a')?.svc?.runtime?.run_id).toBe(daemon.row('a')?.runtime?.run_id);
    expect(world.machine.creates).toHaveLength(creates);
  });

  it.each(['a capture', 'a session that a person started'] as const)(
    '[WPL-5] [STD-1] [LIF-5] was never made when %s has ended since',
    async (worker) => {
      await cutShort(worker, 'write the document');
      for (const one of world.machine.byHand) one.alive = false;
      for (const one of world.machine.living) world.machine.exit(one, { code: 0 });
      // An armed role is held by the start of the daemon, and awaits no review of a run that it never had.
      world.documents.edit(path, (before) =>
        before.replace('status: open', 'status: active').replace('oneshot', 'pinned'),
      );
      daemon = world.boot();
      const before = text();
      await round();
      expect(text()).toBe(before);
      expect(daemon.state().running).toEqual([]);
      expect(kinds()).toEqual([]);
      expect(daemon.state().captures).toMatchObject(worker === 'a capture' ? [{ state: 'ended' }] : []);
    },
  );

  it('[WPL-5] is taken back where the fiber belongs to another host by now; its capture can be claimed for another', async () => {
    const asked = await cutShort('a capture', 'write the document');
    world.documents.edit(path, (before) => before.replace('host: host-a', 'host: host-b'));
    await round();
    expect(text()).not.toContain('run_id');
    expect(daemon.state()).toMatchObject({ running: [], captures: [{ ...asked, state: 'running' }] });
    world.fiber('b', {}, { status: 'open' });
    expect(await world.run(claim(asked, 'b'))).toMatchObject({ claimed: true, already_claimed: false });
    await round();
    expect(daemon.state()).toMatchObject({ running: [{ fiber_id: 'b' }], captures: [] });
  });
});

describe('a claim whose daemon was killed after the document had it', () => {
  it('[WPL-5] [LIF-5] was made, and its end is that of a worker', async () => {
    await cutShort('a session that a person started', 'the document is written');
    world.documents.edit(path, (before) =>
      before.replace('status: open', 'status: active').replace('oneshot', 'pinned'),
    );
    for (const one of world.machine.byHand) one.alive = false;
    await round();
    expect(daemon.row('a')?.status).toBe('open');
    expect(kinds()).toEqual(['claim', 'ended']);
    expect(world.machine.creates).toEqual([]);
  });
});
