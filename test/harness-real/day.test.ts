import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { agree, agreeWithPages } from './agree.ts';
import { isAlive } from './processes.ts';
import { type LaunchOnDisk, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const RESUMED = /^Mode: resume$/m;
const FRESH_AGAIN = /^Previous session: /m;
const isSleep = (process: string) => process.endsWith(' sleep 600');

/** What a person reads of a fiber. */
async function pages(one: RealDaemon, id: string) {
  const [status, fiber, why, log] = await Promise.all(
    [['status'], ['status', id], ['why', id], ['log', id]].map((args) => one.svc(...args)),
  );
  return { status, fiber, why, log };
}

/** Waits until the daemon has looked at everything twice more. */
async function ticks(one: RealDaemon): Promise<void> {
  const from = Date.now();
  const last = async () => (await one.state()).poll_health.last_tick_at ?? 0;
  await expect.poll(last, { timeout: WITHIN_MS }).toBeGreaterThan(from + 2_000);
}

async function working(one: RealDaemon, number: number, id: string): Promise<LaunchOnDisk> {
  const launch = await one.launch(number);
  await expect.poll(() => one.processesOf(launch).some(isSleep), { timeout: WITHIN_MS }).toBe(true);
  await one.rowWhere(id, ({ runtime }) => runtime?.run_id === launch.run_id && runtime.state === 'running');
  return launch;
}

describe.each(HARNESS_NAMES)('a day of the real %s', (name) => {
  it('[WPL-4] [WPL-25] [RES-3] [RES-8] [FIB-4] is told truly by every read: a death, a kill over a restart, a move, a close and a new start', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    for (const match of [FRESH_AGAIN, RESUMED, 'Fiber: day'])
      one.stub.script({ match, steps: [{ shell: 'echo works; sleep 600' }, { text: 'too late' }] });
    await one.arm('day');
    await one.rowWhere('day', ({ held }) => held === 'boot_quarantine');
    await agree(one);
    await one.svc('daemon', 'release');
    const first = await working(one, 0, 'day');
    const session_uuid = (await one.row('day')).runtime!.session_uuid!;
    await agree(one);

    const left = one.processesOf(first).filter(isSleep);
    process.kill(one.agentPid(first), 'SIGKILL');
    for (const pid of left.map((line) => Number.parseInt(line, 10)).filter(isAlive))
      process.kill(pid, 'SIGKILL');
    const second = await working(one, 1, 'day');
    expect(second.resume).toMatchObject({ session_uuid });
    expect((await one.row('day')).last_death).toMatchObject({ run_id: first.run_id, signal: 'SIGKILL' });
    await agreeWithPages(one);
    for (const page of Object.values(await pages(one, 'day'))) expect(page).toContain('SIGKILL');

    await one.svc('kill', 'day', '--note', 'wrong branch', '--yes');
    await one.rowWhere('day', ({ held }) => held === 'killed');
    await one.killAndRestart();
    const released = await one.svc('daemon', 'release');
    expect(released).toContain('No fiber was waiting.');
    expect(released).toContain('day (stopped by you): svc resume day');
    await ticks(one);
    await agreeWithPages(one);
    expect(one.launches()).toHaveLength(2);
    const { status, fiber, why } = await pages(one, 'day');
    for (const page of [status, fiber, why]) expect(page).toContain('wrong branch');

    await one.svc('resume', 'day');
    const third = await working(one, 2, 'day');
    expect(third.resume).toMatchObject({ session_uuid });
    await agree(one);

    const documents = join(one.store, '.fibers');
    mkdirSync(join(documents, 'week'));
    renameSync(join(documents, 'day'), join(documents, 'week/day'));
    await one.rowWhere('week/day', ({ runtime }) => runtime?.run_id === third.run_id);
    await agree(one);
    expect((await one.state()).running.map(({ fiber_id }) => fiber_id)).toEqual(['week/day']);

    await one.svc('close', 'week/day', '--kill', '--yes');
    await one.rowWhere('week/day', ({ status: now, runtime }) => now === 'closed' && runtime === undefined);
    expect(await one.goneProcessesOf(third)).toEqual([]);
    await agreeWithPages(one);

    const path = join(documents, 'week/day/day.md');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^status: closed$/m, 'status: active'));
    const fourth = await working(one, 3, 'week/day');
    expect(fourth.resume).toBeUndefined();
    expect(fourth.prompt).toContain(`Previous session: ${session_uuid} (${name})`);
    await agree(one);
    await one.svc('kill', 'week/day', '--yes');
    expect(await one.goneProcessesOf(fourth)).toEqual([]);
    await agreeWithPages(one);
    expect(one.launches()).toHaveLength(4);
  });
});
