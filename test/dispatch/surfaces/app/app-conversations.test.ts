import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dispatched } from '../../../../src/contract/http/dispatch.ts';
import type { AppTurn } from '../../../../src/harness/app-server/turn.ts';
import { type Daemon, FakeWorld } from '../../world/fake-world.ts';

let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
});
afterEach(() => world.dispose());

const APP = { surface: 'app', agent: 'learning' };

function dispatch(daemon: Daemon, fiber_id: string, more: Record<string, unknown> = {}) {
  return world.run(daemon.dispatcher.dispatch({ fiber_id, ...more }));
}

/** One round of the daemon with a look at its app conversations. */
async function round(daemon: Daemon): Promise<void> {
  await world.run(daemon.round());
  await world.run(daemon.dispatcher.watchSurfaces());
}

async function dispatched(daemon: Daemon, fiber_id: string): Promise<Dispatched> {
  const answer = await dispatch(daemon, fiber_id);
  if (!answer.dispatched) throw new Error(answer.message);
  return answer;
}

function runtimeOf(daemon: Daemon, id: string) {
  return daemon.row(id)?.svc?.runtime;
}

function handOff(fiber: string): Promise<unknown> {
  world.clock.advance(1);
  const documents = world.documents.seenBy(
    () => {},
    () => {},
  );
  return world.run(
    documents.change(documents.find(fiber), () => ({
      set: { 'svc.runtime.handed_off_at': new Date(world.clock.now()).toISOString() },
      unset: [],
    })),
  );
}

