import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withSafeOutput } from '../../../src/cli/command-line/safe-output.ts';
import { processLife } from '../../../src/cli/daemon-client/daemon-process.ts';
import { startDaemon } from '../../../src/cli/verbs/daemon/start.ts';
import { stopDaemon } from '../../../src/cli/verbs/daemon/stop.ts';
import { readSettings, SETTINGS } from '../../../src/config/settings.ts';
import { rehearsal } from '../../../src/contract/http/rehearsal.ts';
import { runningRow, stateAnswer, versionAnswer } from '../answers.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

const TINY = new URL('../fixtures/tiny-daemon.mjs', import.meta.url).pathname;

let machine: Machine;
const servers: StandIn[] = [];
const pids: number[] = [];
let said = '';

beforeEach(() => {
  machine = createMachine();
  said = '';
});
afterEach(async () => {
  for (const pid of pids.splice(0)) endProcess(pid);
  for (const server of servers.splice(0)) await server.close();
  machine.remove();
});

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already, which is what is wanted.
  }
}

function daemonFile(): { pid: number; listen: string[] } {
  return JSON.parse(readFileSync(join(machine.data_dir, 'daemon.json'), 'utf8'));
}

const context = () =>
  withSafeOutput({
    ...machine.context,
    out(text: string) {
      said += text;
    },
  });
const settings = () => readSettings(machine.env);

/** Starts the tiny daemon in one of its modes, in the background, as `svc daemon start` does. */
async function start(
  mode: string,
  timeout = 20,
  over: Parameters<typeof stateAnswer>[0] = { running: [runningRow()] },
): Promise<number> {
  const answers = join(machine.folder, 'answers.json');
  writeFileSync(answers, JSON.stringify({ version: versionAnswer(), state: stateAnswer(over) }));
  const program = { file: process.execPath, args: [TINY, mode, answers] };
  try {
    const { text, exit = 0 } = await startDaemon(context(), settings(), timeout, program);
    said += text;
    return exit;
  } finally {
    if (existsSync(join(machine.data_dir, 'daemon.json'))) pids.push(daemonFile().pid);
  }
}

