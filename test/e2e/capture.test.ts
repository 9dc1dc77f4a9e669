import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { BrakePulled } from '../../src/contract/http/brake.ts';
import type { Captured, Claimed } from '../../src/contract/http/capture.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
let kitty: Server | undefined;
afterEach(async () => {
  await new Promise<void>((done) => (kitty === undefined ? done() : kitty.close(() => done())));
  kitty = undefined;
  await daemon?.dispose();
  daemon = undefined;
});

/** Has the `talks` agent of a folder run a command by its own shell; answers what it printed. */
async function order(project: string, command: string): Promise<string> {
  const answer = join(project, 'answer');
  rmSync(answer, { force: true });
  writeFileSync(join(project, 'orders.new'), command);
  renameSync(join(project, 'orders.new'), join(project, 'orders'));
  await until(`the end of: ${command}`, () => existsSync(answer));
  return readFileSync(answer, 'utf8');
}

async function capture(one: TestDaemon, project: string): Promise<Captured> {
  const answer = await one.http.post<Captured>('/capture', {
    prompt: 'Make it swift.',
    project_dir: project,
    agent: 'talks',
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Listens as kitty does and keeps what it was asked to start. */
async function listenAsKitty(path: string): Promise<string[][]> {
  const started: string[][] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const command = JSON.parse(String(data).slice('\u001bP@kitty-cmd'.length, -2));
      started.push(command.payload.args);
      socket.write('\u001bP@kitty-cmd{"ok":true,"data":"1"}\u001b\\');
    });
  });
  kitty = server;
  await new Promise<void>((done) => server.listen(path, done));
  return started;
}

const silent = { SVC_TERMINAL_SOCKET: '/nonexistent/kitty' };

describe('a capture', () => {
  it('[WPL-4] without a fiber is a row of svc status and svc ps, and svc kill ends it by the beginning of its name', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home } = daemon;
    const { mux_session } = await capture(daemon, home.project('atlas'));
    const name = mux_session!.slice(0, 'capture-'.length + 8);
    const first = (await home.svc('ps')).stdout.split('\n').find((line) => line.startsWith(name));
    expect(first).toMatch(/^capture-[0-9a-f]{8}\ttalks\t/);
    expect((await home.svc('status')).stdout).toMatch(
      new RegExp(`^working\t${name}\t.*a capture, no fiber yet`, 'm'),
    );
    expect(await home.svc('attach', name, '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(mux_session!),
    });
    expect(await home.svc('kill', name)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`end ${mux_session}, a capture without a fiber, whose text is kept`),
    });
    expect(await home.svc('kill', name.slice('capture-'.length), '--yes')).toMatchObject({ code: 0 });
    expect(await home.sessions()).toEqual([]);
    expect(await home.svc('kill', name, '--yes')).toMatchObject({ code: 1 });
  });

  it('[WPL-6] without a fiber is ended by the emergency brake with kill, and starts no more', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home, http } = daemon;
    const { mux_session } = await capture(daemon, home.project('atlas'));
    expect(await home.sessions()).toEqual([mux_session]);
    expect((await http.post<BrakePulled>('/brake', {})).body.captures).toEqual([mux_session]);
    expect(await home.sessions()).toEqual([mux_session]);
    const { status, body } = await http.post<BrakePulled>('/brake', { kill: true });
    expect({ status, ended: body.ended_captures, on: body.captures ?? [] }).toEqual({
      ...{ status: 200, ended: [mux_session], on: [] },
    });
    expect(await home.sessions()).toEqual([]);
    await http.post('/brake/release', {});
    await daemon.ticks();
    expect(await home.sessions()).toEqual([]);
    const ended = { mux_session, state: 'ended', ended_reason: 'kill', text_file: expect.any(String) };
    expect((await daemon.state()).captures).toMatchObject([ended]);
  });

  it('[WPL-6] [WPL-5] [CAP-5] [P1] files, installs and claims its fiber with its own shell, in any order, and is its one worker', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home, http } = daemon;
    const project = home.project('swift');
    const captured = await capture(daemon, project);
    expect((await daemon.state()).captures).toMatchObject([{ mux_session: captured.mux_session }]);
    const said = await order(
      project,
      `svc fiber add Swift --slug swift --body x && svc install swift --project-dir ${project} --agent talks && svc claim swift`,
    );
    expect(said).toContain(`swift was claimed before: talks in ${captured.mux_session}`);
    const row = await daemon.running('swift');
    expect(row).toMatchObject({
      status: 'active',
      runtime: { mux_session: captured.mux_session, session_uuid: captured.session_uuid },
    });
    await daemon.ticks();
    expect(await home.sessions()).toEqual([captured.mux_session]);
    expect((await daemon.state()).captures).toEqual([]);

    const pid = await home.panePid(captured.mux_session ?? '');
    await daemon.kill9();
    await daemon.start();
    expect((await daemon.running('swift')).runtime.mux_session).toBe(captured.mux_session);
    expect(await home.panePid(captured.mux_session ?? '')).toBe(pid);

    // Only now does a second worker have a reason to be: the first one hands off and leaves the fiber armed.
    await order(project, 'svc fiber edit swift --status open').catch(() => undefined);
    writeFileSync(join(project, 'orders'), 'svc handoff');
    await daemon.rowWhen('swift', 'ended', (one) => one.runtime === undefined);
    const ended = await daemon.row('swift');
    expect(ended?.svc?.runtime?.handed_off_at).toBeDefined();
    expect(await home.sessions()).toEqual([]);
    const sessions = await http.get<{ sessions: { kind: string }[] }>('/sessions');
    expect(sessions.body.sessions.map(({ kind }) => kind)).toEqual(['capture', 'claim', 'ended']);
  });

  it('[WPL-4] [WPL-5] that was claimed over HTTP before its fiber was armed is killed like any worker', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home, http } = daemon;
    const captured = await capture(daemon, home.project('a'));
    expect((await home.svc('fiber', 'add', 'A', '--slug', 'a')).code).toBe(0);
    const body = { fiber_id: 'a', mux_session: captured.mux_session };
    const claimed = await http.post<Claimed>('/claim', body);
    expect(claimed).toMatchObject({ status: 200, body: { claimed: true, already_claimed: false } });
    expect(await http.post<Claimed>('/claim', body)).toMatchObject({
      status: 200,
      body: { claimed: true, already_claimed: true, run_id: claimed.body.run_id },
    });
    expect((await daemon.kill('a')).status).toBe(200);
    expect(await home.sessions()).toEqual([]);
    expect((await daemon.row('a'))?.runtime).toBeUndefined();
  });

  it('[ERR-17] [WPL-6] is refused with 422 for a missing folder and for an unknown agent', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home, http } = daemon;
    const gone = await http.post('/capture', { prompt: 'x', project_dir: home.path('gone') });
    expect(gone).toMatchObject({ status: 422, body: { captured: false, reason: 'project_dir_missing' } });
    const project_dir = home.project('a');
    const nobody = await http.post('/capture', { prompt: 'x', project_dir, agent: 'nobody' });
    expect(nobody).toMatchObject({ status: 422, body: { captured: false, reason: 'agent_unknown' } });
    const app = await http.post('/capture', { prompt: 'x', project_dir, surface: 'app' });
    expect(app).toMatchObject({ status: 503, body: { captured: false, reason: 'app_server_unavailable' } });
    expect(await home.sessions()).toEqual([]);
    expect(existsSync(join(home.data, 'runs')) ? readdirSync(join(home.data, 'runs')) : []).toEqual([]);
  });
});

