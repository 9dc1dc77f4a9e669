import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { type NamedRow, processesMarked, signal } from '../kit/processes.ts';
import { loginSession, SshServer } from '../kit/ssh-server.ts';
import { until } from '../kit/until.ts';
import { runUserManager } from '../kit/user-manager.ts';

let hub: TestDaemon;
let owner: TestDaemon;
let server: SshServer;
/** Where the tunnel begins. */
let socket: string;
let running: { child: ChildProcess; said: string } | null = null;

beforeAll(async () => {
  [hub, owner] = await Promise.all([
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-a' },
      prepare(home) {
        // The service manager of whoever runs this is left alone.
        chmodSync(home.write('bin/systemctl', '#!/bin/sh\nexit 1\n'), 0o755);
        home.env.PATH = `${home.path('bin')}:${home.env.PATH}`;
      },
    }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b' },
      prepare(home) {
        home.fiber('say-hello', { front: { status: 'open' }, svc: { host: 'host-b' } });
      },
    }),
  ]);
  await owner.rowWhen('say-hello', 'listed', () => true);
  server = new SshServer(owner.home);
  await server.start();
  socket = hub.home.path('runtime/tunnels/host-b.sock');
});
afterEach(async () => {
  await stopTunnel();
  server.admit(true);
  server.trustHostKey();
});
afterAll(async () => {
  await server.stop();
  await Promise.all([hub.dispose(), owner.dispose()]);
});

function configure(far: Record<string, unknown>): void {
  const { alias: ssh, flags: ssh_flags } = server;
  hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', ssh, ssh_flags, socket, ...far }] });
}

