import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MuxListing } from '../../../../src/mux/mux.ts';
import { STORE } from '../../world/fake-documents.ts';
import { type Daemon, FakeWorld, HOST } from '../../world/fake-world.ts';

const REQUEST = {
  prompt: 'Make it faster.',
  project_dir: '/srv/dev',
  claim: { url: 'http://127.0.0.1:4000/api/v1/claim', socket: null },
};
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const claim = (fiber_id: string, mux_session: string, more = {}) =>
  world.run(daemon.dispatcher.surfaces.cli.claims.claim({ fiber_id, mux_session, ...more }));

async function capture(more = {}): Promise<{ mux_session: string; run_id: string; session_uuid?: string }> {
  const captured = await world.run(
    daemon.dispatcher.surfaces.cli.captures.capture({ ...REQUEST, ...more, store: STORE }),
  );
  if (!captured.captured || captured.mux_session === null) throw new Error('refused');
  return { ...captured, mux_session: captured.mux_session };
}

/** A plain document as `svc fiber add` leaves it. */
function draft(id: string): void {
  world.documents.write(id, `id: ${world.ulid()}\nname: ${id}\nstatus: open`);
  world.documents.list();
}

describe('a claim by a capture', () => {
  it('[WPL-5] [CAP-5] [WRK-1] [WRK-2] [WRK-3] makes its session the worker of the fiber', async () => {
    const { mux_session, session_uuid, run_id } = await capture();
    draft('work/loader');
    expect(await claim('work/loader', mux_session)).toEqual({
      claimed: true,
      already_claimed: false,
      fiber_id: 'work/loader',
      host: HOST,
      surface: 'cli',
      mux_session,
      session_uuid,
      run_id,
      agent: 'demo',
      harness: 'claude',
    });
    world.writesTranscript(run_id, session_uuid ?? '');
    await round();
    const row = daemon.row('work/loader');
    expect(row?.runtime).toMatchObject({ surface: 'cli', mux_session, session_uuid, state: 'running' });
    expect(row?.status).toBe('open');
    expect(row?.svc).toMatchObject({ kind: 'oneshot', host: HOST, agent: 'demo', project_dir: '/srv/dev' });
    expect(row?.svc?.runtime).toMatchObject({
      session_uuid,
      run_id,
      harness: 'claude',
      dispatched_at: new Date(row?.runtime?.started_at ?? 0).toISOString(),
    });
    expect(daemon.state()).toMatchObject({ captures: [], running: [{ fiber_id: 'work/loader' }] });
    expect(world.ledger.map(({ kind, fiber, session, agent }) => ({ kind, fiber, session, agent }))).toEqual([
      { kind: 'capture', fiber: null, session: session_uuid, agent: 'demo' },
      { kind: 'claim', fiber: 'work/loader', session: session_uuid, agent: 'demo' },
    ]);
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[WPL-5] [P13] has nobody else launched for the fiber when it is armed afterwards', async () => {
    const { mux_session } = await capture();
    draft('a');
    await claim('a', mux_session);
    world.documents.edit(daemon.row('a')?.path ?? '', (text) =>
      text.replace('status: open', 'status: active'),
    );
    await round();
    await round();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[WPL-5] once more is success, and completes what a daemon that died in it had left out', async () => {
    const { mux_session, run_id } = await capture();
    draft('a');
    const first = await claim('a', mux_session);
    expect(await claim('a', mux_session)).toEqual({ ...first, already_claimed: true });
    const path = daemon.row('a')?.path ?? '';
    world.documents.edit(path, (text) => text.replace(/^svc:[\s\S]*?(?=^\S)/m, ''));
    await round();
    await claim('a', mux_session);
    expect(daemon.row('a')?.svc?.runtime?.run_id).toBe(run_id);
    expect(world.ledger.filter(({ kind }) => kind === 'claim')).toHaveLength(1);
  });

  it('[FIB-11] [WPL-5] stamps the recording it carries, also on a claim made before', async () => {
    const { mux_session } = await capture();
    draft('a');
    await claim('a', mux_session, { meeting: 'meet-1' });
    expect(daemon.row('a')?.svc?.runtime?.meeting).toBe('meet-1');
    await claim('a', mux_session);
    expect(daemon.row('a')?.svc?.runtime?.meeting).toBe('meet-1');
    await claim('a', mux_session, { meeting: 'meet-2' });
    expect(daemon.row('a')?.svc?.runtime?.meeting).toBe('meet-2');
  });

  it('[WPL-5] is refused where the session belongs to another fiber', async () => {
    const { mux_session } = await capture();
    draft('a');
    draft('b');
    await claim('a', mux_session);
    await expect(claim('b', mux_session)).rejects.toMatchObject({ code: 'session_claimed' });
    expect(daemon.row('b')?.runtime).toBeUndefined();
    expect(daemon.row('b')?.svc).toBeUndefined();
  });

  it('[WPL-5] is refused for a fiber that has another worker, and the capture stays unclaimed', async () => {
    const { mux_session } = await capture();
    world.fiber('a');
    await round();
    const worker = daemon.row('a')?.runtime?.mux_session ?? '';
    await expect(claim('a', mux_session)).rejects.toMatchObject({
      code: 'worker_exists',
      message: expect.stringContaining(worker),
    });
    expect(daemon.state().captures).toMatchObject([{ mux_session, state: 'running' }]);
    expect(world.machine.kills).toEqual([]);
    expect(world.machine.ended).toEqual([]);
  });

  it('[WPL-5] [P13] against a launch under way has one winner', async () => {
    const { mux_session } = await capture();
    const path = world.fiber('a');
    world.machine.latency_ms = 40;
    const [, claimed] = await world.run(
      Promise.allSettled([
        daemon.dispatcher.dispatch({ fiber_id: 'a' }),
        daemon.dispatcher.surfaces.cli.claims.claim({ fiber_id: 'a', mux_session }),
      ]),
    );
    expect(claimed).toMatchObject({ status: 'rejected', reason: { code: 'worker_exists' } });
    expect(world.machine.living).toHaveLength(2);
    expect(daemon.row('a')).toMatchObject({ path, runtime: { mux_session: expect.stringMatching(/-svc$/) } });
  });

  it('[WPL-5] is taken back when the document cannot be written', async () => {
    const { mux_session, run_id } = await capture();
    draft('a');
    world.documents.locked = true;
    await expect(claim('a', mux_session)).rejects.toMatchObject({ code: 'locked' });
    expect(existsSync(join(world.data_dir, 'runs', run_id, 'run.json'))).toBe(false);
    expect(daemon.state()).toMatchObject({ running: [], captures: [{ mux_session }] });
    world.documents.locked = false;
    expect(await claim('a', mux_session)).toMatchObject({ claimed: true, already_claimed: false });
  });

  it('[P1] [WPL-5] is adopted by the next daemon; its end is noticed, and a handoff is told from a death', async () => {
    const { mux_session } = await capture();
    world.fiber('a', {}, { status: 'open' });
    await claim('a', mux_session);
    daemon = world.boot({ released: true });
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ mux_session });
    expect(daemon.state().captures).toEqual([]);
    world.machine.exit(world.machine.worker('capture'), { code: 0 });
    await round();
    expect(daemon.row('a')?.runtime).toBeUndefined();
    expect(world.logs).toContainEqual(
      expect.objectContaining({ msg: 'a worker ended', session: mux_session }),
    );
  });

  it('[WPL-4] is ended by a kill of its fiber', async () => {
    const { mux_session } = await capture();
    world.fiber('a', {}, { status: 'open' });
    await claim('a', mux_session);
    await world.run(daemon.dispatcher.kills.kill('a'));
    expect(world.machine.living).toEqual([]);
    expect(daemon.row('a')?.runtime).toBeUndefined();
  });

  it('[P1] at whatever step its daemon is killed, leaves one worker and a claim that can be made again', async () => {
    for (let effect = 1; effect < 30; effect += 1) {
      world.dispose();
      world = new FakeWorld();
      daemon = world.boot({ released: true });
      const { mux_session } = await capture();
      world.fiber('a', {}, { status: 'open' });
      await round();
      world.crashIn(effect);
      const crashed = await world.crashes(
        daemon.dispatcher.surfaces.cli.claims.claim({ fiber_id: 'a', mux_session }),
      );
      world.crashIn(null);
      const step = world.crashed_at ?? 'the end';
      daemon = world.boot();
      await round();
      expect(await claim('a', mux_session), step).toMatchObject({ claimed: true });
      expect(daemon.row('a')?.runtime?.mux_session, step).toBe(mux_session);
      expect(daemon.row('a')?.svc?.runtime?.run_id, step).toBe(daemon.row('a')?.runtime?.run_id);
      expect(world.ledger.filter(({ kind }) => kind === 'claim').length, step).toBeGreaterThan(0);
      expect(world.machine.creates, step).toHaveLength(1);
      if (!crashed) return;
    }
    throw new Error('there is no end of effects');
  });
});

