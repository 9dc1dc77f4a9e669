import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { type StuckOpen, stuckOpen } from '../kit/stuck-open.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

/** Lets the poller wait at its start, where it opens the counts of the loop breaker. */
function holdPoller(home: TestHome): StuckOpen {
  const counts = home.write('data/state/breaker.json', { version: 1, fibers: {} });
  const stuck = stuckOpen(home.path('stuck'), [counts]);
  Object.assign(home.env, stuck.env);
  stuck.hold();
  return stuck;
}

const MESSAGE = {
  address: 'svc://test-host/claude/0198c0de-0000-4000-8000-000000000001',
  text: 'Hello.',
  from: 'ada',
  message_id: 'text',
};
const NOTE = {
  name: 'note.txt',
  data: Buffer.from('note').toString('base64'),
  sha256: createHash('sha256').update('note').digest('hex'),
};

describe('a daemon whose poller has not started yet', () => {
  it('[RDY-1][RDY-2][RDY-3][ERR-26] answers sessions and messages from the first request on, and state-dependent routes with 503 until it is ready', async () => {
    let poller: StuckOpen | undefined;
    daemon = await startTestDaemon({
      until: 'booting',
      prepare(home) {
        poller = holdPoller(home);
        home.fiber('waiting', { front: { status: 'open' } });
      },
    });
    const { http } = daemon;
    // The components that answer these have not started yet.
    const exempt = await Promise.all([
      http.get('/sessions'),
      http.post('/messages', MESSAGE),
      http.post('/messages/files', { ...MESSAGE, message_id: 'files', attachments: [NOTE] }),
    ]);
    expect(exempt.map(({ status }) => status)).toEqual([200, 200, 200]);
    const components = async () => (await daemon!.version()).components;
    await until('all but the poller', async () =>
      (await components()).every((one) => one.state === (one.name === 'poller' ? 'starting' : 'running')),
    );
    const first = await daemon.version();
    expect(first).toMatchObject({ ready: false, host: 'test-host', pid: daemon.pid });
    expect((await daemon.version()).boot_ms).toBeGreaterThan(first.boot_ms);

    const writes = [
      http.post('/dispatch', { fiber_id: 'waiting' }),
      http.post('/kill', { fiber_id: 'waiting' }),
      http.post('/fiber-edit', { fiber_id: 'waiting', name: 'No' }),
      http.post('/fiber/create', { name: 'No' }),
      http.post('/quarantine/release', {}),
    ];
    const reads = ['/fibers', '/fibers/waiting', '/state', '/agents'].map((path) => http.get(path));
    for (const answer of await Promise.all([...writes, ...reads])) {
      expect(answer).toMatchObject({
        status: 503,
        body: { error: 'booting', ready: false, host: 'test-host' },
      });
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
    expect((await http.get('/sessions')).status).toBe(200);
    expect((await http.get('//')).status).not.toBe(503);

    poller?.release();
    await daemon.ready();
    const ready = await daemon.version();
    expect(ready.boot_ms).toBe((await daemon.version()).boot_ms);
    expect((await http.get('/state')).status).toBe(200);
    await daemon.rowWhen('waiting', 'listed', (row) => row.name === 'Fiber waiting');
  });

  it('stops on request although one of its threads is blocked in a system call', async () => {
    daemon = await startTestDaemon({
      until: 'booting',
      settings: { SVC_STOP_TIMEOUT_MS: '300' },
      prepare: (home) => void holdPoller(home),
    });
    await until('the start of the poller', async () =>
      (await daemon!.version()).components.some((one) => one.name === 'poller' && one.state === 'starting'),
    );
    const ran = await daemon.stop('SIGINT');
    expect(ran.stderr).toContain('Stopped.');
    expect(ran.code === 0 || ran.signal === 'SIGKILL').toBe(true);
    await daemon.home.assertNoProcess();
  });
});