/** `svc tunnels run host-b` in a process of its own. */
function startTunnel(): { child: ChildProcess; said: string } {
  const { launcher, env } = hub.home;
  const child = spawn(process.execPath, [launcher, 'tunnels', 'run', 'host-b'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const tunnel = { child, said: '' };
  child.stderr.on('data', (text) => {
    tunnel.said += text;
  });
  running = tunnel;
  return tunnel;
}

async function stopTunnel(how: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (running === null) return null;
  const { child } = running;
  running = null;
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill(how);
    await gone;
  }
  await until('the end of ssh', () => sshOf().length === 0);
  return child.exitCode;
}

const sshOf = (): NamedRow[] =>
  processesMarked(hub.home.root).filter(({ command }) => /^\S*\/ssh .*host-b-login$/.test(command));
const ask = () => hub.http.get('/fibers/say-hello?origin=host-b');
const answered = () => until('the answer of host-b', async () => (await ask()).status === 200);

describe('a tunnel', () => {
  it('[RTE-2] leads from a Unix socket that only this user can open to the socket of the other daemon', async () => {
    configure({ remote_socket: join(owner.home.data, 'socket/api.sock') });
    startTunnel();
    await answered();
    expect((await ask()).headers['svc-host']).toBe('host-b');
    const { mode } = statSync(socket);
    expect(mode & 0o777).toBe(0o600);
    expect(statSync(join(socket, '..')).mode & 0o777).toBe(0o700);
    expect(await stopTunnel()).toBe(0);
  });

  it('[WPL-19] is shown by the daemon also where no service manager would keep it up', async () => {
    configure({});
    const shown = await hub.http.post('/tunnels', { dry_run: true });
    expect(shown).toMatchObject({
      status: 200,
      body: { dry_run: true, units: [{ remote: 'host-b', state: 'not_installed' }] },
    });
    expect(shown.text).toContain('cannot be done: no service manager of this user answers here');
    const refused = await hub.http.post('/tunnels', {});
    expect(refused).toMatchObject({ status: 501, body: { error: 'no_service_manager' } });
  });

  it('[RTE-2] leads to the port of the other daemon, and is up again after its ssh was killed', async () => {
    configure({ remote_port: Number(owner.address.split(':').at(-1)) });
    const tunnel = startTunnel();
    await answered();
    const [first] = sshOf();
    signal(first!, 'SIGKILL');
    await until('another ssh', () => sshOf().some(({ pid }) => pid !== first!.pid));
    await answered();
    expect(tunnel.said).toMatch(/the tunnel to host-b ended: .*tried again in 1 s/);
  });

  it('ends with the process that keeps it up, also where that one is killed', async () => {
    configure({ remote_port: Number(owner.address.split(':').at(-1)) });
    startTunnel();
    await answered();
    await stopTunnel('SIGKILL');
    expect(await ask()).toMatchObject({
      status: 503,
      body: { error: 'remote_unreachable', origin: 'host-b' },
    });
  });

  it('says that the key of this user is refused, with the fix, and is up once it is taken', async () => {
    configure({ remote_port: Number(owner.address.split(':').at(-1)) });
    server.admit(false);
    const tunnel = startTunnel();
    await until('the refusal', () => tunnel.said.includes('refuses the key of this user'));
    expect(tunnel.said).toContain('ssh-copy-id host-b-login');
    server.admit(true);
    await answered();
  });

  it('is refused where the host key is another one, with the fix, and where it is not known', async () => {
    configure({ remote_port: Number(owner.address.split(':').at(-1)) });
    server.newHostKey();
    await server.restart();
    const tunnel = startTunnel();
    await until('the refusal', () => tunnel.said.includes('its host key is another one than before'));
    expect(tunnel.said).toMatch(/fingerprint.*ssh-keygen -R/);
    server.trustHostKey(false);
    await until('the other refusal', () => tunnel.said.includes('its host key is not known here yet'));
    expect(tunnel.said).toContain('connect once by hand and compare');
    expect((await ask()).status).toBe(503);
    server.trustHostKey();
    await answered();
  });
});

describe('svc remotes check', () => {
  type Checked = {
    ok: boolean;
    remotes: { findings: { name: string; level: string; what: string; mend: string }[] }[];
  };
  async function check(): Promise<Record<string, { level: string; what: string; mend: string }>> {
    const ran = await hub.home.svc('remotes', 'check', 'host-b', '--json');
    const { ok, remotes } = JSON.parse(ran.stdout) as Checked;
    expect(ran.code).toBe(ok ? 0 : 1);
    return Object.fromEntries(remotes[0]!.findings.map(({ name, ...finding }) => [name, finding]));
  }

  it('[RTE-2] finds all well where the tunnel is up, in 80 columns', async () => {
    configure({ remote_socket: join(owner.home.data, 'socket/api.sock') });
    startTunnel();
    await answered();
    expect(await check()).toMatchObject({
      ssh: { level: 'ok' },
      daemon: { level: 'ok', what: `answers at ${socket}` },
      'host id': { level: 'ok', what: 'host-b' },
      build: { level: 'ok' },
    });
    const { stdout } = await hub.home.svc('remotes', 'check');
    expect(stdout).toMatch(/^host-b\nok +ssh: host-b-login lets this user in\n/);
  });

  it('tells the tunnel that is down from the key that is refused, each with its fix', async () => {
    configure({ remote_socket: join(owner.home.data, 'socket/api.sock') });
    expect(await check()).toMatchObject({
      ssh: { level: 'ok' },
      daemon: { level: 'fail', mend: expect.stringContaining('svc tunnels install host-b') },
    });
    server.admit(false);
    expect(await check()).toMatchObject({
      ssh: { level: 'fail', mend: expect.stringContaining('ssh-copy-id host-b-login') },
    });
  });

  it('[RTE-2] refuses an address that leads to another host, and names it', async () => {
    const to = hub.address.split(':').at(-1);
    hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', port: Number(to) }] });
    expect(await check()).toMatchObject({
      daemon: { level: 'ok' },
      'host id': { level: 'fail', what: expect.stringContaining('leads to this host, host-a') },
    });
  });

  it('says of an address where something else answers that it is no daemon', async () => {
    const stranger = createServer((_, response) => response.end('{"host":"host-b"}'));
    await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
    try {
      const { port } = stranger.address() as { port: number };
      hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', port }] });
      expect(await check()).toMatchObject({
        daemon: { level: 'fail', what: expect.stringContaining('not a daemon of this kind') },
      });
    } finally {
      stranger.close();
    }
  });
});

/** The server of the other host is reached by an alias with a user in it. */
const add = (...more: string[]) =>
  hub.home.svc(
    'remotes',
    'add',
    `${userInfo().username}@host-b-login`,
    ...server.flags.map((flag) => `--ssh-flag=${flag}`),
    ...more,
  );
const file = () => hub.home.path('config/remotes.json');

describe('svc remotes add user@host', () => {
  it('[WPL-18] finds the daemon there and writes an entry whose tunnel leads to its socket', async () => {
    rmSync(file(), { force: true });
    server.session = loginSession(owner.home);
    await server.restart();
    const shown = await add('--dry-run');
    expect(shown.stdout).toContain('+');
    expect(existsSync(file())).toBe(false);
    const added = await add();
    expect([added.stderr, added.code]).toEqual(['', 0]);
    expect(added.stdout).toContain('svc tunnels run host-b');
    expect(JSON.parse(readFileSync(file(), 'utf8')).remotes).toEqual([
      {
        name: 'host-b',
        ssh: `${userInfo().username}@host-b-login`,
        ssh_flags: [...server.flags],
        socket,
        remote_socket: join(owner.home.data, 'socket/api.sock'),
      },
    ]);
    startTunnel();
    await answered();
    const { git_short_sha } = (await owner.http.get<{ git_short_sha: string }>('/version')).body;
    await add('--pin');
    expect(JSON.parse(readFileSync(file(), 'utf8')).remotes[0].build).toBe(git_short_sha);
    await answered();
  });

  it('gives no host the name of a remote that is reached another way', async () => {
    const known = { version: 1, remotes: [{ name: 'host-b', ssh: 'me@elsewhere', socket, auth: 'kept' }] };
    writeFileSync(file(), JSON.stringify(known));
    server.session = loginSession(owner.home);
    await server.restart();
    expect(await add()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /is a remote already, reached as me@elsewhere; nothing was written\. If .* svc remotes rm host-b/,
      ),
    });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual(known);
  });

  it('writes nothing where a step fails, and says how to fix it', async () => {
    rmSync(file(), { force: true });
    server.session = { PATH: '/usr/bin:/bin' };
    await server.restart();
    expect(await add()).toMatchObject({ code: 1, stderr: expect.stringContaining('has no svc on the PATH') });
    server.session = { ...loginSession(owner.home), SVC_DATA_DIR: owner.home.path('none') };
    await server.restart();
    expect((await add()).stderr).toMatch(/no daemon answers.*start it: ssh .*svc daemon start/);
    server.admit(false);
    expect((await add()).stderr).toContain('refuses the key of this user');
    expect(existsSync(file())).toBe(false);
  });
});

