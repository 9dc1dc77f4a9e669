import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HAS_LOOPBACK_V6 } from '../http/served.ts';
import { startTestDaemon, TestDaemon } from '../kit/daemon.ts';
import { createHttp } from '../kit/http.ts';
import { TestHome } from '../kit/test-home.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

/** A daemon that is expected not to come up; what it said. */
async function refused(prepare: (home: TestHome) => void): Promise<{ code: number | null; text: string }> {
  const home = new TestHome();
  prepare(home);
  daemon = new TestDaemon(home);
  daemon.spawn();
  const { code, stdout, stderr } = await daemon.ended();
  return { code, text: stdout + stderr };
}

function expose(home: TestHome, listen: string): void {
  home.write('config/host.json', { host_class: 'exposed' });
  home.env.SVC_LISTEN = listen;
}

/** Listening TCP sockets of a process. */
function tcpListeners(pid: number): number {
  const { stdout } = spawnSync('ss', ['-Hltnp'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(`pid=${pid},`)).length;
}

describe('the listeners of a daemon', () => {
  it('[LIM-1] are both loopback addresses and a socket that only its user can open', async () => {
    daemon = await startTestDaemon();
    const path = daemon.home.path('data/socket/api.sock');
    const port = daemon.address.split(':').at(-1);
    const { listen, peer_gate } = await daemon.version();
    expect(listen).toEqual([
      `127.0.0.1:${port}`,
      ...(HAS_LOOPBACK_V6 ? [`[::1]:${port}`] : []),
      `unix:${path}`,
    ]);
    if (process.platform === 'linux')
      expect(peer_gate).toEqual({ mode: 'enforced', uid: process.geteuid?.(), source: '/proc/net/tcp' });
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(dirname(path))).toBe(0o700);
    const tunnel = createHttp(() => `unix:${path}`);
    expect((await tunnel.get('/fibers')).status).toBe(200);
    expect((await tunnel.get('/fibers', { host: 'rebind.example' })).status).toBe(403);
    await daemon.kill9();
    expect(existsSync(path)).toBe(true);
    await daemon.start();
    expect((await tunnel.get('/fibers')).status).toBe(200);
    await daemon.stop();
    expect(existsSync(path)).toBe(false);
  });

  it('remove the permissions of others on the folder of that socket', async () => {
    daemon = await startTestDaemon({
      prepare(home) {
        mkdirSync(home.path('data/socket'), { recursive: true });
        chmodSync(home.path('data/socket'), 0o755);
      },
    });
    expect(modeOf(daemon.home.path('data/socket'))).toBe(0o700);
  });
});

describe('a host of class exposed', () => {
  it('[AUT-2] refuses a TCP listener at boot, and names the alternative', async () => {
    const { code, text } = await refused((home) => expose(home, '127.0.0.1:0'));
    expect(code).not.toBe(0);
    expect(text).toMatch(/exposed and takes no TCP listener; set SVC_LISTEN=unix:\/\S+\/socket\/api\.sock/);
  });

  it('refuses a socket in a folder that is open to others', async () => {
    const { code, text } = await refused((home) => {
      mkdirSync(home.path('open'));
      chmodSync(home.path('open'), 0o755);
      expose(home, `unix:${home.path('open/api.sock')}`);
    });
    expect(code).not.toBe(0);
    expect(text).toMatch(/open is open to other users; run: chmod 700 '/);
  });

  it('[AUT-2] [OPR-1] is served only on a Unix socket of mode 0600 in a folder of mode 0700', async () => {
    daemon = await startTestDaemon({
      prepare: (home) => expose(home, `unix:${home.path('private/api.sock')}`),
    });
    const path = daemon.home.path('private/api.sock');
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(dirname(path))).toBe(0o700);
    expect(await daemon.version()).toMatchObject({
      host_class: 'exposed',
      listen: [`unix:${path}`],
      peer_gate: { mode: 'enforced', uid: process.geteuid?.(), source: 'unix_socket' },
    });
    if (process.platform === 'linux') expect(tcpListeners(daemon.pid)).toBe(0);
    expect((await daemon.home.svc('status')).code).toBe(0);
  });
});

const WITHOUT_V6 = ['unshare', '--net', 'sh', '-c'];
const SHUT = 'ip link set lo up && echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6';
const CANNOT =
  spawnSync(WITHOUT_V6[0]!, [...WITHOUT_V6.slice(1), SHUT]).status === 0
    ? null
    : 'no network namespace without IPv6 can be made here';

describe.skipIf(CANNOT !== null)(`a machine without ::1${CANNOT === null ? '' : ` (${CANNOT})`}`, () => {
  it('is served on 127.0.0.1 alone, and the log says so', async () => {
    const home = new TestHome();
    const program = home.daemonArgv().map((word) => `'${word}'`);
    daemon = new TestDaemon(home, { under: () => [...WITHOUT_V6, `${SHUT} && exec ${program.join(' ')}`] });
    daemon.spawn();
    const http = createHttp(() => `unix:${home.path('data/socket/api.sock')}`);
    await expect
      .poll(async () => (await http.get('/version').catch(() => null))?.body.listen, { timeout: 60_000 })
      .toEqual([expect.stringMatching(/^127\.0\.0\.1:/), expect.stringMatching(/^unix:/)]);
    expect(daemon.log).toContain('this machine has no ::1');
    const { body } = await http.get<{ pid: number }>('/version');
    process.kill(body.pid, 'SIGTERM');
    await daemon.ended();
  });
});
