import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { isRunning, processOf } from '../kit/processes.ts';
import { until } from '../kit/until.ts';

/** A tick comes every half minute. That it takes less than a second is timed by the bench `end-noticed`. */
const LONG_BEFORE_MS = 15_000;

/** A person closes the fiber, so that its next end is not followed by a launch. */
async function disarm(daemon: TestDaemon, id: string): Promise<void> {
  expect((await daemon.home.svc('fiber', 'edit', id, '--status', 'closed')).code).toBe(0);
  await daemon.rowWhen(id, 'disarmed', (row) => row.status === 'closed');
}

describe('the end of a worker, with half a minute between two ticks', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_POLL_INTERVAL_MS: '30000' } });
  });
  afterAll(() => daemon.dispose());

  it('[P6][P3] appears in GET /fibers long before the next tick', async () => {
    daemon.home.fiber('watched');
    await daemon.running('watched');
    await disarm(daemon, 'watched');
    const agent = processOf(await daemon.agentPid('watched'));
    process.kill(agent.pid, 'SIGKILL');
    const killed_at = Date.now();
    await daemon.rowWhen('watched', 'ended', (row) => row.runtime === undefined);
    expect(Date.now() - killed_at).toBeLessThan(LONG_BEFORE_MS);
    expect(isRunning(agent)).toBe(false);
    expect((await daemon.home.sessions()).some((name) => name.startsWith('watched'))).toBe(false);
  });

  it.each(['exits-0', 'exits-3'] as const)('[P6] that %s frees the fiber', async (agent) => {
    daemon.home.fiber(agent, { agent, front: { status: 'open' } });
    await daemon.rowWhen(agent, 'listed', () => true);
    expect((await daemon.dispatch({ fiber_id: agent })).status).toBe(200);
    // Its row tells of the worker only when the next feed does, so that it says nothing of the end before that.
    await until('the end of its run', async () =>
      (await daemon.state()).running.every((run) => run.fiber_id !== agent),
    );
    await daemon.rowWhen(agent, 'ended', (row) => row.runtime === undefined);
    await disarm(daemon, agent);
    expect((await daemon.state()).running.map((run) => run.fiber_id)).not.toContain(agent);
  });

  it('[P3][P4] is noticed although a person’s pane keeps the session, and that pane is not closed', async () => {
    daemon.home.fiber('visited');
    const { runtime } = await daemon.running('visited');
    const session = `=${runtime.mux_session}:`;
    const pane = Number(
      await daemon.home.tmux('split-window', '-d', '-P', '-F', '#{pane_pid}', '-t', session, 'sleep 86400'),
    );
    const person = processOf(pane);
    await disarm(daemon, 'visited');
    process.kill(await daemon.agentPid('visited'), 'SIGKILL');
    const killed_at = Date.now();
    await daemon.rowWhen('visited', 'ended', (row) => row.runtime === undefined);
    expect(Date.now() - killed_at).toBeLessThan(LONG_BEFORE_MS);
    daemon.home.fiber('later', { front: { status: 'open' } });
    await daemon.rowWhen('later', 'listed', () => true);
    expect((await daemon.row('visited'))?.runtime).toBeUndefined();
    expect(isRunning(person)).toBe(true);
    expect(await daemon.home.sessions()).toContain(runtime.mux_session);
  });
});

it('[P16] a worker that ran before a restart is never shown to be starting after it', async () => {
  const daemon = await startTestDaemon();
  onTestFinished(() => daemon.dispose());
  daemon.home.fiber('known');
  await daemon.running('known');
  await daemon.restart();
  const [shown] = await until('its worker', async () => {
    const { running } = await daemon.state();
    return running.length === 0 ? null : running;
  });
  expect(shown).toMatchObject({ fiber_id: 'known', state: 'running' });
});

describe('the first death of a worker', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_POLL_INTERVAL_MS: '30000' } });
  });
  afterAll(() => daemon.dispose());

  it('[P26] is told with its exit code, its screen and the fix in status, why, log and the row, after a restart too', async () => {
    daemon.home.fiber('failing', { agent: 'exits-3', front: { status: 'open' } });
    await daemon.rowWhen('failing', 'listed', () => true);
    expect((await daemon.dispatch({ fiber_id: 'failing' })).status).toBe(200);
    await daemon.rowWhen('failing', 'dead', (row) => row.last_death !== undefined);
    await disarm(daemon, 'failing');
    await daemon.rowWhen('failing', 'without a worker', (row) => row.runtime === undefined);
    const tell = async () => {
      const row = await daemon.row('failing');
      expect(row?.last_death).toMatchObject({ reason: 'exited', code: 3, message: 'exit code 3' });
      expect((await daemon.state()).deaths).toMatchObject([{ fiber_id: 'failing', ...row?.last_death }]);
      for (const argv of [['status', 'failing'], ['why', 'failing'], ['log', 'failing'], ['status']]) {
        const { stdout: out } = await daemon.home.svc(...argv);
        expect([argv, out]).toEqual([argv, expect.stringContaining('exit code 3')]);
        if (argv.length > 1) expect(out).toMatch(/^ +\| exits with 3$/m);
      }
    };
    await tell();
    await daemon.restart();
    await daemon.rowWhen('failing', 'told of again', (row) => row.last_death !== undefined);
    await tell();
  });
});