describe('a claim of a session that a person started', () => {
  it('[WPL-5] [P16] gets its id and its phase from the hooks of a session that a person started', async () => {
    world.machine.startServer();
    world.fiber('a', {}, { status: 'open' });
    world.machine.startByHand('desk', ['/opt/demo']);
    await round();
    await claim('a', 'desk');
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ session_uuid: null, phase: 'unknown' });
    const launch_id = daemon.memory.runs.all()[0]?.launch_id ?? '';
    const { server, sessions } = world.machine.list() as Extract<MuxListing, { kind: 'alive' }>;
    const pane = sessions.find(({ name }) => name === 'desk')?.panes[0]?.id.slice(1);
    const named = readFileSync(join(world.data_dir, 'claimed', `${server?.pid}-${pane}`), 'utf8');
    expect(named.trim()).toBe(launch_id);
    const at = world.clock.now();
    const sign = { at, session: 'conversation-1', phase: 'waiting', said: 'asks to use Bash' };
    appendFileSync(join(world.data_dir, 'runs', launch_id, 'phases.jsonl'), `${JSON.stringify(sign)}\n`);
    await round();
    expect(daemon.row('a')).toMatchObject({
      runtime: { session_uuid: 'conversation-1', phase: 'waiting', said: sign.said, phase_since: at },
      svc: { runtime: { session_uuid: 'conversation-1' } },
    });
    expect(world.ledger.at(-1)).toMatchObject({ kind: 'learned', session: 'conversation-1' });
    const why = await daemon.dispatcher.why('a', { look: false });
    expect(why.gates.find(({ gate }) => gate === 'running')?.message).toContain('asks to use Bash');
  });

  it('[WPL-5] adopts the agent that runs in it: starts, names and interrupts nothing', async () => {
    world.machine.startByHand('desk', ['/usr/bin/node', '--no-warnings', '/opt/demo', '-x']);
    world.fiber('a', {}, { status: 'open' });
    expect(await claim('a', 'desk', { session_uuid: 'conversation-1' })).toMatchObject({
      mux_session: 'desk',
      session_uuid: 'conversation-1',
      agent: 'demo',
    });
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ mux_session: 'desk', state: 'running' });
    expect(world.machine).toMatchObject({ creates: [], kills: [], ended: [] });
    world.documents.edit(daemon.row('a')?.path ?? '', (text) =>
      text.replace('status: open', 'status: active'),
    );
    await round();
    expect(world.machine.creates).toEqual([]);
    daemon = world.boot({ released: true });
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ mux_session: 'desk', state: 'running' });
  });

  it('[WPL-4] [WPL-5] a kill ends the agent and leaves the session to the person', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.fiber('a', {}, { status: 'open' });
    await claim('a', 'desk');
    await world.run(daemon.dispatcher.kills.kill('a'));
    expect(world.machine.byHand).toMatchObject([{ alive: false }]);
    expect(world.machine.kills).toEqual([]);
    expect(world.machine.others.map(({ name }) => name)).toContain('desk');
    expect(daemon.row('a')?.runtime).toBeUndefined();
  });

  it('[WPL-5] its end is that of the agent, not of the session', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.fiber('a', {}, { status: 'open' });
    await claim('a', 'desk');
    for (const one of world.machine.byHand) one.alive = false;
    await round();
    expect(daemon.row('a')?.runtime).toBeUndefined();
    expect(await claim('a', 'desk').catch((error) => error.code)).toBe('no_agent_in_session');
  });

  it('[WPL-5] is not noted as a start without a transcript', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.fiber('a', {}, { status: 'open' });
    await claim('a', 'desk');
    world.clock.advance(200_000);
    await round();
    expect(daemon.row('a')?.blocked).toBeUndefined();
  });

  it.each([
    ['no_agent_in_session', 'shell', ['-bash']],
    ['no_agent_in_session', 'shell', ['vim', '/opt/demo']],
    ['session_not_found', 'elsewhere', ['/opt/demo']],
    ['not_a_worker_session', 'svc-anchor', ['/opt/demo']],
    ['not_a_worker_session', 'resume-0198c0de-0000-4000-8000-000000000001', ['/opt/demo']],
    ['session_claimed', 'other-01K00000000000000000009999-svc', ['/opt/demo']],
  ])('[WPL-5] [DSP-10] is refused with %s for %s running %j', async (code, name, argv) => {
    world.machine.startByHand(name === 'elsewhere' ? 'desk' : name, argv);
    world.fiber('a', {}, { status: 'open' });
    await expect(claim('a', name)).rejects.toMatchObject({ code });
    expect(daemon.row('a')?.runtime).toBeUndefined();
    const runs = join(world.data_dir, 'runs');
    expect(existsSync(runs) ? readdirSync(runs) : []).toEqual([]);
  });

  it('[WPL-5] names the command that lists the sessions where the named one is missing', async () => {
    world.fiber('a', {}, { status: 'open' });
    const missing = 'there is no session nope on the tmux server of this daemon';
    await expect(claim('a', 'nope')).rejects.toThrow(`${missing}; \`tmux ls\` lists its sessions`);
    Object.assign(daemon.world.settings, { tmux_socket: '/srv/my tmux.sock' });
    await expect(claim('a', 'nope')).rejects.toThrow(
      `${missing}; \`tmux -S '/srv/my tmux.sock' ls\` lists its sessions`,
    );
  });

  it('[WPL-5] is refused for a fiber of another host, and for one of the app surface', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.fiber('far', { host: 'host-b' });
    world.fiber('app', { surface: 'app' }, { status: 'open' });
    await expect(claim('far', 'desk')).rejects.toMatchObject({ code: 'arm_refused' });
    await expect(claim('app', 'desk')).rejects.toMatchObject({ code: 'surface_unsupported' });
  });

  it('[WPL-5] waits for no guess: when the kernel does not tell, nothing is claimed', async () => {
    world.machine.startByHand('desk', ['/opt/demo']);
    world.fiber('a', {}, { status: 'open' });
    await round();
    world.machine.kernel = 'silent';
    await expect(claim('a', 'desk')).rejects.toMatchObject({ code: 'mux_unavailable' });
    expect(daemon.row('a')?.runtime).toBeUndefined();
  });
});
