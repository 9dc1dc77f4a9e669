import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { until } from '../kit/until.ts';
import { listening, timesGiven } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

describe.each(HARNESS_NAMES)('an idle worker of the real %s', (name) => {
  it('[MSG-3] [P13] is told once that its fiber is not closed, where the fiber says so, also over kill -9', async () => {
    const settings = { SVC_NUDGE_AFTER_MS: '2000' };
    daemon = await startRealDaemon(name, { settings });
    const one = daemon;
    one.stub.script({ match: 'You have ended your turn', steps: [{ text: 'Nothing is left to do.' }] });
    await one.svc('setup', name);
    const other = await listening(one, 'is-left-alone');
    const { session } = await listening(one, 'is-nudged');
    await one.svc('reshape', 'is-nudged', '--when-idle', 'nudge');
    const { run_id } = one.launches().find((launch) => launch.fiber.includes('is-nudged'))!;
    const message = `nudge-${run_id}`;
    const given = () => timesGiven(one, session, message);
    await until('the nudge', async () => (await given()) === 1, WITHIN_MS);
    await until(
      'its answer',
      async () => (await one.transcriptOf(session)).includes('Nothing is left to do.'),
      WITHIN_MS,
    );
    await one.killAndRestart();
    await one.rowWhere('is-nudged', ({ runtime }) => runtime?.phase === 'idle');
    const idle_at = Date.now();
    await until('another span of idleness', () => Date.now() - idle_at > 5_000, WITHIN_MS);
    expect(await given()).toBe(1);
    expect(await one.transcriptOf(other.session)).not.toContain('You have ended your turn');
    expect(await one.svc('log', 'is-nudged')).toMatch(/Fiber Dispatch/);
  });
});
