import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STORE } from '../../world/fake-documents.ts';
import { type Daemon, FakeWorld, LEARNING } from '../../world/fake-world.ts';

let world: FakeWorld;
beforeEach(() => {
  world = new FakeWorld();
  world.agents.push({ ...LEARNING, id: 'codex' });
});
afterEach(() => world.dispose());

const HOUR = 60 * 60_000;
const IDLE = { status: 'open' };
const CLAIM = { url: 'http://127.0.0.1:1/api/v1/claim', socket: null };

function claim(daemon: Daemon, fiber_id: string, session_uuid: string) {
  return world.run(daemon.dispatcher.surfaces.app.claims.claim({ fiber_id, surface: 'app', session_uuid }));
}

function capture(daemon: Daemon, more: Record<string, unknown> = {}) {
  const request = { prompt: 'a thought', surface: 'app' as const, project_dir: '/srv/dev', claim: CLAIM };
  return world.run(daemon.dispatcher.surfaces.app.captures.capture({ ...request, ...more, store: STORE }));
}

async function row(daemon: Daemon, id: string) {
  await world.run(daemon.round());
  await world.run(daemon.dispatcher.watchSurfaces());
  return daemon.row(id);
}

describe('a claim of an app conversation', () => {
  it('[WPL-5] [CAP-5] [WRK-8] adopts one that a person began, and starts, resumes and interrupts nothing', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', {}, IDLE);
    const { thread_id } = world.app.add({ phase: 'working' });
    const claimed = await claim(daemon, 'a', thread_id);
    expect(claimed).toMatchObject({
      claimed: true,
      already_claimed: false,
      surface: 'app',
      mux_session: null,
      thread_id,
      session_uuid: thread_id,
      transcript_session_uuid: thread_id,
      project_id: '/srv/dev',
    });
    const shown = await row(daemon, 'a');
    expect(shown).toMatchObject({ status: 'open', svc: { surface: 'app', runtime: { thread_id } } });
    expect(shown?.runtime).toMatchObject({ state: 'running', phase: 'working', thread_id });
    expect(world.app.only().messages).toEqual([]);
    expect(world.app.interrupts).toEqual([]);
    expect(world.ledger).toMatchObject([
      { fiber: 'a', session: thread_id, thread_id, mux: null, kind: 'claim' },
    ]);
    expect(await claim(daemon, 'a', thread_id)).toMatchObject({ claimed: true, already_claimed: true });
    const next = world.boot({ released: true });
    expect((await row(next, 'a'))?.runtime).toMatchObject({ state: 'running', thread_id });
  });

  it('[WPL-5] is refused for one that belongs to another fiber, and for a fiber that has another worker', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', {}, IDLE);
    world.fiber('b', {}, IDLE);
    const { thread_id } = world.app.add();
    const other = world.app.add();
    await claim(daemon, 'a', thread_id);
    await expect(claim(daemon, 'b', thread_id)).rejects.toMatchObject({ code: 'session_claimed' });
    await expect(claim(daemon, 'a', other.thread_id)).rejects.toMatchObject({ code: 'worker_exists' });
    expect((await row(daemon, 'b'))?.svc?.runtime).toBeUndefined();
  });

  it('[WPL-5] [P15] is refused unless the server tells that very conversation, open; nothing is written', async () => {
    const daemon = world.boot({ released: true });
    const path = world.fiber('a', {}, IDLE);
    const before = world.documents.files.get(path);
    const stored = world.app.add({ loaded: false });
    const refused = [
      ['01a1dead-0000-7000-8000-000000000000', 'conversation_missing'],
      [stored.thread_id, 'session_not_found'],
    ] as const;
    for (const [thread_id, code] of refused)
      await expect(claim(daemon, 'a', thread_id)).rejects.toMatchObject({ code });
    world.app.up = false;
    await expect(claim(daemon, 'a', stored.thread_id)).rejects.toMatchObject({
      code: 'app_server_unavailable',
    });
    expect(world.documents.files.get(path)).toBe(before);
    expect(daemon.memory.runs.size).toBe(0);
  });

  it('[WPL-5] is refused for a fiber that runs in a terminal', async () => {
    const daemon = world.boot({ released: true });
    world.fiber('a', { surface: 'cli' }, IDLE);
    const { thread_id } = world.app.add();
    await expect(claim(daemon, 'a', thread_id)).rejects.toMatchObject({ code: 'surface_unsupported' });
  });
});

/** A capture whose daemon is gone while the app server is asked to begin the conversation. */
async function cutShort(begin: (source: string) => void): Promise<void> {
  const { world: around, dispatcher } = world.boot({ released: true });
  const { app } = around;
  if (app === null) throw new Error('there is no app server');
  await new Promise<void>((asked) => {
    app.start = (_, source) => {
      begin(source);
      asked();
      return new Promise(() => {});
    };
    void dispatcher.surfaces.app.captures.capture({
      ...{ prompt: 'a thought', surface: 'app', project_dir: '/srv/dev' },
      ...{ claim: CLAIM, store: STORE },
    });
  });
}

