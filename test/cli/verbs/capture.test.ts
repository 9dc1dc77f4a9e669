import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSessionName } from '../../../src/cli/verbs/attach/choose-worker.ts';
import { ownConversation } from '../../../src/cli/verbs/claim.ts';
import { CAPTURED, CLAIMED } from '../../routes/samples.ts';
import { type Answers, createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

const UID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z';
let machine: Machine;
let server: StandIn | undefined;
let store: string;
beforeEach(() => {
  machine = createMachine();
  store = join(machine.folder, 'store');
  mkdirSync(join(store, '.fibers', 'a'), { recursive: true });
  writeFileSync(document(), `---\nid: ${UID}\nname: A\nstatus: open\n---\n`);
  machine.env.SVC_STORES = store;
  machine.env.SVC_HOST = 'host-a';
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  machine.remove();
});

const document = () => join(store, '.fibers', 'a', 'a.md');

async function serve(answers: Answers): Promise<StandIn> {
  server = await serveAnswers(answers);
  machine.writeDaemonFile([server.listen]);
  return server;
}

const SESSION = CAPTURED.mux_session ?? '';

describe('svc capture', () => {
  it('[WPL-6] sends the text with an absolute folder, and shows how to watch', async () => {
    const { seen } = await serve({ 'POST /capture': { body: CAPTURED } });
    const { code, out } = await machine.svc(
      ...['capture', 'Make it swift.', '--project-dir', 'sub', '--agent', 'pi', '--effort', 'low'],
      ...['--store', 'store'],
    );
    expect(code).toBe(0);
    expect(out).toBe(`captured: claude-sonnet in ${SESSION}\nWatch it with: svc attach ${SESSION}\n`);
    const project_dir = join(machine.folder, 'sub');
    expect(seen[0]?.body).toEqual({
      prompt: 'Make it swift.',
      project_dir,
      agent: 'pi',
      effort: 'low',
      store,
    });
  });

  it('[ERR-17] [WPL-6] prints a refusal and exits with 1; the JSON is the daemon’s answer', async () => {
    const body = { captured: false, reason: 'agent_unknown', host: 'host-a', message: 'there is no agent x' };
    await serve({ 'POST /capture': { status: 422, body } });
    const args = ['capture', 'x', '--project-dir', '/'];
    expect(await machine.svc(...args)).toMatchObject({ code: 1, err: 'svc: there is no agent x\n' });
    const { code, out } = await machine.svc(...args, '--json');
    expect([code, JSON.parse(out)]).toEqual([1, body]);
  });

  it('[WPL-6] says how to name another folder where the one that was typed is missing', async () => {
    const message = 'the project folder /nope does not exist';
    const body = { captured: false, reason: 'project_dir_missing', host: 'host-a', message };
    await serve({ 'POST /capture': { status: 422, body } });
    expect(await machine.svc('capture', 'x', '--project-dir', '/nope')).toMatchObject({
      code: 1,
      err: `svc: ${message}; make it, or name another with --project-dir\n`,
    });
  });
});

describe('svc claim', () => {
  it('[WPL-5] finds the fiber in the stores and the capture’s own session in its environment', async () => {
    const { seen } = await serve({ 'POST /claim': { body: CLAIMED } });
    machine.env.SVC_CAPTURE = SESSION;
    expect(await machine.svc('claim', UID)).toMatchObject({ code: 0, out: expect.stringContaining(SESSION) });
    expect(seen[0]?.body).toEqual({ fiber_id: 'a', surface: 'cli', mux_session: SESSION });
  });

  it('[WPL-5] [FIB-11] asks tmux for the session of its pane', async () => {
    const { seen } = await serve({ 'POST /claim': { body: { ...CLAIMED, already_claimed: true } } });
    const socket = join(machine.folder, 'tmux');
    const { TMUX: _, ...env } = process.env;
    const tmux = (...args: string[]) =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' });
    tmux('new-session', '-d', '-s', 'my desk', 'sleep', '60');
    try {
      machine.env.TMUX = `${socket},1,0`;
      machine.env.TMUX_PANE = tmux('list-panes', '-a', '-F', '#{pane_id}').trim();
      const { code, out } = await machine.svc('claim', 'a', '--session-uuid', 's-1', '--meeting', 'm-1');
      expect([code, out]).toEqual([0, expect.stringContaining('was claimed before')]);
      expect(seen[0]?.body).toEqual({
        fiber_id: 'a',
        surface: 'cli',
        mux_session: 'my desk',
        session_uuid: 's-1',
        meeting: 'm-1',
      });
    } finally {
      tmux('kill-session', '-t', '=my desk');
    }
  });

  it('[WPL-5] requires a session name outside tmux, and prints the daemon’s refusal', async () => {
    const refused = { error: 'worker_exists', message: 'a has another worker' };
    await serve({ 'POST /claim': { status: 409, body: refused } });
    expect(await machine.svc('claim', 'a')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--mux-session'),
    });
    expect(await machine.svc('claim', 'a', '--mux-session', 'x')).toMatchObject({
      code: 1,
      err: 'svc: a has another worker\n',
    });
  });

  it('takes the conversation id that one program passes, and none if two do', () => {
    expect(ownConversation({ CLAUDE_CODE_SESSION_ID: 'c' })).toBe('c');
    expect(ownConversation({ CODEX_THREAD_ID: 'x', CLAUDE_CODE_SESSION_ID: '' })).toBe('x');
    expect(ownConversation({ CODEX_THREAD_ID: 'x', CLAUDE_CODE_SESSION_ID: 'c' })).toBeUndefined();
    expect(ownConversation({})).toBeUndefined();
  });
});