describe('a session that a person started', () => {
  async function openDesk(home: TestHome, project: string): Promise<void> {
    const agent = new URL('../fixtures/agents/talks.sh', import.meta.url).pathname;
    const svc = `#!/bin/sh\nexec ${home
      .daemonArgv()
      .slice(0, -2)
      .map((word) => `'${word}'`)
      .join(' ')} "$@"\n`;
    mkdirSync(home.path('bin'));
    writeFileSync(home.path('bin', 'svc'), svc, { mode: 0o700 });
    // tmux gives a new session the PATH of the client that asked for it, whatever else it is told.
    const env = ['env', `PATH=${home.path('bin')}:${home.env.PATH}`, `CLAUDE_CONFIG_DIR=${home.claude}`];
    const command = `${agent} hello; exec sleep 86400`;
    const said = await home.tmux(
      ...['new-session', '-d', '-s', 'desk', '-c', project],
      ...[...env, 'sh', '-c', command],
    );
    if (said !== '') throw new Error(`tmux: ${said}`);
  }

  it('[WPL-5] [P1] is claimed from inside, adopted by the next daemon, and handed off without ending its session', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home } = daemon;
    const project = home.project('desk');
    home.fiber('mine', { front: { status: 'open' }, agent: 'talks' });
    await openDesk(home, project);
    expect(
      await order(project, 'svc claim mine --session-uuid 11111111-2222-4333-8444-555555555555'),
    ).toContain('mine claimed: talks in desk');
    expect((await daemon.running('mine')).runtime.mux_session).toBe('desk');
    await daemon.kill9();
    await daemon.start();
    expect((await daemon.running('mine')).runtime.mux_session).toBe('desk');
    writeFileSync(join(project, 'orders'), 'svc handoff mine');
    const row = await daemon.rowWhen('mine', 'ended', (one) => one.runtime === undefined);
    expect(row.svc?.runtime?.handed_off_at).toBeDefined();
    expect(await home.sessions()).toEqual(['desk']);
    expect(daemon.log).not.toContain('"reason":"session_gone"');
    expect(daemon.log).toContain('"reason":"handoff"');
  });

  it('[WPL-5] [P16] gets the id of its conversation and its phase from its hooks, which know nothing of the claim', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home } = daemon;
    const project = home.project('desk');
    home.fiber('mine', { front: { status: 'open' }, agent: 'talks' });
    await openDesk(home, project);
    expect(await order(project, 'svc claim mine')).toContain('mine claimed: talks in desk');
    const asks = `{"hook_event_name":"PermissionRequest","session_id":"conversation-1","tool_name":"Bash"}`;
    await order(project, `echo '${asks}' | svc hook event && echo told`);
    const { runtime } = await daemon.rowWhen('mine', 'asking', (one) => one.runtime?.phase === 'waiting');
    expect(runtime).toMatchObject({ session_uuid: 'conversation-1', said: 'asks to use Bash' });
    expect((await home.svc('why', 'mine')).stdout).toMatch(
      /^mine runs: its worker waits for an answer since .*, it says: asks to use Bash\.$/m,
    );
  });

  it('[WPL-5] [WPL-4] loses only its agent to a kill; a session without an agent is no worker', async () => {
    daemon = await startTestDaemon({ settings: silent });
    const { home, http } = daemon;
    home.fiber('mine', { front: { status: 'open' }, agent: 'talks' });
    await openDesk(home, home.project('desk'));
    const claim = () => http.post('/claim', { fiber_id: 'mine', mux_session: 'desk' });
    await until('the claim', async () => (await claim()).status === 200);
    expect((await daemon.kill('mine')).status).toBe(200);
    expect(await home.sessions()).toEqual(['desk']);
    expect(await claim()).toMatchObject({ status: 422, body: { error: 'no_agent_in_session' } });
    expect((await daemon.row('mine'))?.runtime).toBeUndefined();
  });
});