describe('POST /kill', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.dispose());

  it('[WPL-4][P3] ends the agent and its session, and the poller does not restart it', async () => {
    daemon.home.fiber('stopped');
    const { runtime } = await daemon.running('stopped');
    const agent = processOf(await daemon.agentPid('stopped'));
    expect(await daemon.kill('stopped')).toMatchObject({
      status: 200,
      body: { killed: true, fiber_id: 'stopped', mux_session: runtime.mux_session },
    });
    expect(isRunning(agent)).toBe(false);
    expect(await daemon.home.sessions()).not.toContain(runtime.mux_session);
    await daemon.ticks(3);
    const row = await daemon.row('stopped');
    expect(row).toMatchObject({ held: 'killed', status: 'active' });
    expect(row?.runtime).toBeUndefined();
    expect(launchesOf(daemon.home.data, 'stopped')).toHaveLength(1);
    expect((await daemon.state()).pending_launch).toMatchObject([{ fiber_id: 'stopped', reason: 'killed' }]);
  });

  it('[P5] succeeds for a worker that is already being killed, and for one that has just died', async () => {
    daemon.home.fiber('twice');
    await daemon.running('twice');
    const answers = await Promise.all([daemon.kill('twice'), daemon.kill('twice'), daemon.kill('twice')]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect((await daemon.kill('twice')).status).toBe(200);

    daemon.home.fiber('dead-already');
    await daemon.running('dead-already');
    process.kill(await daemon.agentPid('dead-already'), 'SIGKILL');
    expect((await daemon.kill('dead-already')).status).toBe(200);
    expect((await daemon.kill('dead-already')).status).toBe(200);
    await until('the end', async () => (await daemon.row('dead-already'))?.runtime === undefined);
  });

  it('[P3] ends an agent that ignores every signal but SIGKILL, with all its children', async () => {
    daemon.home.fiber('stubborn', { agent: 'stubborn' });
    const { runtime } = await daemon.running('stubborn');
    const agent = processOf(await daemon.agentPid('stubborn'));
    const pane = processOf(await daemon.home.panePid(runtime.mux_session!));
    expect((await daemon.kill('stubborn')).status).toBe(200);
    expect([isRunning(agent), isRunning(pane)]).toEqual([false, false]);
    expect(await daemon.home.sessions()).not.toContain(runtime.mux_session);
  });

  it('[WPL-4] answers 404 for a fiber without a worker and for an unknown fiber, and says which', async () => {
    daemon.home.fiber('idle', { front: { status: 'open' } });
    await daemon.rowWhen('idle', 'listed', () => true);
    expect(await daemon.kill('idle')).toMatchObject({ status: 404, body: { error: 'no_worker' } });
    expect(await daemon.kill('nobody/home')).toMatchObject({
      status: 404,
      body: { error: 'fiber_not_found' },
    });
  });

  it('[WPL-1] [RES-3] is reverted by a dispatch, and a forced dispatch replaces the worker by a fresh one', async () => {
    daemon.home.fiber('again');
    const first = await daemon.running('again');
    await daemon.kill('again');
    expect((await daemon.dispatch({ fiber_id: 'again' })).body).toMatchObject({ already_running: false });
    const second = await daemon.running('again');
    const agent = processOf(await daemon.agentPid('again'));
    const forced = await daemon.dispatch({ fiber_id: 'again', force: true });
    expect(forced.body).toMatchObject({ dispatched: true, already_running: false });
    const third = await daemon.running('again');
    expect(isRunning(agent)).toBe(false);
    const sessions = [first, second, third].map((row) => row.runtime.session_uuid);
    // The session that was killed goes on; the one that was cut does not.
    expect([sessions[1] === sessions[0], sessions[2] === sessions[0]]).toEqual([true, false]);
    expect((await daemon.home.sessions()).filter((name) => name.startsWith('again'))).toHaveLength(1);
  });
});

describe('a start blocked by a dialog', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_STARTUP_CONFIRM_MS: '1000' } });
  });
  afterAll(() => daemon.dispose());

  it('[P9][P4] is reported as startup_unconfirmed with the last screen; nothing is typed and nothing is ended', async () => {
    daemon.home.fiber('asked');
    daemon.home.fiber('asks', { agent: 'asks' });
    const row = await daemon.rowWhen('asks', 'unconfirmed with its dialog', ({ blocked }) =>
      Boolean(blocked?.screen?.includes('Do you trust the files in this folder?')),
    );
    expect(row.blocked).toMatchObject({ reason: 'startup_unconfirmed', retry_at: null });
    expect(row.blocked?.message).toContain('svc attach asks');
    expect(row.runtime?.state).toBe('starting');
    const agent = processOf(await daemon.agentPid('asks'));
    await daemon.ticks();
    expect(isRunning(agent)).toBe(true);
    expect(existsSync(daemon.home.path('projects/asks/answered.log'))).toBe(false);
    expect(launchesOf(daemon.home.data, 'asks')).toHaveLength(1);
    expect((await daemon.running('asked')).blocked).toBeUndefined();
  });

  it('[P9][DSP-5] is no longer blocked once a person has answered and the worker runs', async () => {
    daemon.home.fiber('answered', { agent: 'asks' });
    const row = await daemon.rowWhen('answered', 'unconfirmed', (one) => one.blocked !== undefined);
    await daemon.home.tmux('send-keys', '-t', `=${row.runtime?.mux_session}:`, '1', 'Enter');
    const ended = await daemon.rowWhen(
      'answered',
      'over',
      (one) => one.blocked?.reason !== 'startup_unconfirmed',
    );
    expect(ended.blocked?.reason).not.toBe('startup_unconfirmed');
    expect(existsSync(daemon.home.path('projects/answered/answered.log'))).toBe(true);
  });
});
