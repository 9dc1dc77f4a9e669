import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { agreeWithPages } from './agree.ts';
import { isAlive } from './processes.ts';
import { type LaunchOnDisk, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** A worker of a fiber called `busy` that waits in a shell command of ten minutes. */
async function startBusy(one: RealDaemon): Promise<LaunchOnDisk> {
  const begun = join(one.project_dir, 'begun');
  one.stub.script({ match: 'Previous session: ', steps: [{ text: 'and on' }] });
  one.stub.script({
    match: 'Fiber: busy',
    steps: [{ shell: `echo > ${begun}; sleep 600` }, { text: 'too late' }],
  });
  await one.arm('busy');
  await one.release();
  const launch = await one.launch(0);
  await expect.poll(() => one.processesOf(launch).some(isSleep), { timeout: WITHIN_MS }).toBe(true);
  await one.rowWhere('busy', ({ runtime }) => runtime?.state === 'running');
  return one.launch(0);
}

const isSleep = (process: string) => process.endsWith(' sleep 600');

describe.each(HARNESS_NAMES)('the end of the real %s', (name) => {
  it('[WPL-4] [P5] svc kill ends it in the middle of a command, and holds the fiber', async () => {
    daemon = await startRealDaemon(name);
    const launch = await startBusy(daemon);
    await daemon.svc('kill', 'busy', '--yes');
    expect(await daemon.goneProcessesOf(launch)).toEqual([]);
    expect(await daemon.endOf(launch)).toBe('kill');
    const row = await daemon.rowWhere('busy', ({ runtime }) => runtime === undefined);
    expect(row).toMatchObject({ held: 'killed', status: 'active' });
    expect(await daemon.sessions()).not.toContain(launch.mux_session);
    expect(daemon.launches()).toHaveLength(1);
    await daemon.svc('kill', 'busy', '--yes');
  });

  it('[P1] [P3] [RES-3] survives kill -9 of the daemon, is adopted, and its own crash is reported to the next session', async () => {
    // Nothing is warm: the next one starts fresh.
    daemon = await startRealDaemon(name, { settings: { SVC_RESUME_WARM_WINDOW_MS: '0' } });
    const launch = await startBusy(daemon);
    const pid = daemon.agentPid(launch);
    const { session_uuid } = (await daemon.row('busy')).runtime!;
    await daemon.killAndRestart();
    const adopted = await daemon.rowWhere('busy', ({ runtime }) => runtime?.state === 'running');
    expect(adopted.runtime).toMatchObject({
      run_id: launch.run_id,
      session_uuid,
      mux_session: launch.mux_session,
    });
    expect(daemon.agentPid(launch)).toBe(pid);
    expect(isAlive(pid)).toBe(true);
    expect(daemon.launches()).toHaveLength(1);

    const orphans = daemon
      .processesOf(launch)
      .filter(isSleep)
      .map((line) => Number.parseInt(line, 10));
    process.kill(pid, 'SIGKILL');
    for (const orphan of orphans.filter(isAlive)) process.kill(orphan, 'SIGKILL');
    const next = await daemon.launch(1);
    expect(await daemon.goneProcessesOf(launch)).toEqual([]);
    const line = next.prompt.split('\n').find((one) => one.startsWith('Previous session: '));
    const [, transcript = ''] =
      /^Previous session: .*; it ended without a handoff.*; transcript: (.*)$/.exec(line!) ?? [];
    expect(line).toContain(`Previous session: ${session_uuid} (${name}); `);
    expect(readFileSync(transcript, 'utf8')).toContain(launch.run_id);
    const again = await daemon.rowWhere(
      'busy',
      ({ runtime }) => runtime?.run_id === next.run_id && runtime.state === 'running',
    );
    expect(again.runtime!.session_uuid).not.toBe(session_uuid);
  });
});

it('[P9] a first-run dialog of the real claude is predicted, then shown with its screen, and nothing is typed into it', async () => {
  daemon = await startRealDaemon('claude', {
    prepare: ({ home }) => {
      const file = join(home, '.claude.json');
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), projects: {} }));
    },
    settings: { SVC_STARTUP_CONFIRM_MS: '5000' },
  });
  await daemon.arm('asked');
  const doctor = await daemon.svcMayFail('doctor');
  expect(doctor).toMatchObject({
    code: 1,
    out: expect.stringContaining(`does not trust ${daemon.project_dir} yet`),
  });
  expect(doctor.out).toContain(`fix: run "claude" once in ${daemon.project_dir}`);

  await daemon.release();
  const launch = await daemon.launch(0);
  // On a busy machine the dialog is drawn after the row was blocked.
  const row = await daemon.rowWhere('asked', ({ blocked }) => /trust/i.test(blocked?.screen ?? ''));
  expect(row.blocked).toMatchObject({ reason: 'startup_unconfirmed', retry_at: null });
  expect(row.runtime).toMatchObject({ state: 'starting', run_id: launch.run_id });
  expect(await daemon.screen(launch.mux_session)).toMatch(/trust/i);
  expect(isAlive(daemon.agentPid(launch))).toBe(true);
  expect(daemon.stub.requests).toEqual([]);
  expect((await daemon.state()).blocked).toMatchObject([
    { fiber_id: 'asked', reason: 'startup_unconfirmed' },
  ]);
  await agreeWithPages(daemon);
  expect(await daemon.svc('why', 'asked')).toMatch(/^ {2}\|.*trust/im);
});
