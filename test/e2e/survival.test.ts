import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { isRunning, processesMarked, processOf } from '../kit/processes.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

const FIBERS = ['one', 'two', 'three/deep'];

/** What must be the same after the daemon came back: who works, since when, in which session. */
async function workersOf(of: TestDaemon) {
  return Promise.all(
    FIBERS.map(async (id) => {
      const { runtime } = await of.running(id);
      const { mux_session, session_uuid, run_id, started_at, agent } = runtime;
      const pane = await of.home.panePid(mux_session!);
      return {
        id,
        agent_pid: await of.agentPid(id),
        pane,
        mux_session,
        session_uuid,
        run_id,
        started_at,
        agent,
      };
    }),
  );
}

describe('running workers', () => {
  it('[P1][P6][DSP-2] keep running while the daemon is stopped or killed, alone or with its process group, and are adopted by the next one', async () => {
    daemon = await startTestDaemon({
      under: () => ['setsid', '--wait'],
      prepare: (home) => FIBERS.forEach((id) => void home.fiber(id)),
    });
    const before = await workersOf(daemon);
    const ends = [
      () => daemon!.stop(),
      () => daemon!.kill9(),
      async () => {
        process.kill(-daemon!.pid, 'SIGKILL');
        await daemon!.ended();
      },
    ];
    for (const end of ends) {
      await end();
      for (const { agent_pid, pane } of before)
        expect([isRunning(processOf(agent_pid)), isRunning(processOf(pane))]).toEqual([true, true]);
      await daemon.start();
      expect(await workersOf(daemon)).toEqual(before);
    }
    await daemon.ticks();
    expect((await daemon.home.sessions()).sort()).toEqual(before.map((one) => one.mux_session).sort());
    for (const id of FIBERS) expect(launchesOf(daemon.home.data, id)).toHaveLength(1);
  });

  it('[P6] that ended while no daemon ran are settled by the next one', async () => {
    daemon = await startTestDaemon({ prepare: (home) => void home.fiber('ended-alone') });
    await daemon.running('ended-alone');
    const agent = processOf(await daemon.agentPid('ended-alone'));
    await daemon.kill9();
    process.kill(agent.pid, 'SIGKILL');
    await until('the end of the agent', () => !isRunning(agent));
    await daemon.start({ release: false });
    await daemon.ticks();
    expect((await daemon.state()).running).toEqual([]);
    const row = await daemon.row('ended-alone');
    expect(row).toMatchObject({ held: 'boot_quarantine' });
    expect(row?.runtime).toBeUndefined();
  });
});

