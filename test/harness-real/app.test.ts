import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Dispatched, Killed } from '../../src/contract/http/dispatch.ts';
import { type RealAppServer, startRealAppServer } from './app-server.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
let server: RealAppServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await daemon?.stop();
  daemon = undefined;
});

type Thread = { thread: { id: string; sessionId: string; path: string; status: { type: string } } };

async function startBoth(): Promise<{ daemon: RealDaemon; server: RealAppServer }> {
  daemon = await startRealDaemon('codex', {
    async prepare({ home, root, env }) {
      server = await startRealAppServer(root, env);
      return { SVC_APP_SERVER: server.setting, HOME: home };
    },
  });
  await daemon.release();
  return { daemon, server: server! };
}

/** A fiber of the app surface that only a dispatch starts. */
async function appFiber(name: string): Promise<void> {
  await daemon!.add(name);
  const { path } = await daemon!.rowWhere(name, () => true);
  const text = readFileSync(path, 'utf8');
  const block = [
    'svc:',
    '  kind: oneshot',
    '  host: test-host',
    '  surface: app',
    '  agent: codex',
    `  project_dir: ${daemon!.project_dir}`,
  ].join('\n');
  writeFileSync(path, text.replace(/\n---\n/, `\n${block}\n---\n`));
  await daemon!.rowWhere(name, ({ svc }) => svc?.surface === 'app');
}

