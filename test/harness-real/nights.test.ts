import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { agreeWithPages } from './agree.ts';
import { AGENT_IDS, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Lets nights pass for a role: its document says that it was made and served at this time. The clock itself cannot be
 * moved, since tmux and the agent programs read that of the kernel and would contradict the daemon.
 */
async function servedAt(one: RealDaemon, id: string, at: number): Promise<void> {
  const { path } = await one.row(id);
  const stamp = /^( *(?:created-at|dispatched_at|handed_off_at): ).*$/gm;
  writeFileSync(path, readFileSync(path, 'utf8').replace(stamp, `$1${new Date(at).toISOString()}`));
}

describe.each(HARNESS_NAMES)('a standing role of the real %s', (name) => {
  it('[STD-1] [LIF-5] [LIF-6] [OPR-2] runs once each night for three nights, and says each time when it is due or what it awaits', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    one.stub.script({
      match: 'Fiber: nightly',
      steps: [
        { shell: 'test -e quiet || svc fiber edit nightly --outcome "Nothing new."' },
        { shell: 'svc handoff' },
        { text: 'too late' },
      ],
    });
    // Never close to now.
    const next = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 12 * HOUR_MS;
    const nights = [3, 2, 1].map((ago) => next - ago * DAY_MS);
    await one.release();
    await one.add('nightly');
    await one.svc(
      ...['repeat', 'nightly', '--project-dir', one.project_dir, '--agent', AGENT_IDS[name]],
      ...['--schedule', `0 ${new Date(next).getUTCHours()} * * *`, '--tz', 'UTC', '--auto-accept'],
    );
    const role = async () => (await one.state()).standing_roles[0];
    const accepted = () => one.ledger().flatMap(({ kind, run_id }) => (kind === 'accepted' ? run_id! : []));
    const runs = nights.map((night) => `scheduled-${night}`);
    for (const [index, night] of nights.entries()) {
      await expect
        .poll(role, { timeout: WITHIN_MS })
        .toMatchObject({ state: 'armed', next_due_at: next, auto_accept: true });
      await agreeWithPages(one);
      expect(one.launches()).toHaveLength(index);
      const is_last = index === nights.length - 1;
      if (is_last) writeFileSync(join(one.project_dir, 'quiet'), '');
      await servedAt(one, 'nightly', night - HOUR_MS);
      const launch = await one.launch(index);
      expect(launch.run_id).toBe(runs[index]);
      expect(launch.resume).toBeUndefined();
      expect(await one.endOf(launch)).toBe('handoff');
      await one.rowWhere('nightly', ({ runtime, status }) => !runtime && (status === 'closed') === is_last);
      await expect.poll(accepted, { timeout: WITHIN_MS }).toEqual(runs.slice(0, is_last ? index : index + 1));
    }
    expect(await role()).toMatchObject({ state: 'awaiting_review', next_due_at: null });
    expect(await one.svc('status')).toMatch(/^to review\tnightly\t.*\tsvc accept nightly\t/m);
    expect(await one.svc('why', 'nightly')).toContain(
      'its last run awaits review, and nothing is due before',
    );
    await agreeWithPages(one);

    await servedAt(one, 'nightly', next - 3 * DAY_MS);
    const { ticks } = (await one.state()).poll_health;
    const passed = async () => (await one.state()).poll_health.ticks - ticks;
    await expect.poll(passed, { timeout: WITHIN_MS }).toBeGreaterThan(2);
    expect(await role()).toMatchObject({ state: 'awaiting_review' });
    await one.svc('accept', 'nightly');
    await expect.poll(role, { timeout: WITHIN_MS }).toMatchObject({ state: 'armed', next_due_at: next });
    await agreeWithPages(one);
    expect(one.launches()).toHaveLength(nights.length);
  });
});