describe('a restart', () => {
  it('[WPL-25][OPR-2][DSP-4] does not launch armed fibers: they wait in pending_launch until they are released', async () => {
    daemon = await startTestDaemon({
      release: false,
      prepare: (home) => {
        home.fiber('waiting');
        home.fiber('forced');
      },
    });
    await daemon.rowWhen('waiting', 'held', (row) => row.held === 'boot_quarantine');
    await daemon.ticks();
    const state = await daemon.state();
    expect(state.pending_launch.map((row) => row.fiber_id).sort()).toEqual(['forced', 'waiting']);
    expect(state.boot_quarantine).toMatchObject({
      active: true,
      reason: 'restart',
      held: 2,
      released_at: null,
    });
    expect(state.running).toEqual([]);

    expect(await daemon.dispatch({ fiber_id: 'forced', force: true })).toMatchObject({ status: 200 });
    await daemon.running('forced');
    expect((await daemon.state()).boot_quarantine).toMatchObject({ active: true, held: 1 });
    expect((await daemon.row('waiting'))?.held).toBe('boot_quarantine');

    const elsewhere = await daemon.http.post('/quarantine/release', { origin: 'another-host' });
    expect(elsewhere).toMatchObject({ status: 404, body: { error: 'unknown_host', origin: 'another-host' } });
    const released = await daemon.http.post('/quarantine/release', {});
    expect(released).toMatchObject({ status: 200, body: { released: true, pending: 1 } });
    await daemon.running('waiting');
    expect((await daemon.state()).boot_quarantine).toMatchObject({ active: false, held: 0 });
  });

  it('[P27][FIB-14] restores everything although every state, ledger and cache of the daemon was deleted', async () => {
    daemon = await startTestDaemon({
      prepare: (home) => {
        home.fiber('worked-on');
        home.fiber('draft', { front: { status: 'open', tags: ['a'], 'my-own-key': { kept: true } } });
      },
    });
    const { home } = daemon;
    const before = (await daemon.running('worked-on')).runtime;
    const agent = processOf(await daemon.agentPid('worked-on'));
    const documents = await daemon.fibers('?body=true');
    await daemon.stop();
    for (const name of readdirSync(home.data)) rmSync(join(home.data, name), { recursive: true });
    await daemon.start();
    const row = await daemon.rowWhen('worked-on', 'adopted', (one) => one.runtime !== undefined);
    expect(row.runtime).toMatchObject({
      mux_session: before.mux_session,
      session_uuid: before.session_uuid,
      run_id: before.run_id,
      agent: before.agent,
    });
    const shown = ({ runtime: _runtime, ...one }: (typeof documents)[number]) => one;
    await until('the listing', async () => (await daemon!.fibers()).length === 2);
    expect((await daemon.fibers('?body=true')).map(shown)).toEqual(documents.map(shown));
    await daemon.ticks();
    expect(isRunning(agent)).toBe(true);
    expect(launchesOf(home.data, 'worked-on')).toEqual([]);
  });

  it('[P26] keeps the pause of a fiber after its quick deaths, and shows it as blocked', async () => {
    daemon = await startTestDaemon({
      settings: { SVC_BREAKER_DEATHS: '2' },
      prepare: (home) => void home.fiber('looping', { agent: 'dies-at-once' }),
    });
    await daemon.rowWhen('looping', 'paused', (row) => row.blocked?.reason === 'loop_breaker');
    const launches = launchesOf(daemon.home.data, 'looping').length;
    await daemon.kill9();
    await daemon.start();
    await daemon.ticks();
    expect(launchesOf(daemon.home.data, 'looping')).toHaveLength(launches);
    expect((await daemon.row('looping'))?.blocked?.reason).toBe('loop_breaker');
  });
});

describe('Ctrl-C', () => {
  it('[P1] stops the daemon, lists the workers that keep running, and leaves no other process', async () => {
    daemon = await startTestDaemon({ prepare: (home) => void home.fiber('goes-on') });
    const { runtime } = await daemon.running('goes-on');
    const daemonProcess = processOf(daemon.pid);
    const ran = await daemon.stop('SIGINT');
    expect(ran).toMatchObject({ code: 0, signal: null });
    expect(ran.stderr).toContain('Stopped. 1 worker goes on by itself: goes-on\n');
    expect(isRunning(daemonProcess)).toBe(false);
    const agent = await daemon.agentPid('goes-on');
    const server = Number(await daemon.home.tmux('display-message', '-p', '#{pid}'));
    const pane = await daemon.home.panePid(runtime.mux_session!);
    const left = processesMarked(daemon.home.root);
    const ofTheWorker = left.filter((row) => row.session === processOf(pane).session);
    expect(ofTheWorker.map((row) => row.pid)).toContain(agent);
    expect(left.filter((row) => !ofTheWorker.includes(row)).map((row) => row.pid)).toEqual([server]);
  });

  it('says that no worker was running, and leaves no process', async () => {
    daemon = await startTestDaemon();
    const ran = await daemon.stop('SIGINT');
    expect(ran).toMatchObject({ code: 0, signal: null });
    expect(ran.stderr).toContain('no worker was running');
    await daemon.home.assertNoProcess();
    expect(readdirSync(daemon.home.data)).not.toContain('daemon.json');
  });

  it('is handled once if a signal to the process group arrives twice', async () => {
    daemon = await startTestDaemon();
    process.kill(daemon.pid, 'SIGTERM');
    const ran = await daemon.stop('SIGINT');
    expect(ran).toMatchObject({ code: 0, signal: null });
    expect(ran.stderr).toContain('Stopped');
  });
});
