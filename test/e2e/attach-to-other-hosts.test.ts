import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellLine } from '../../src/base/shell-word.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { loginSession, SshServer } from '../kit/ssh-server.ts';
import { until } from '../kit/until.ts';

/** The daemon beside which a person sits, and the one that runs the worker. */
let hub: TestDaemon;
let owner: TestDaemon;
let server: SshServer;
let worker: string;

beforeAll(async () => {
  [hub, owner] = await Promise.all([
    startTestDaemon({ settings: { SVC_HOST: 'host-a' } }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b' },
      prepare(home) {
        home.fiber('work/far-away', { agent: 'stays', svc: { host: 'host-b' } });
        home.fiber('work/at-rest', { front: { status: 'open' }, svc: { host: 'host-b' } });
      },
    }),
  ]);
  server = new SshServer(owner.home, loginSession(owner.home));
  await server.start();
  worker = (await owner.running('work/far-away')).runtime.mux_session!;
  await configure({ ssh: server.alias, ssh_flags: server.flags });
});
afterAll(async () => {
  await server.stop();
  await Promise.all([hub.dispose(), owner.dispose()]);
});

async function configure(more: object): Promise<void> {
  const url = `http://${owner.address}`;
  hub.home.write('config/remotes.json', { remotes: [{ name: 'host-b', url, ...more }] });
  await until('what the remote runs', async () => {
    const { body } = await hub.http.get<{ origins: Record<string, { read: unknown }> }>('/state/composite');
    return body.origins['host-b']?.read != null;
  });
}

/** Runs `svc attach` in a terminal of the hub, looks at it, and detaches; answers what that terminal showed at the end. */
async function attached(...args: string[]): Promise<string> {
  const command = shellLine([process.execPath, hub.home.launcher, 'attach', ...args]);
  const { TMUX: _outer, ...env } = hub.home.env;
  const given = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value ?? ''}`]);
  const shell = ['sh', '-c', `${command}; echo "ended with $?"; sleep 60`];
  await hub.home.tmux('new-session', '-d', '-s', 'desk', ...given, ...shell);
  try {
    await until('a client of the worker', async () =>
      (await owner.home.tmux('list-clients', '-F', '#{session_name}')).includes(worker),
    );
    await owner.home.tmux('detach-client', '-s', `=${worker}`);
    const screen = () => hub.home.tmux('capture-pane', '-p', '-t', '=desk:');
    await until('its end', async () => (await screen()).includes('ended with'));
    return await screen();
  } finally {
    await hub.home.tmux('kill-session', '-t', '=desk');
  }
}

describe('svc attach', () => {
  it('[WPL-21] shows the worker of another host by SSH, found by its name, and returns when it is detached', async () => {
    expect(await attached('far-away')).toMatch(/svc: far-away is on host-b[\s\S]*ended with 0/);
  });

  it('[WPL-21] shows it where its host and its session are named', async () => {
    expect(await attached('work/far-away', '--host', 'host-b')).toContain('ended with 0');
    expect(await attached(worker, '--host', 'host-b')).toContain('ended with 0');
  });

  it('[WPL-21] shows what it would run, and runs nothing', async () => {
    const shown = await hub.home.svc('attach', 'far-away', '--dry-run');
    expect(shown.stdout).toContain(`show ${worker} of host-b in this terminal`);
    expect(shown.stdout).toContain('ssh');
    const past = await hub.home.svc('attach', '--session', 'nobody', '--host', 'host-b', '--dry-run');
    expect(past.stdout).toContain('svc attach --session nobody');
  });

  it('[WPL-21] says where a fiber is that no worker runs, and how one is started', async () => {
    for (const name of ['at-rest', 'work/at-r'])
      expect(await hub.home.svc('attach', name)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /svc: work\/at-rest is on host-b\n[\s\S]*no worker runs for work\/at-rest;[\s\S]*svc why work\/at-rest/,
        ),
      });
  });

  it('[WPL-21] refuses what it cannot show, with the fix', async () => {
    expect(await hub.home.svc('attach', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('svc ps'),
    });
    expect(await hub.home.svc('attach', 'nobody', '--host', 'host-b')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no worker runs for nobody'),
    });
    expect(await hub.home.svc('attach', 'far-away', '--host', 'host-c')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no host is called host-c. Did you mean host-b?'),
    });
    server.admit(false);
    try {
      expect(await hub.home.svc('attach', 'far-away')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/Permission denied[\s\S]*svc remotes check host-b/),
      });
    } finally {
      server.admit(true);
    }
    await configure({});
    expect(await hub.home.svc('attach', 'far-away')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('needs "ssh"'),
    });
  });
});