describe('svc daemon start and stop', () => {
  it('waits until the daemon is ready, then stops it and lists the workers that keep running', async () => {
    expect(await start('ready')).toBe(0);
    const { pid } = daemonFile();
    expect(said).toContain('The daemon runs: version 0.1.0');
    expect(statSync(join(machine.data_dir, 'daemon.log')).mode & 0o777).toBe(0o600);

    expect(await machine.svc('daemon', 'stop')).toEqual({
      code: 0,
      out: `The daemon has stopped.\nThese workers keep running:\n  ${runningRow().fiber_id}\n`,
      err: '',
    });
    expect(await processLife({ pid, start_time: null })).toBe('gone');
    expect(await machine.svc('daemon', 'stop')).toEqual({ code: 0, out: 'No daemon runs.\n', err: '' });
  });

  it('names some of many workers that keep running, and counts the others', async () => {
    const running = Array.from({ length: 303 }, (_, nth) => runningRow({ fiber_id: `task-${nth}` }));
    await start('ready', 20, { running });
    const { out } = await machine.svc('daemon', 'stop');
    expect(out.split('\n').slice(0, 4)).toEqual([
      'The daemon has stopped.',
      'These workers keep running:',
      '  task-0',
      '  task-1',
    ]);
    expect(out.split('\n').slice(-3)).toEqual(['  task-9', '  and 293 more', '']);
  });

  it('names a capture that goes on and has no fiber yet by its session, and none that has ended', async () => {
    const capture = {
      ...{ surface: 'cli' as const, session_uuid: null, run_id: 'run-1', agent: 'pi', harness: 'pi' },
      ...{ project_dir: '/srv/dev', store: '/srv/notes', captured_at: 1, ended_at: null, ended_reason: null },
      ...{ effort: null, prompt_file: '/p.md', text_file: null },
    };
    const captures = [
      { ...capture, mux_session: 'capture-1', state: 'running' as const },
      { ...capture, mux_session: 'capture-2', state: 'ended' as const },
    ];
    await start('ready', 20, { captures });
    const { out } = await machine.svc('daemon', 'stop', '--json');
    expect(JSON.parse(out)).toMatchObject({ stopped: true, workers: ['capture-1'] });
    await start('ready', 20, { captures });
    expect((await machine.svc('daemon', 'stop')).out).toBe(
      'The daemon has stopped.\nThese workers keep running:\n  capture-1\n',
    );
  });

  it('[P33] reports the daemon that runs already, and starts none', async () => {
    await start('ready');
    const { pid, listen } = daemonFile();
    const again = await machine.svc('daemon', 'start');
    expect(again.code).toBe(0);
    expect(again.out).toMatch(/^The daemon runs already, since .*, at 127/);
    const json = await machine.svc('daemon', 'start', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ started: false, already_running: true, pid, listen });
    expect(daemonFile().pid).toBe(pid);
  });

  it('says of a daemon that is stuck that it does not answer, and not that it runs', async () => {
    machine.writeDaemonFile(['127.0.0.1:1']);
    const { code, out, err } = await machine.svc('daemon', 'start');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toMatch(/^svc: the daemon \(pid \d+\) does not answer: /);
  });

  it('shows the end of the log of a daemon that ends while starting', async () => {
    writeFileSync(join(machine.data_dir, 'daemon.log'), 'words of yesterday\n');
    await expect(start('dies')).rejects.toMatchObject({
      code: 'launch_failed',
      message: 'the daemon ended while it started; the end of its log:\nport 4000 is taken by pid 7',
    });
  });

  it('[LIM-19] waits beyond its timeout for a daemon that reports that it boots', async () => {
    expect(await start('slow', 1)).toBe(0);
    expect(said).toContain('The daemon runs: version ');
  });

  it('[LIM-19] gives up on a silent daemon, and leaves it running', async () => {
    await expect(start('silent', 1)).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: expect.stringContaining('has not answered for 1 s'),
    });
    expect(await processLife({ pid: daemonFile().pid, start_time: null })).toBe('alive');
  });

  it('says how to end a daemon that does not stop', async () => {
    await start('stays');
    const { pid } = daemonFile();
    await expect(stopDaemon(context(), settings(), 1)).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: expect.stringContaining(`kill -9 ${pid}`),
    });
    expect(await processLife({ pid, start_time: null })).toBe('alive');
  });

  it('never signals a process that only has the pid of an earlier daemon', async () => {
    machine.writeDaemonFile(['127.0.0.1:1'], { start_time: '1' });
    expect(await machine.svc('daemon', 'stop', '--json')).toMatchObject({
      code: 0,
      out: expect.stringContaining('"stopped": false'),
    });
  });
});