describe('a tunnel that the service manager keeps up', () => {
  beforeAll(async () => {
    runUserManager(hub.home);
    const defaults = { poll_interval_ms: 500, request_timeout_ms: 500 };
    hub.home.write('config/remotes.json', { remotes: [], defaults });
    server.session = loginSession(owner.home);
    await server.restart();
  });
  afterAll(async () => {
    await hub.home.svc('tunnels', 'remove', 'host-b');
    await until('the end of ssh', () => sshOf().length === 0);
  });
  const row = () => hub.http.get<{ origins: Record<string, { state: string }> }>('/fibers/composite');
  const stateIs = (state: string) =>
    until(`that host-b is ${state}`, async () => (await row()).body.origins['host-b']?.state === state);

  it('[WPL-18] [WPL-19] is set up by one command, which shows the first fibers of the other host', async () => {
    const added = await add();
    expect([added.stderr, added.code]).toEqual(['', 0]);
    expect(added.stdout).toContain('Its tunnel is kept up by the service manager.');
    expect(added.stdout).toMatch(/host-b has 1 fiber, 0 at work\.\n\nsay-hello\topen/);
    expect((await hub.home.svc('tunnels')).stdout).toMatch(/host-b\s+\S+\s+runs/);
    await stateIs('fresh');
  });

  it('[BRK-1] is restarted when it hangs, and the other host is fresh again by itself', async () => {
    const [hung] = sshOf();
    signal(hung!, 'SIGSTOP');
    await stateIs('stale');
    await until('another ssh', () => sshOf().some(({ pid }) => pid !== hung!.pid));
    await stateIs('fresh');
  });
});