describe('a terminal for a person', () => {
  it('[WPL-21] [WPL-22] [ERR-15] [ERR-20] [DSP-10] opens live workers and past sessions in kitty', async () => {
    let started: string[][] = [];
    daemon = await startTestDaemon({
      settings: { SVC_TERMINAL_SOCKET: undefined },
      async prepare(home) {
        home.env.KITTY_LISTEN_ON = `unix:${home.path('kitty')}`;
        started = await listenAsKitty(home.path('kitty'));
        home.fiber('live', { agent: 'talks' });
      },
    });
    const { home, http } = daemon;
    const { runtime } = await daemon.running('live');
    const attach = (body: Record<string, unknown>) => http.post('/attach', body);
    expect(await attach({ mux_session: runtime.mux_session })).toMatchObject({
      status: 200,
      body: { attached: true, host: 'test-host', mux_session: runtime.mux_session, terminal: 'kitty' },
    });
    expect(started.map((argv) => argv.slice(-6))).toEqual([
      [
        expect.stringMatching(/tmux$/),
        ...['-S', home.socket, 'attach-session', '-t', expect.stringMatching(/^%\d+$/)],
      ],
    ]);

    const session = runtime.session_uuid ?? '';
    expect(await attach({ session })).toMatchObject({
      status: 409,
      body: { error: 'session_running', mux_session: runtime.mux_session },
    });
    expect(await attach({ session: '11111111-2222-4333-8444-555555555555' })).toMatchObject({
      status: 422,
      body: { error: 'transcript_missing' },
    });
    await daemon.kill('live');
    expect(await attach({ session })).toMatchObject({
      status: 422,
      body: { error: 'working_directory_unknown' },
    });

    const folder = readdirSync(join(home.claude, 'projects'))[0] ?? '';
    const transcript = join(home.claude, 'projects', folder, `${session}.jsonl`);
    const cwd = home.project('live');
    writeFileSync(
      transcript,
      `${JSON.stringify({ type: 'user', cwd })}\n${readFileSync(transcript, 'utf8')}`,
    );
    const name = `resume-${session}`;
    expect(await http.post('/sessions/resume', { session })).toMatchObject({
      status: 200,
      body: { mux_session: name, created: true },
    });
    expect(await attach({ session })).toMatchObject({ status: 200, body: { mux_session: name } });
    expect(started.at(-1)?.slice(-6)).toEqual([
      expect.stringMatching(/tmux$/),
      '-S',
      home.socket,
      'attach-session',
      '-t',
      expect.stringMatching(/^%\d+$/),
    ]);
    expect(await home.tmux('display-message', '-p', '-t', `=${name}:`, '#{pane_current_path}')).toBe(cwd);
    await daemon.stop();
    await daemon.start({ release: false });
    await daemon.ticks();
    expect(await home.sessions()).toEqual([name]);
    expect((await daemon.state()).running).toEqual([]);
    expect((await daemon.state()).captures).toEqual([]);
  });

  it('[WPL-21] shows the command to paste if no terminal emulator answers', async () => {
    daemon = await startTestDaemon({ settings: silent, prepare: (home) => void home.fiber('live') });
    const { runtime } = await daemon.running('live');
    const answer = await daemon.http.post('/attach', { mux_session: runtime.mux_session });
    expect(answer).toMatchObject({ status: 503, body: { error: 'terminal_unreachable' } });
    expect(answer.body.command).toMatch(
      new RegExp(`tmux -S ${daemon.home.socket} attach-session -t '?%\\d+'?$`),
    );
    expect(answer.body.message).toContain(answer.body.command);
  });
});