describe('svc daemon restart', () => {
  it.each([
    { file: 'host.json', text: '{"host": ' },
    { file: 'host.json', text: '{"host": "a b"}' },
    { file: 'host.json', text: '{"host_class": "exposed"}' },
    { file: 'agents.json', text: '{"agents": [{"id": "mine", "harness": "emacs"}]}' },
    { file: 'stores.json', text: '7' },
  ])('[DSP-3] [OPF-4] does not stop a daemon while $file is $text', async ({ file, text }) => {
    await start('ready');
    const { pid } = daemonFile();
    mkdirSync(machine.config_dir, { recursive: true });
    writeFileSync(join(machine.config_dir, file), text);
    const refused = await machine.svc('daemon', 'restart');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('the daemon was not stopped and goes on as before');
    expect(refused.err).toContain(text.includes('exposed') ? 'SVC_LISTEN=unix:' : file);
    expect(await processLife({ pid, start_time: null })).toBe('alive');
  });

  /** `svc daemon restart` while a daemon runs, in an environment that keeps the next one from booting. */
  async function restartRefused(change: Record<string, string>): Promise<string> {
    await start('ready');
    const { pid } = daemonFile();
    Object.assign(machine.env, change);
    const refused = await machine.svc('daemon', 'restart');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('the daemon was not stopped and goes on as before');
    expect(await processLife({ pid, start_time: null })).toBe('alive');
    return refused.err;
  }

  it.each([
    ['is missing', null],
    ['cannot be executed', { text: '#!/bin/sh\necho \'{"host": "told"}\'\n', mode: 0o644 }],
    ['fails', { text: '#!/bin/sh\nexit 7\n', mode: 0o755 }],
    ['names no host', { text: '#!/bin/sh\necho \'{"contract": 1}\'\n', mode: 0o755 }],
  ])('[DSP-3] does not stop a daemon while the program of SVC_CLI %s', async (_case, program) => {
    const cli = join(machine.folder, 'cli.sh');
    if (program !== null) writeFileSync(cli, program.text, { mode: program.mode });
    const err = await restartRefused({ SVC_CLI: cli });
    expect(err).toContain(`SVC_CLI is ${cli}`);
    expect(err).toContain('fix it or unset SVC_CLI');
  });

  it('[P34] does not stop a daemon while another process holds its new address', async () => {
    const other = await serveAnswers({});
    servers.push(other);
    const err = await restartRefused({ SVC_LISTEN: other.listen });
    expect(err).toMatch(`${other.listen} is held by pid ${process.pid} (`);
    expect(err).toContain('set SVC_LISTEN to another port');
  });

  it.each([
    ['0.0.0.0:4000', 'use 127.0.0.1:PORT'],
    ['unix:/no/such/folder/api.sock', '/no/such/folder'],
  ])('[LIM-1] does not stop a daemon while SVC_LISTEN is %s', async (SVC_LISTEN, mend) => {
    expect(await restartRefused({ SVC_LISTEN })).toContain(mend);
  });
});

