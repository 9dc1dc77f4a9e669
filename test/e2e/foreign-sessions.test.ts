import { exec } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

const STAY = ['/bin/sleep', '86400'];

async function openSession(home: TestHome, name: string): Promise<void> {
  const said = await home.tmux('new-session', '-d', '-s', name, ...STAY);
  if (said !== '') throw new Error(`tmux: ${said}`);
}

it('[DSP-10][P4] changes no foreign session, at its start, at a kill and at its end', async () => {
  const names: string[] = [];
  let pids: number[] = [];
  daemon = await startTestDaemon({
    async prepare(home) {
      const uid = home.fiber('resumed', { front: { status: 'open' } });
      const foreign = home.fiber('foreign', { svc: { host: 'another-host' } });
      const unknown = '01BX5ZZKBKACTAV9WEVGEMMVRZ';
      names.push(`resume-${randomUUID()}`, `resumed-${uid}`, `svc-${uid}`, 'a-person', 'svc-anchor');
      names.push(`foreign-${foreign}-svc`, `nowhere-${unknown}-svc`, `resumed-${uid}-svc-2`);
      for (const name of names) await openSession(home, name);
      pids = await Promise.all(names.map((name) => home.panePid(name)));
      home.fiber('mine');
    },
  });
  const { home } = daemon;
  await daemon.running('mine');
  await daemon.ticks();
  expect((await daemon.state()).running.map((run) => run.fiber_id)).toEqual(['mine']);
  expect((await daemon.kill('mine')).status).toBe(200);
  await daemon.ticks();
  const pidsNow = (of: string[]) => Promise.all(of.map((name) => home.panePid(name)));
  expect(await pidsNow(names)).toEqual(pids);
  await daemon.restart();
  // What a person killed stays held.
  expect(await daemon.dispatch({ fiber_id: 'mine' })).toMatchObject({ body: { dispatched: true } });
  await daemon.running('mine');
  await daemon.ticks();
  expect((await daemon.state()).running.map((run) => run.fiber_id)).toEqual(['mine']);
  await daemon.stop();
  // A person's session that has the name of the anchor stays too.
  expect(await pidsNow(names)).toEqual(pids);
});

it('[DSP-2][DSP-9] starts a fiber although a shell has the session of its worker, which is renamed and told with the command that ends it', async () => {
  let name = '';
  let shell = 0;
  daemon = await startTestDaemon({
    async prepare(home) {
      name = `taken-${home.fiber('taken')}-svc`;
      // As a program does that restores the sessions of before a reboot.
      const said = await home.tmux('new-session', '-d', '-s', name);
      if (said !== '') throw new Error(`tmux: ${said}`);
      shell = await home.panePid(name);
    },
  });
  const { home } = daemon;
  await daemon.running('taken');
  const aside = `${name}-not-ours`;
  const row = await daemon.rowWhen('taken', 'told', (one) => one.not_ours?.[0]?.mux_session === aside);
  expect(row.runtime?.mux_session).toBe(name);
  expect(await home.panePid(aside)).toBe(shell);
  const { command = '' } = row.not_ours?.[0] ?? {};
  for (const verb of ['ps', 'why', 'status']) {
    const said = await home.svc(...(verb === 'ps' ? [verb] : [verb, 'taken']));
    expect(said.stdout.replace(/\s+/g, ' '), verb).toContain(command);
  }
  await daemon.restart();
  await daemon.running('taken');
  expect(launchesOf(home.data, 'taken')).toHaveLength(1);
  await promisify(exec)(command);
  await daemon.rowWhen('taken', 'without the session', (one) => one.not_ours === undefined);
  expect(await home.panePid(name)).not.toBe(shell);
});

it('[P1][DSP-2] takes no shell for a worker whose server was lost, and starts the fiber again when that is let go', async () => {
  daemon = await startTestDaemon({ prepare: (home) => void home.fiber('lost') });
  const { home } = daemon;
  await daemon.running('lost');
  const name = (await daemon.state()).running[0]?.mux_session ?? '';
  await daemon.stop();
  process.kill(Number(await home.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
  await until('a server with a shell in its place', async () => {
    return (await home.tmux('new-session', '-d', '-s', name)) === '';
  });
  await daemon.start();
  const row = await daemon.rowWhen('lost', 'told', (one) => one.not_ours !== undefined);
  expect([row.runtime, row.not_ours?.[0]?.mux_session]).toEqual([undefined, name]);
  expect(await daemon.dispatch({ fiber_id: 'lost' })).toMatchObject({ body: { dispatched: true } });
  await daemon.running('lost');
});

it('[P1][DSP-2] starts no second agent where a program restores the sessions of a lost server with their commands', async () => {
  daemon = await startTestDaemon({ prepare: (home) => void home.fiber('restored') });
  const { home } = daemon;
  await daemon.running('restored');
  const name = (await daemon.state()).running[0]?.mux_session ?? '';
  const command = await home.tmux('display-message', '-p', '-t', name, '#{pane_start_command}');
  expect(command).toContain('run.sh');
  await daemon.stop();
  process.kill(Number(await home.tmux('display-message', '-p', '#{pid}')), 'SIGKILL');
  await until('a server with a shell in its place', async () => {
    return (await home.tmux('new-session', '-d', '-s', name)) === '';
  });
  await home.tmux('send-keys', '-t', name, command, 'Enter');
  await until('what the script says', async () =>
    (await home.tmux('capture-pane', '-p', '-J', '-t', name)).includes('was started before'),
  );
  await daemon.start();
  await daemon.rowWhen('restored', 'told', (one) => one.not_ours !== undefined);
  expect(launchesOf(home.data, 'restored')).toHaveLength(1);
});

it('[DSP-5] refuses a start on a tmux server that ends with its last client, and names the option', async () => {
  daemon = await startTestDaemon({ prepare: (home) => void home.fiber('refused') });
  const { home } = daemon;
  await daemon.running('refused');
  await daemon.kill('refused');
  // The client of the daemon keeps the server.
  await home.tmux('set-option', '-s', 'exit-unattached', 'on');
  expect(await daemon.dispatch({ fiber_id: 'refused' })).toMatchObject({
    status: 422,
    body: {
      reason: 'tmux_server_unavailable',
      message: expect.stringMatching(/exit-unattached is on.*set-option -s exit-unattached off/),
    },
  });
  await home.tmux('set-option', '-s', 'exit-unattached', 'off');
  expect(await daemon.dispatch({ fiber_id: 'refused' })).toMatchObject({ body: { dispatched: true } });
});
