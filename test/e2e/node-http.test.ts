import { afterEach, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { isRunning, processOf } from '../kit/processes.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

it('serves, launches, is checked by the doctor and stops over Node’s own HTTP server, if SVC_HTTP selects it', async () => {
  daemon = await startTestDaemon({
    settings: { SVC_HTTP: 'node' },
    prepare: (home) => void home.fiber('over-node'),
  });
  expect(await daemon.version()).toMatchObject({
    server: 'node',
    ready: true,
    listen: expect.arrayContaining([daemon.address]),
  });
  await daemon.running('over-node');
  expect((await daemon.fibers()).map(({ id }) => id)).toEqual(['over-node']);
  expect((await daemon.state()).running).toHaveLength(1);

  daemon.home.fiber('asked-for', { front: { status: 'open' } });
  await daemon.rowWhen('asked-for', 'seen', () => true);
  const asked = await daemon.dispatch({ fiber_id: 'asked-for', force: true, ad_hoc: true });
  expect(asked).toMatchObject({ status: 200, body: { dispatched: true, fiber_id: 'asked-for' } });
  await daemon.running('asked-for');

  const { listen } = await daemon.version();
  const doctor = await daemon.home.svc('doctor');
  expect(doctor.stdout).toContain(
    `pid ${daemon.pid}, at ${listen.join(', ')}, over Node’s own HTTP server\n`,
  );
  expect(doctor.stdout).toContain('native http: not used: SVC_HTTP asks for Node’s own server\n');

  const worker = processOf(await daemon.agentPid('asked-for'));
  expect(await daemon.stop()).toMatchObject({ code: 0, signal: null });
  expect(isRunning(worker)).toBe(true);
});