describe('svc daemon status', () => {
  it('exits with 3 and says how to start it if none runs', async () => {
    expect(await machine.svc('daemon', 'status')).toEqual({
      code: 3,
      out: 'The daemon does not run. Start it with: svc daemon start\n',
      err: '',
    });
    expect(await machine.svc('daemon', 'status', '--json')).toMatchObject({ code: 3 });
    machine.writeDaemonFile([], { start_time: '1' });
    expect((await machine.svc('daemon', 'status')).out).toContain('ended without saying so');
  });

  it('[OPR-1] shows what runs, and whether it is another build', async () => {
    const components = [
      { name: 'audio', state: 'failed' as const, restarts: 5, started_at: null, last_error: 'no recorder' },
    ];
    await serve({ 'GET /version': { body: versionAnswer({ git_short_sha: '0000000', components }) } });
    const { code, out } = await machine.svc('daemon', 'status');
    expect(code).toBe(0);
    expect(out).toContain(`pid ${process.pid}, started 2 min ago`);
    expect(out).toMatch(/version {2}0\.1\.0 \(0000000\), while svc is .*svc daemon restart/);
    expect(out).toMatch(/audio\s+failed\s+5\s+no recorder/);
  });

  it('exits with 3 if the process runs but does not answer', async () => {
    machine.writeDaemonFile(['127.0.0.1:1']);
    const { code, out } = await machine.svc('daemon', 'status', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({
      running: true,
      answer: null,
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

async function serve(answers: Parameters<typeof serveAnswers>[0]): Promise<StandIn> {
  const server = await serveAnswers(answers);
  servers.push(server);
  machine.writeDaemonFile([server.listen]);
  return server;
}

describe('svc daemon logs', () => {
  const log = () => join(machine.data_dir, 'daemon.log');

  it('shows the last lines readably, or as written with --json', async () => {
    const record =
      '{"level":40,"time":1767603600000,"component":"poller","msg":"store is slow","store":"/srv/n","ms":7}';
    writeFileSync(log(), `one\ntwo\n${record}\n`);
    expect((await machine.svc('daemon', 'logs', '-n', '2')).out).toBe(
      'two\n2026-01-05T09:00:00.000Z warn  poller: store is slow store=/srv/n ms=7\n',
    );
    expect((await machine.svc('daemon', 'logs', '-n', '1', '--json')).out).toBe(`${record}\n`);
  });

  it('shows of a failure what it says, and where in the program it happened with --json alone', async () => {
    const record =
      '{"level":50,"time":1767603600000,"component":"main","msg":"request failed","err":{"type":"TypeError","message":"a slip","stack":"TypeError: a slip\\n    at run (file.ts:1:1)"}}';
    writeFileSync(log(), `${record}\n`);
    expect((await machine.svc('daemon', 'logs')).out).toBe(
      '2026-01-05T09:00:00.000Z error main: request failed err={"type":"TypeError","message":"a slip"}\n',
    );
    expect((await machine.svc('daemon', 'logs', '--json')).out).toBe(`${record}\n`);
  });

  it('makes control characters of a log line visible', async () => {
    writeFileSync(log(), '\u001b]0;gotcha\u0007\n');
    expect((await machine.svc('daemon', 'logs')).out).toBe('\\u001b]0;gotcha\\u0007\n');
  });

  it('says where the log will be', async () => {
    expect(await machine.svc('daemon', 'logs')).toMatchObject({
      code: 1,
      err: expect.stringContaining(log()),
    });
  });

  it('prints JSON documents with --json, also for text that is no record', async () => {
    const record = '{"level":30,"time":1,"msg":"ready"}';
    writeFileSync(log(), `svc: the port is taken\n${record}\n`);
    const { out } = await machine.svc('daemon', 'logs', '--json');
    expect(out.trimEnd().split('\n')).toEqual([
      JSON.stringify({ level: 50, time: null, msg: 'svc: the port is taken' }),
      record,
    ]);
  });

  it('follows lines as they are completed, even after the log was rotated', async () => {
    const { runLogs } = await import('../../../src/cli/verbs/daemon/logs.ts');
    writeFileSync(log(), 'old\n');
    const steps = [
      () => appendFileSync(log(), 'fir'),
      () => appendFileSync(log(), 'st\nsecond\n'),
      () => writeFileSync(log(), 'new\n'),
    ];
    // The clock of this run moves the log on instead of the time.
    const clock = {
      ...machine.context.clock,
      after: (_: number, run: () => void) => {
        const step = steps.shift();
        if (step === undefined) throw new Error('followed to the end');
        step();
        queueMicrotask(run);
        return () => {};
      },
    };
    await expect(runLogs({ ...context(), clock }, settings(), { follow: true, lines: 0 })).rejects.toThrow(
      'to the end',
    );
    expect(said).toBe('first\nsecond\nnew\n');
  });
});

/** The daemon on a release: what it would do, or `body`. */
const onRelease = (body: unknown) => (asked: unknown) =>
  (asked as { dry_run?: boolean }).dry_run === true ? rehearsal('release them') : body;

describe('svc daemon release on a terminal', () => {
  async function release(typed: string, ...options: string[]) {
    const row = { fiber_id: 'a', uid: null, store: '/srv/notes', since: 1, note: null };
    const held = [{ ...row, reason: 'boot_quarantine' }];
    const server = await serve({
      'GET /state': { body: stateAnswer({ pending_launch: held }) },
      'POST /quarantine/release': onRelease({ released: true, pending: 1, fibers: ['a'], held: [] }),
    });
    machine.context.stdin = Object.assign(Readable.from([typed]), { isTTY: true });
    const { code, out, err } = await machine.svc('daemon', 'release', ...options);
    return { code, out, err, released: server.seen.at(-1)?.path === '/quarantine/release' };
  }

  it.each(['y\n', ' Yes \n'])('[WPL-25] names the fibers, asks, and goes on at %j', async (typed) => {
    expect(await release(typed)).toEqual({
      code: 0,
      out: 'Held since the daemon started:\n  a\nReleased 1 held fiber.\n',
      err: 'Let it start? [y/N] ',
      released: true,
    });
  });

  it.each(['\n', 'n\n', 'yesterday\n', ''])('[WPL-25] releases nothing at %j', async (typed) => {
    expect(await release(typed)).toEqual({
      code: 1,
      out: 'Held since the daemon started:\n  a\nNothing was released.\n',
      err: 'Let it start? [y/N] ',
      released: false,
    });
  });

  it('[WPL-25] asks nothing while the daemon cannot tell what would start', async () => {
    const body = { error: 'mux_unavailable', message: 'tmux has not reported yet' };
    const server = await serve({ 'POST /quarantine/release': { status: 503, body } });
    machine.context.stdin = Object.assign(Readable.from(['y\n']), { isTTY: true });
    const { code, out, err } = await machine.svc('daemon', 'release');
    expect([code, out, err]).toEqual([1, '', 'svc: tmux has not reported yet\n']);
    expect(server.seen).toEqual([{ path: '/quarantine/release', body: { dry_run: true } }]);
  });

  it.each(['--yes', '--json'])('[WPL-25] asks nothing with %s', async (option) => {
    const { code, err, released } = await release('n\n', option);
    expect([code, err, released]).toEqual([0, '', true]);
  });
});

describe('svc daemon release and settings', () => {
  it('[WPL-25] releases what the restart held back', async () => {
    const row = (fiber_id: string, reason: string) => ({
      ...{ fiber_id, uid: null, store: '/srv/notes', since: 1 },
      ...{ reason, note: null },
    });
    const held = [row('a', 'boot_quarantine'), row('b', 'killed'), row('c', 'boot_quarantine')];
    const server = await serve({
      'GET /state': { body: stateAnswer({ pending_launch: held }) },
      'POST /quarantine/release': onRelease({
        released: true,
        pending: 2,
        fibers: ['a', 'c'],
        held: [{ fiber_id: 'b', reason: 'killed' }],
      }),
    });
    expect(await machine.svc('daemon', 'release')).toEqual({
      code: 0,
      out:
        'Held since the daemon started:\n  a\n  c\nReleased 2 held fibers.\n' +
        'Still held:\n  b (stopped by you): svc resume b\n',
      err: '',
    });
    expect(server.seen).toEqual([
      { path: '/quarantine/release', body: { dry_run: true } },
      { path: '/state', body: null },
      { path: '/quarantine/release', body: {} },
    ]);
  });

  it.each([
    [true, 'Released: what becomes due starts by itself again. No fiber was waiting.\n'],
    [false, 'Nothing was held back.\n'],
  ])(
    '[WPL-25] says what it let go where no fiber waits and a restart holds back: %s',
    async (active, out) => {
      const { boot_quarantine } = stateAnswer();
      await serve({
        'GET /state': { body: stateAnswer({ boot_quarantine: { ...boot_quarantine, active, held: 0 } }) },
        'POST /quarantine/release': onRelease({ released: true, pending: 0, fibers: [], held: [] }),
      });
      expect(await machine.svc('daemon', 'release')).toEqual({ code: 0, out, err: '' });
    },
  );

  it('lists every setting with its value here', async () => {
    machine.env.SVC_POLL_INTERVAL_MS = '700';
    const { out } = await machine.svc('daemon', 'settings', '--json');
    const rows = JSON.parse(out) as { env: string; value: unknown; default: unknown }[];
    expect(rows.map((row) => row.env)).toEqual(Object.values(SETTINGS).map((row) => row.env));
    expect(rows.find((row) => row.env === 'SVC_POLL_INTERVAL_MS')).toMatchObject({
      value: 700,
      default: 30_000,
    });
    expect((await machine.svc('daemon', 'settings')).out).toMatch(/^SVC_HOST\t-\t-\tHost id/);
  });
});