describe('svc install in the session of a capture', () => {
  const install = () => machine.svc('install', 'a', '--project-dir', machine.folder);

  it('[WPL-5] claims the fiber before it arms it', async () => {
    let status = '';
    await serve({
      'POST /claim': () => {
        status = /status: (.*)/.exec(readFileSync(document(), 'utf8'))?.[1] ?? '';
        return CLAIMED;
      },
    });
    machine.env.SVC_CAPTURE = SESSION;
    machine.env.SVC_RUN_DIR = machine.folder;
    expect((await install()).code).toBe(0);
    expect(status).toBe('open');
    expect(server?.seen[0]).toEqual({
      path: '/claim',
      body: { fiber_id: 'a', surface: 'cli', mux_session: SESSION },
    });
    expect(readFileSync(document(), 'utf8')).toContain('status: active');
  });

  it('[WPL-5] arms nothing that it cannot claim', async () => {
    await serve({ 'POST /claim': { status: 409, body: { error: 'worker_exists', message: 'another' } } });
    machine.env.SVC_CAPTURE = SESSION;
    machine.env.SVC_RUN_DIR = machine.folder;
    expect(await install()).toMatchObject({ code: 1, err: 'svc: another\n' });
    expect(readFileSync(document(), 'utf8')).toContain('status: open');
  });

  it('[WPL-5] claims nothing once the capture has its fiber, and says who works on it', async () => {
    const { seen } = await serve({});
    machine.env.SVC_CAPTURE = SESSION;
    machine.env.SVC_RUN_DIR = machine.folder;
    writeFileSync(join(machine.folder, 'run.json'), JSON.stringify({ uid: UID }));
    expect(await install()).toMatchObject({
      code: 0,
      out: expect.stringContaining('This session is its worker'),
    });
    expect(seen.filter(({ path }) => path === '/claim')).toEqual([]);
  });

  it('[WPL-5] is an ordinary install anywhere else', async () => {
    const { seen } = await serve({});
    expect((await install()).code).toBe(0);
    expect(seen.filter(({ path }) => path === '/claim')).toEqual([]);
  });
});

describe('svc attach --session', () => {
  it('[WPL-22] [ERR-15] says why a past session cannot be opened', async () => {
    const body = { error: 'session_running', message: 'it is running' };
    const { seen } = await serve({ 'POST /sessions/resume': { status: 409, body } });
    expect(await machine.svc('attach', '--session', 's-1')).toMatchObject({
      code: 1,
      err: 'svc: it is running\n',
    });
    expect(seen).toEqual([{ path: '/sessions/resume', body: { session: 's-1' } }]);
  });

  it('requires either a running session or a past one', async () => {
    expect((await machine.svc('attach')).code).toBe(2);
    expect((await machine.svc('attach', 'a', '--session', 's')).code).toBe(2);
  });

  it('recognises complete session names without a daemon', () => {
    const uuid = '0198c0de-0000-4000-8000-000000000001';
    for (const name of [`capture-${uuid}`, `resume-${uuid}`, `a-${UID}-svc`])
      expect(isSessionName(name)).toBe(true);
    for (const name of ['capture-x', `x-capture-${uuid}`, uuid]) expect(isSessionName(name)).toBe(false);
  });
});