describe('an app conversation', () => {
  it('[P15] is told by why as it is: still assigned, its server not answering, or confirmed missing', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    await dispatched(daemon, 'a');
    await round(daemon);
    const { thread_id } = world.app.only();
    const why = async () => (await world.run(daemon.dispatcher.why('a', { look: true }))).first;
    expect(await why()).toMatchObject({
      gate: 'running',
      message: `the app conversation ${thread_id} is still assigned to it`,
      mend: expect.stringContaining('in the app'),
    });
    world.app.up = false;
    expect(await why()).toMatchObject({ message: expect.stringContaining('the app server does not answer') });
    world.app.up = true;
    world.app.forget(thread_id);
    await round(daemon);
    expect(await why()).toMatchObject({
      message: expect.stringContaining('was asked for it and has none'),
      mend: expect.stringContaining('svc dispatch a'),
    });
  });

  it('[APP-1] that is confirmed missing is no worker of which a dispatch says that it ended it', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const { thread_id } = await dispatched(daemon, 'a');
    await round(daemon);
    world.app.forget(thread_id ?? '');
    await round(daemon);
    const reply = await dispatched(daemon, 'a');
    expect(reply).toMatchObject({ already_running: false });
    expect(reply.thread_id).not.toBe(thread_id);
    expect(reply.notes).toBeUndefined();
  });

  describe('whose last turn failed', () => {
    const failed = { failed: true, error: 'the model is at capacity', said: 'Reading.' };
    const why = async (daemon: Daemon) =>
      (await world.run(daemon.dispatcher.why('a', { look: true }))).first?.message;
    const fails = async (daemon: Daemon, last_turn: AppTurn) => {
      world.fiber('a', { ...APP });
      await dispatched(daemon, 'a');
      Object.assign(world.app.only(), { phase: 'waiting', updated_at: 1_000, last_turn });
      await round(daemon);
    };

    it('[APP-1] asks for a person, with the reason in its row, in why and at its end in the ledger', async () => {
      const daemon = world.boot({ released: true });
      await fails(daemon, failed);
      expect(daemon.row('a')?.runtime).toMatchObject({ phase: 'attention', said: failed.error });
      expect(await why(daemon)).toContain('still assigned to it, and its last turn failed: the model is at');
      await world.run(daemon.dispatcher.kills.kill('a'));
      expect(world.ledger.at(-1)).toMatchObject({
        kind: 'ended',
        reason: 'kill',
        detail: `its last turn failed: ${failed.error}`,
      });
    });

    it('says so where the app server gives no reason', async () => {
      const daemon = world.boot({ released: true });
      await fails(daemon, { ...failed, error: null });
      expect(daemon.row('a')?.runtime).toMatchObject({ phase: 'attention', said: 'Reading.' });
      expect(await why(daemon)).toContain('its last turn failed: the app server does not say why');
    });

    it('is told again by the next daemon, and not any more once a turn runs', async () => {
      await fails(world.boot({ released: true }), failed);
      const next = world.boot({ released: true });
      await round(next);
      await round(next);
      expect(next.row('a')?.runtime).toMatchObject({ phase: 'attention', said: failed.error });
      Object.assign(world.app.only(), { phase: 'working', updated_at: 2_000 });
      await round(next);
      expect(next.row('a')?.runtime).toMatchObject({ phase: 'working', said: null });
      await world.run(next.dispatcher.kills.kill('a'));
      expect(world.ledger.at(-1)).toMatchObject({ kind: 'ended', reason: 'kill' });
      expect(world.ledger.at(-1)).not.toHaveProperty('detail');
    });

    it('says that nothing is known of the last turn of a conversation that its server has lost', async () => {
      const daemon = world.boot({ released: true });
      await fails(daemon, failed);
      world.app.forget(world.app.only().thread_id);
      await round(daemon);
      await world.run(daemon.dispatcher.kills.kill('a'));
      expect(world.ledger.at(-1)?.detail).toMatch(/has none, and how its last turn ended is not known/);
    });

    it('is asked for again while the server tells of a failure and not yet of the turn that failed', async () => {
      const daemon = world.boot({ released: true });
      await fails(daemon, { failed: false, error: null, said: null });
      Object.assign(world.app.only(), { phase: 'attention', updated_at: 2_000 });
      await round(daemon);
      expect(daemon.row('a')?.runtime).toMatchObject({ phase: 'attention', said: null });
      Object.assign(world.app.only(), { last_turn: failed });
      await round(daemon);
      expect(daemon.row('a')?.runtime).toMatchObject({ phase: 'attention', said: failed.error });
    });

    it('is asked for once, and not at each look', async () => {
      const daemon = world.boot({ released: true });
      await fails(daemon, failed);
      const asked = () => world.app.asked.filter((what) => what === 'lastTurn').length;
      const before = asked();
      for (let rounds = 0; rounds < 3; rounds += 1) await round(daemon);
      expect(asked()).toBe(before);
    });
  });

  it('[CAP-7] [ERR-24] that cannot be begun is told by why with what its server lacks', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    world.app.up = false;
    await world.run(daemon.dispatcher.reconcile());
    const { first } = await world.run(daemon.dispatcher.why('a', { look: true }));
    expect(first).toMatchObject({ gate: 'agent_program', reason: 'app_server_unavailable' });
  });

  it('[WPL-1] [CAP-5] [FIB-8] [WRK-1] [WRK-2] [WRK-3] [WRK-4] [WRK-6] [WRK-7] is begun by a dispatch that says who it is', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP }, { status: 'open' });
    const answer = await dispatch(daemon, 'a', { user_message: 'hurry' });
    const { thread_id, settings, messages } = world.app.only();
    expect(answer).toMatchObject({
      dispatched: true,
      already_running: false,
      surface: 'app',
      mux_session: null,
      thread_id,
      session_uuid: thread_id,
      transcript_session_uuid: thread_id,
      project_id: '/srv/dev',
      desktop_link: `codex://threads/${thread_id}`,
    });
    expect(settings?.project_dir).toBe('/srv/dev');
    expect(settings?.env).toMatchObject({ SVC_FIBER: 'a', SVC_SURFACE: 'app' });
    expect(messages).toHaveLength(1);
    expect(messages[0]?.text.split('\n')).toEqual(
      expect.arrayContaining(['Fiber: a', 'Surface: app', 'hurry']),
    );
    await round(daemon);
    expect(runtimeOf(daemon, 'a')).toMatchObject({ thread_id, session_uuid: thread_id, harness: 'codex' });
    expect(daemon.row('a')?.runtime).toMatchObject({ surface: 'app', mux_session: null, thread_id });
    expect(world.machine.creates).toEqual([]);
  });

  it('[WRK-5] [WRK-8] keeps the transcript of a fork apart from its thread in the ledger and in answers', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const { thread_id, run_id } = await dispatched(daemon, 'a');
    const transcript = '01a1ffff-0000-7000-8000-000000000001';
    world.app.only().transcript_session_uuid = transcript;
    await round(daemon);
    expect(daemon.row('a')?.runtime).toMatchObject({
      thread_id,
      session_uuid: thread_id,
      transcript_session_uuid: transcript,
    });
    expect(world.ledger).toMatchObject([
      { fiber: 'a', session: thread_id, thread_id, mux: null, kind: 'dispatch', run_id },
      { fiber: 'a', session: transcript, thread_id, mux: null, kind: 'learned', run_id },
    ]);
  });

  it('[APP-1] is working, waiting or in need of attention, and stays assigned while it waits for a reply', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const { thread_id } = await dispatched(daemon, 'a');
    for (const phase of ['working', 'waiting', 'attention'] as const) {
      world.app.phase(thread_id ?? '', phase);
      await round(daemon);
      expect(daemon.row('a')?.runtime).toMatchObject({ state: 'running', phase });
    }
    world.app.phase(thread_id ?? '', 'waiting');
    for (let rounds = 0; rounds < 3; rounds += 1) await round(daemon);
    expect(world.app.only().messages).toHaveLength(1);
    expect(await dispatch(daemon, 'a')).toMatchObject({ dispatched: true, already_running: true, thread_id });
  });

  it('[APP-1] [P15] is unknown while its server is down, which launches nothing and marks nothing as missing', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    await dispatched(daemon, 'a');
    world.app.up = false;
    for (let rounds = 0; rounds < 3; rounds += 1) await round(daemon);
    expect(daemon.row('a')).toMatchObject({ runtime: { state: 'unknown', phase: 'unknown' } });
    expect(daemon.row('a')?.blocked).toBeUndefined();
    world.app.restart();
    await round(daemon);
    expect(daemon.row('a')?.runtime).toMatchObject({ state: 'running', phase: 'waiting' });
    expect(world.app.only().messages).toHaveLength(1);
  });

  it('[APP-1] [P15] is blocked when the server says that this very conversation does not exist, and until it is found again', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const { thread_id } = await dispatched(daemon, 'a');
    const kept = world.app.only();
    world.app.forget(thread_id ?? '');
    for (let rounds = 0; rounds < 3; rounds += 1) await round(daemon);
    expect(daemon.row('a')?.blocked).toMatchObject({
      reason: 'conversation_missing',
      attempts: 1,
      retry_at: null,
    });
    expect(daemon.row('a')?.runtime).toMatchObject({ state: 'unknown', phase: 'unknown', thread_id });
    expect(world.app.conversations).toEqual([]);
    world.app.conversations.push(kept);
    await round(daemon);
    expect(daemon.row('a')?.blocked).toBeUndefined();
    world.app.forget(thread_id ?? '');
    await round(daemon);
    const again = await dispatched(daemon, 'a');
    expect(again.thread_id).not.toBe(thread_id);
  });

  it('[RES-5] is resumed after a kill however old it is, and begun again after a handoff', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const first = await dispatched(daemon, 'a');
    await world.run(daemon.dispatcher.kills.kill('a'));
    world.clock.advance(30 * 24 * 3_600_000);
    const second = await dispatched(daemon, 'a');
    expect(second).toMatchObject({ thread_id: first.thread_id, already_running: false, resumed: true });
    expect(second.run_id).not.toBe(first.run_id);
    expect(world.app.only().messages.at(-1)?.text.split('\n')).toContain('Mode: resume');
    world.documents.edit(daemon.row('a')?.path ?? '', (text) =>
      text.replace('status: active', 'status: open'),
    );
    await handOff('a');
    await round(daemon);
    expect(daemon.row('a')?.runtime).toBeUndefined();
    const third = await dispatched(daemon, 'a');
    expect(third.thread_id).not.toBe(first.thread_id);
    expect(world.app.conversations).toHaveLength(2);
  });

  it('[RES-5] [CAP-7] never goes on in a terminal, nor a terminal session in the app', async () => {
    const daemon = world.boot({ released: true });
    const path = world.fiber('a', { ...APP });
    const first = await dispatched(daemon, 'a');
    await world.run(daemon.dispatcher.kills.kill('a'));
    world.documents.edit(path, (text) => text.replace('surface: app', 'surface: cli'));
    world.documents.list();
    const terminal = await dispatched(daemon, 'a');
    expect(terminal).toMatchObject({ surface: 'cli' });
    expect(terminal.resumed).toBeUndefined();
    expect(world.app.only().messages).toHaveLength(1);
    expect(runtimeOf(daemon, 'a')?.thread_id).toBeUndefined();
    expect(first.thread_id).toBeTruthy();
  });

  it('[WPL-4] [P5] is interrupted and released by a kill, once or twice', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    const { thread_id } = await dispatched(daemon, 'a');
    const killed = await world.run(daemon.dispatcher.kills.kill('a'));
    expect(killed).toMatchObject({ killed: true, fiber_id: 'a', mux_session: null, thread_id });
    expect(world.app.interrupts).toEqual([thread_id]);
    expect(await world.run(daemon.dispatcher.kills.kill('a'))).toEqual({ ...killed, already_killed: true });
    await round(daemon);
    expect(daemon.row('a')?.runtime).toBeUndefined();
    expect(daemon.row('a')?.held).toBe('killed');
    expect(world.app.only().messages).toHaveLength(1);
  });

  it('[WPL-4] [ERR-24] stays the fiber’s when its turn cannot be interrupted', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    await dispatched(daemon, 'a');
    world.app.up = false;
    await expect(world.run(daemon.dispatcher.kills.kill('a'))).rejects.toMatchObject({
      code: 'app_server_unavailable',
    });
    await round(daemon);
    expect(daemon.row('a')?.runtime).toMatchObject({ state: 'unknown' });
  });

  it('[CAP-7] [ERR-24] is refused where no server is configured or it is down, with what a person can do', async () => {
    world.app.up = false;
    const path = world.fiber('a', { ...APP }, { status: 'open' });
    const before = world.documents.files.get(path);
    const down = await dispatch(world.boot({ released: true }), 'a');
    expect(down).toMatchObject({ dispatched: false, reason: 'app_server_unavailable' });
    world.app_configured = false;
    const none = await dispatch(world.boot({ released: true }), 'a');
    expect(none).toMatchObject({ dispatched: false, reason: 'app_server_unavailable' });
    if (none.dispatched) throw new Error('dispatched');
    expect(none.message).toMatch(/remote host.*svc\.surface to cli/);
    expect(world.documents.files.get(path)).toBe(before);
    expect(world.machine.creates).toEqual([]);
  });

  it('[CAP-7] is refused for an agent that has no app conversations', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { surface: 'app', agent: 'demo' });
    expect(await dispatch(daemon, 'a')).toMatchObject({ dispatched: false, reason: 'surface_unsupported' });
    expect(world.app.conversations).toEqual([]);
  });

  it.each(['down', 'silent_and_undone'] as const)(
    '[CAP-8] [ERR-23] stays reserved when its first turn cannot be confirmed (%s), and the next dispatch goes on with it',
    async (fault) => {
      const daemon = world.boot({ released: true });
      world.fiber('a', { ...APP });
      world.app.faults.send = fault;
      const failed = await dispatch(daemon, 'a');
      const { thread_id } = world.app.only();
      expect(failed).toMatchObject({
        dispatched: false,
        reason: 'app_launch_failed',
        thread_id,
        session_uuid: thread_id,
      });
      for (let rounds = 0; rounds < 3; rounds += 1) await round(daemon);
      expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'app_launch_failed' });
      expect(daemon.row('a')?.runtime).toMatchObject({ state: 'claimed', thread_id });
      expect(await dispatch(daemon, 'a')).toMatchObject({
        dispatched: true,
        already_running: false,
        thread_id,
      });
      expect(world.app.only().messages).toHaveLength(1);
      await round(daemon);
      expect(daemon.row('a')?.blocked).toBeUndefined();
    },
  );

  it('[CAP-8] is not sent its first message twice when only the answer was lost', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP });
    world.app.faults.send = 'silent_but_done';
    expect(await dispatch(daemon, 'a')).toMatchObject({ dispatched: true });
    expect(world.app.only().messages).toHaveLength(1);
    await world.run(daemon.dispatcher.kills.kill('a'));
    world.fiber('b', { ...APP });
    world.app.faults.start = 'silent_but_done';
    expect(await dispatch(daemon, 'b')).toMatchObject({ dispatched: true });
    expect(world.app.conversations).toHaveLength(2);
  });

  it('[CAP-8] [APP-1] never is two, whatever step of a launch a daemon is killed at', async () => {
    for (let step = 1; ; step += 1) {
      world.dispose();
      world = new FakeWorld();
      world.fiber('a', { ...APP }, { status: 'open' });
      const daemon = world.boot({ released: true });
      await world.run(daemon.round());
      world.crashIn(step);
      const crashed = await world.crashes(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
      world.crashIn(null);
      const next = world.boot({ released: true });
      await round(next);
      await round(next);
      const answer = await dispatch(next, 'a');
      expect(answer, `after ${world.crashed_at}`).toMatchObject({ dispatched: true });
      await round(next);
      const place = `killed at step ${step}`;
      expect(world.app.spoken, place).toHaveLength(1);
      expect(world.app.conversations, place).toHaveLength(1);
      expect(world.app.only().messages.length, place).toBe(1);
      expect(runtimeOf(next, 'a')?.thread_id, place).toBe(world.app.only().thread_id);
      expect(next.row('a')?.runtime, place).toMatchObject({ state: 'running' });
      if (!crashed) {
        expect(step).toBeGreaterThan(8);
        return;
      }
    }
  });

  it('[APP-1] is taken up again by the next daemon, which starts nothing for it', async () => {
    world.fiber('a', { ...APP });
    const { thread_id } = await dispatched(world.boot({ released: true }), 'a');
    world.app.phase(thread_id ?? '', 'waiting');
    const next = world.boot({ released: true });
    for (let rounds = 0; rounds < 3; rounds += 1) await round(next);
    expect(next.row('a')?.runtime).toMatchObject({ state: 'running', phase: 'waiting', thread_id });
    expect(world.app.only().messages).toHaveLength(1);
  });

  it('[STD-1] [LIF-5] closes a standing role into review when it hands off', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { ...APP, kind: 'standing', schedule: '"0 9 * * *"' });
    await dispatched(daemon, 'a');
    await handOff('a');
    await round(daemon);
    await round(daemon);
    expect(daemon.row('a')).toMatchObject({ status: 'closed' });
    expect(daemon.row('a')?.runtime).toBeUndefined();
  });
});