async function dispatch(fiber_id: string, more: Record<string, unknown> = {}): Promise<Dispatched> {
  const { status, body } = await daemon!.post('/dispatch', { fiber_id, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Dispatched;
}

function waiting(file: string): string {
  return `while [ ! -e ${file} ]; do sleep 0.1; done`;
}

describe('app conversations over the real app server', () => {
  it('[APP-1] [WPL-1] [CAP-5] [WRK-3] [WRK-7] [WRK-8] works, waits, hands off with its own shell and starts fresh', async () => {
    const { daemon, server } = await startBoth();
    const go = join(daemon.project_dir, 'go');
    const where = join(daemon.project_dir, 'where');
    daemon.stub.script({ match: 'hand off now', steps: [{ shell: 'svc handoff' }, { text: 'handed off' }] });
    daemon.stub.script({
      match: 'Fiber: talk',
      steps: [{ shell: `pwd > ${where}; ${waiting(go)}` }, { text: 'done' }],
    });
    await appFiber('talk');
    const begun = await dispatch('talk');
    const { thread_id } = begun;
    expect(begun).toMatchObject({
      surface: 'app',
      mux_session: null,
      session_uuid: thread_id,
      transcript_session_uuid: thread_id,
      project_id: daemon.project_dir,
      desktop_link: `codex://threads/${thread_id}`,
    });
    const working = await daemon.rowWhere('talk', ({ runtime }) => runtime?.phase === 'working');
    expect(working.svc?.runtime).toMatchObject({ thread_id, session_uuid: thread_id });
    expect(await daemon.sessions()).toEqual([]);
    await expect.poll(() => existsSync(where), { timeout: WITHIN_MS }).toBe(true);
    expect(readFileSync(where, 'utf8')).toBe(`${daemon.project_dir}\n`);

    writeFileSync(go, '');
    const idle = await daemon.rowWhere('talk', ({ runtime }) => runtime?.phase === 'waiting');
    expect(idle.runtime).toMatchObject({ state: 'running', thread_id });
    expect(daemon.launches()).toHaveLength(1);
    expect(await daemon.transcriptOf(thread_id!)).toContain(begun.run_id);
    expect(daemon.ledger()).toMatchObject([{ session: thread_id, thread_id, mux: null, kind: 'dispatch' }]);

    // The next turn is begun by the person at the app.
    const disarm = (text: string) => text.replace('status: active', 'status: open');
    writeFileSync(idle.path, disarm(readFileSync(idle.path, 'utf8')));
    await server.ask('turn/start', {
      threadId: thread_id,
      input: [{ type: 'text', text: 'hand off now', text_elements: [] }],
    });
    const released = await daemon.rowWhere('talk', ({ runtime }) => runtime === undefined);
    expect(released.svc?.runtime?.handed_off_at).toBeDefined();
    expect((await server.ask<Thread>('thread/read', { threadId: thread_id })).thread.id).toBe(thread_id);

    const again = await dispatch('talk');
    expect(again.thread_id).not.toBe(thread_id);
  });

  it('[WPL-4] [P5] [RES-5] interrupts the running turn at a kill and resumes the same conversation afterwards', async () => {
    const { daemon, server } = await startBoth();
    daemon.stub.script({ match: /^Mode: resume$/m, steps: [{ text: 'and on' }] });
    daemon.stub.script({ match: 'Fiber: long', steps: [{ shell: 'sleep 600' }, { text: 'too late' }] });
    await appFiber('long');
    const first = await dispatch('long');
    await daemon.rowWhere('long', ({ runtime }) => runtime?.phase === 'working');
    await expect.poll(() => daemon.stub.requests.length, { timeout: WITHIN_MS }).toBeGreaterThan(0);
    const killed = await daemon.post('/kill', { fiber_id: 'long' });
    expect(killed).toMatchObject({
      status: 200,
      body: { killed: true, mux_session: null, thread_id: first.thread_id },
    });
    const once_more = { status: 200, body: { ...(killed.body as Killed), already_killed: true } };
    expect(await daemon.post('/kill', { fiber_id: 'long' })).toEqual(once_more);
    const { thread } = await server.ask<Thread>('thread/read', { threadId: first.thread_id });
    expect(thread.status.type).toBe('idle');
    await daemon.rowWhere('long', ({ runtime, held }) => runtime === undefined && held === 'killed');

    // A stored conversation is opened again by the server that has lost it from memory.
    await server.restart();
    const second = await dispatch('long');
    expect(second).toMatchObject({ thread_id: first.thread_id, already_running: false, resumed: true });
    expect(second.run_id).not.toBe(first.run_id);
    await daemon.rowWhere('long', ({ runtime }) => runtime?.phase === 'waiting');
    for (const { run_id } of [first, second])
      await expect
        .poll(async () => (await daemon.transcriptOf(first.thread_id!)).includes(run_id), {
          timeout: WITHIN_MS,
        })
        .toBe(true);
  });

  it('[APP-1] [CAP-7] [ERR-24] [P15] is unknown while the server is down and continues after daemon and server were killed', async () => {
    const { daemon, server } = await startBoth();
    await appFiber('calm');
    await appFiber('later');
    const { thread_id } = await dispatch('calm');
    await daemon.rowWhere('calm', ({ runtime }) => runtime?.phase === 'waiting');
    await server.stop();
    const down = await daemon.rowWhere('calm', ({ runtime }) => runtime?.phase === 'unknown');
    expect(down.runtime).toMatchObject({ state: 'unknown', thread_id });
    expect(down.blocked).toBeUndefined();
    expect(await (await daemon.get('/why?fiber=calm&look=1')).text()).toMatch(/before that, it (closed|cut)/);
    expect(await daemon.post('/dispatch', { fiber_id: 'later' })).toMatchObject({
      status: 503,
      body: {
        dispatched: false,
        reason: 'app_server_unavailable',
        message: expect.stringMatching(/remote host/),
      },
    });
    await daemon.killAndRestart();
    await daemon.release();
    const unseen = await daemon.row('calm');
    expect(unseen.runtime).toMatchObject({ state: 'unknown', thread_id });
    await server.restart();
    await daemon.rowWhere(
      'calm',
      ({ runtime }) => runtime?.phase === 'waiting' && runtime.thread_id === thread_id,
    );
    expect(daemon.launches()).toHaveLength(1);
  });

  it('[APP-1] says why its last turn failed, also after its server was restarted, and at the end of its run', async () => {
    const { daemon, server } = await startBoth();
    await appFiber('broken');
    daemon.stub.refuse({ status: 400, headers: {}, body: { error: { message: 'no such model here' } } });
    await dispatch('broken');
    const told = ({ runtime }: FiberRow) => runtime?.phase === 'attention' && runtime.said !== null;
    expect((await daemon.rowWhere('broken', told)).runtime?.said).toContain('no such model here');
    await server.restart();
    await daemon.rowWhere('broken', told);
    expect(await (await daemon.get('/why?fiber=broken&look=1')).text()).toMatch(
      /its last turn failed: .*no such model here/,
    );
    expect((await daemon.post('/kill', { fiber_id: 'broken' })).status).toBe(200);
    expect(daemon.ledger().find(({ kind }) => kind === 'ended')).toMatchObject({
      fiber: 'broken',
      detail: expect.stringMatching(/its last turn failed: .*no such model here/s),
    });
    expect(await daemon.svc('log', 'broken')).toContain('no such model here');
  });

  it('[APP-1] [P15] is blocked once the server reports the exact conversation as missing', async () => {
    const { daemon, server } = await startBoth();
    await appFiber('gone');
    const { thread_id } = await dispatch('gone');
    await daemon.rowWhere('gone', ({ runtime }) => runtime?.phase === 'waiting');
    await server.ask('thread/delete', { threadId: thread_id });
    const row = await daemon.rowWhere('gone', ({ blocked }) => blocked !== undefined);
    expect(row.blocked).toMatchObject({ reason: 'conversation_missing', retry_at: null });
    expect(row.runtime).toMatchObject({ phase: 'unknown', thread_id });
    expect(daemon.launches()).toHaveLength(1);
  });

  it('[WPL-5] [WPL-6] [CAP-5] [WRK-5] [WRK-8] is captured, claims itself with its own shell, and its fork is claimed with its own transcript', async () => {
    const { daemon, server } = await startBoth();
    await daemon.add('thought');
    const thread = join(daemon.project_dir, 'thread');
    daemon.stub.script({
      match: /^Capture: /m,
      steps: [
        {
          shell: `while [ ! -s ${thread} ]; do sleep 0.1; done; svc claim thought --session-uuid "$(cat ${thread})"`,
        },
        { text: 'filed' },
      ],
    });
    daemon.stub.script({ match: 'a fork of mine', steps: [{ text: 'forked' }] });
    await daemon.rowWhere('thought', () => true);
    const answer = await daemon.post('/capture', {
      prompt: 'a thought',
      surface: 'app',
      project_dir: daemon.project_dir,
      store: daemon.store,
    });
    expect(answer, JSON.stringify(answer)).toMatchObject({
      status: 200,
      body: { surface: 'app', mux_session: null },
    });
    const { thread_id } = answer.body as { thread_id: string };
    writeFileSync(thread, thread_id);
    const claimed = await daemon.rowWhere('thought', ({ runtime }) => runtime?.phase === 'waiting');
    expect(claimed.runtime).toMatchObject({ thread_id, session_uuid: thread_id, mux_session: null });

    await appFiber('forked');
    const fork = await server.ask<Thread>('thread/fork', { threadId: thread_id, excludeTurns: true });
    await server.ask('turn/start', {
      threadId: fork.thread.id,
      input: [{ type: 'text', text: 'a fork of mine', text_elements: [] }],
    });
    const own = await daemon.post('/claim', {
      fiber_id: 'forked',
      surface: 'app',
      session_uuid: fork.thread.id,
    });
    const transcript = /([0-9a-f-]{36})\.jsonl$/.exec(fork.thread.path)?.[1];
    expect(transcript).not.toBe(thread_id);
    expect(own).toMatchObject({
      status: 200,
      body: { thread_id: fork.thread.id, session_uuid: fork.thread.id, transcript_session_uuid: transcript },
    });
    expect(daemon.ledger()).toMatchObject([
      { kind: 'capture', fiber: null, thread_id },
      { kind: 'claim', fiber: 'thought', thread_id, mux: null },
      { kind: 'claim', fiber: 'forked', thread_id: fork.thread.id, session: transcript },
    ]);
  });
});