describe('a capture as an app conversation', () => {
  it('[WPL-6] [CAP-1] [CAP-5] [WPL-5] is begun, tells how to claim it, and claims its durable record although the server is down', async () => {
    const captured = await capture(world.boot({ released: true }));
    const { thread_id, messages } = world.app.only();
    expect(captured).toMatchObject({
      captured: true,
      surface: 'app',
      mux_session: null,
      session_uuid: thread_id,
      thread_id,
      transcript_session_uuid: thread_id,
      project_id: '/srv/dev',
      desktop_link: `codex://threads/${thread_id}`,
    });
    expect(messages[0]?.text).toContain('a thought');
    expect(messages[0]?.text).toContain(`"surface":"app","session_uuid":"${thread_id}"`);
    expect(world.ledger).toMatchObject([{ fiber: null, session: thread_id, thread_id, kind: 'capture' }]);
    world.fiber('a', {}, IDLE);
    const next = world.boot({ released: true });
    world.app.up = false;
    const claimed = await claim(next, 'a', thread_id);
    if (!captured.captured) throw new Error(captured.message);
    expect(claimed).toMatchObject({ claimed: true, thread_id, run_id: captured.run_id });
    expect(next.dispatcher.surfaces.app.captures.byConversation(thread_id)).toBeUndefined();
    world.app.up = true;
    expect((await row(next, 'a'))?.runtime).toMatchObject({ state: 'running', thread_id });
    expect(world.app.only().messages).toHaveLength(1);
  });

  it('[CAP-7] [ERR-24] is refused while the server is down, in a terminal neither', async () => {
    world.app.up = false;
    expect(await capture(world.boot({ released: true }))).toMatchObject({
      captured: false,
      reason: 'app_server_unavailable',
    });
    expect(world.machine.creates).toEqual([]);
    expect(world.app.conversations).toEqual([]);
  });

  it('[CAP-8] [ERR-23] tells the conversation whose first turn could not be confirmed, and keeps it claimable', async () => {
    const daemon = world.boot({ released: true });
    world.app.faults.send = 'silent_and_undone';
    const failed = await capture(daemon);
    const { thread_id } = world.app.only();
    expect(failed).toMatchObject({ captured: false, reason: 'app_launch_failed', thread_id });
    world.fiber('a', {}, IDLE);
    expect(await claim(daemon, 'a', thread_id)).toMatchObject({ claimed: true, thread_id });
  });

  it('[OPR-2] [WRK-4] is in the state until a fiber is claimed for it, over a restart and while its server is down', async () => {
    const before = world.boot({ released: true });
    await capture(before);
    const { thread_id } = world.app.only();
    const shown = { surface: 'app', mux_session: null, thread_id, agent: 'codex', store: STORE };
    expect(before.state().captures).toMatchObject([{ ...shown, state: 'running' }]);
    const daemon = world.boot({ released: true });
    await world.run(daemon.round());
    world.app.up = false;
    await world.run(daemon.dispatcher.watchSurfaces());
    expect(daemon.state().captures).toMatchObject([{ ...shown, state: 'unknown', ended_at: null }]);
    world.app.up = true;
    await world.run(daemon.dispatcher.watchSurfaces());
    expect(daemon.state().captures).toMatchObject([{ ...shown, state: 'running' }]);
    world.fiber('a', {}, IDLE);
    await claim(daemon, 'a', thread_id);
    expect(daemon.state().captures).toEqual([]);
  });

  it('[CAP-5] that was never begun or is gone is told for a day with its text, which is kept for two weeks', async () => {
    await cutShort(() => {});
    let daemon = world.boot({ released: true });
    await world.run(daemon.round());
    await world.run(daemon.dispatcher.watchSurfaces());
    const [ended] = daemon.state().captures;
    expect(ended).toMatchObject({ state: 'ended', ended_reason: 'never_begun', thread_id: null });
    expect(readFileSync(ended?.prompt_file ?? '', 'utf8')).toContain('a thought');
    daemon = world.boot({ released: true });
    await world.run(daemon.round());
    expect(daemon.state().captures).toMatchObject([{ state: 'ended' }]);
    world.clock.advance(25 * HOUR);
    expect(daemon.state().captures).toEqual([]);
    expect(existsSync(ended?.prompt_file ?? '')).toBe(true);
    world.clock.advance(14 * 24 * HOUR);
    await world.run(daemon.dispatcher.watchSurfaces());
    // A clock that was set forward must not remove it.
    expect(existsSync(ended?.prompt_file ?? '')).toBe(true);
    daemon.dispatcher.surfaces.app.captures.removeOld(world.clock.now());
    expect(existsSync(ended?.prompt_file ?? '')).toBe(false);
  });

  it('[CAP-8] whose conversation had begun when its daemon was killed is found by the mark it was begun with', async () => {
    await cutShort((source) => world.app.add({ source }));
    const { thread_id } = world.app.only();
    const daemon = world.boot({ released: true });
    await world.run(daemon.round());
    await world.run(daemon.dispatcher.watchSurfaces());
    expect(daemon.state().captures).toMatchObject([{ state: 'running', thread_id }]);
    world.fiber('a', {}, IDLE);
    expect(await claim(daemon, 'a', thread_id)).toMatchObject({ claimed: true, thread_id });
  });
});
