import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { evaluateInThread } from '../kit/inspector.ts';
import { launchesOf } from '../kit/launches.ts';
import { isRunning, processOf } from '../kit/processes.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

async function restartsOf(of: TestDaemon, name: string): Promise<{ state?: string; restarts?: number }> {
  return (await of.version()).components.find((one) => one.name === name) ?? {};
}

describe('the death of the poller', () => {
  it('[P1][P6] leaves its workers running and adopts them; beyond its restart intensity the daemon exits with an error', async () => {
    daemon = await startTestDaemon({
      node: ['--inspect=127.0.0.1:0'],
      settings: { SVC_RESTART_INTENSITY: '1' },
      prepare: (home) => void home.fiber('survives'),
    });
    const inspector = await until('the inspector', () => /ws:\/\/\S+/.exec(daemon!.log)?.[0]);
    const before = (await daemon.running('survives')).runtime;
    const agent = processOf(await daemon.agentPid('survives'));

    await evaluateInThread(
      inspector,
      'workers/poller',
      'setImmediate(() => { throw new Error("provoked") })',
    );
    await until('a new poller', async () => (await restartsOf(daemon!, 'poller')).restarts === 1);
    await until('it runs', async () => (await restartsOf(daemon!, 'poller')).state === 'running');
    for (const other of ['pool', 'ledgers', 'fleet', 'audio'])
      expect(await restartsOf(daemon, other)).toMatchObject({ state: 'running', restarts: 0 });
    const {
      last_activity_at: _activity,
      phase: _phase,
      phase_since: _since,
      phase_source: _source,
      ...same
    } = before;
    expect((await daemon.running('survives')).runtime).toMatchObject(same);
    expect(launchesOf(daemon.home.data, 'survives')).toHaveLength(1);

    const ended = daemon.ended();
    await evaluateInThread(inspector, 'workers/poller', 'process.exit(7)');
    const ran = await ended;
    expect(ran.code).toBeGreaterThan(0);
    expect(ran.stdout).toContain('an essential component cannot be kept running');
    expect(isRunning(agent)).toBe(true);
    await daemon.start();
    expect((await daemon.running('survives')).runtime).toMatchObject(same);
  });

  it('at its start makes the daemon exit with an error too', async () => {
    daemon = await startTestDaemon({
      until: 'booting',
      settings: { SVC_RESTART_INTENSITY: '0' },
      // The folder of the workers' commands cannot be made where a file lies.
      prepare: (home) => void home.write('data/bin', 'in the way'),
    });
    const ran = await daemon.ended();
    expect(ran.code).toBeGreaterThan(0);
    expect(ran.stdout).toContain('"child":"poller"');
  });
});
