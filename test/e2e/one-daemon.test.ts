import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { launchesOf } from '../kit/launches.ts';
import { run, TestHome } from '../kit/test-home.ts';

let daemon: TestDaemon | undefined;
let home: TestHome | undefined;
afterEach(async () => {
  await daemon?.dispose();
  await home?.dispose();
  daemon = undefined;
  home = undefined;
});

describe('a second daemon', () => {
  it('[P33][P34] is refused with the name of the first on its data dir and on its port, and does not harm it', async () => {
    daemon = await startTestDaemon();
    const [file = '', ...args] = daemon.home.daemonArgv();
    const sameDir = await run(file, args, daemon.home.env);
    expect(sameDir.code).toBeGreaterThan(0);
    expect(sameDir.stderr).toContain(`pid ${daemon.pid}`);
    expect(sameDir.stderr).toContain(daemon.home.data);
    expect(sameDir.stderr).not.toContain('    at ');

    home = new TestHome({ SVC_LISTEN: daemon.address });
    const samePort = await run(file, args, home.env);
    expect(samePort.code).toBeGreaterThan(0);
    expect(samePort.stderr).toContain(daemon.address);
    expect(samePort.stderr).toContain(`pid ${daemon.pid}`);
    expect(samePort.stderr).not.toContain('    at ');
    expect(await daemon.version()).toMatchObject({ ready: true, pid: daemon.pid });
  });

  it('[P33] may start at once after the first was killed', async () => {
    daemon = await startTestDaemon();
    const first = daemon.pid;
    await daemon.kill9();
    await daemon.start();
    expect(daemon.pid).not.toBe(first);
    expect((await daemon.version()).pid).toBe(daemon.pid);
  });
});

/** Starts two daemons at once on one data folder and one tmux; the one that serves, once the other was refused. */
async function startTwo(on: TestHome): Promise<TestDaemon> {
  const both = [new TestDaemon(on), new TestDaemon(on)];
  const starts = Promise.allSettled(both.map((one) => one.start()));
  const refused = await Promise.race(both.map((one) => one.ended().then((end) => ({ one, end }))));
  daemon = both.find((one) => one !== refused.one)!;
  expect(refused.end).toMatchObject({ code: 1, stderr: expect.stringContaining('already runs on') });
  await starts;
  return daemon;
}

describe('two daemons that start at once on one data folder', () => {
  it('[P33] [WPL-1] [WPL-10] start each fiber once, and give each text once, also after the one that serves was killed', async () => {
    home = new TestHome();
    const armed = ['a', 'b', 'c'];
    for (const id of armed) home.fiber(id);
    for (const id of ['delivered', 'dispatched']) home.fiber(id, { front: { status: 'open' } });
    for (let round = 0; round < 2; round += 1) {
      const serving = await startTwo(home);
      const told = { fiber_id: 'delivered', text: 'Told once.', message_id: 'm-1' };
      expect(await serving.http.post<Json>('/deliver', told)).toMatchObject({ body: { dispatched: true } });
      const started = { fiber_id: 'dispatched', user_message: 'Told once.' };
      const header = { 'idempotency-key': 'k-1' };
      expect(await serving.http.post<Json>('/dispatch', started, header)).toMatchObject({
        body: { dispatched: true },
      });
      for (const id of [...armed, 'delivered', 'dispatched']) await serving.running(id);
      await serving.ticks();
      if (round === 0) await serving.kill9();
    }
    for (const id of [...armed, 'delivered', 'dispatched'])
      expect(launchesOf(home.data, id), id).toHaveLength(1);
    expect(await home.sessions()).toHaveLength(5);
    home = undefined;
  });
});

describe('a taken port', () => {
  it('[P34][LIM-1] is reported with the process that holds it; the daemon exits with an error and leaves no daemon file', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : 0;
      home = new TestHome({ SVC_LISTEN: `127.0.0.1:${port}` });
      const [file = '', ...args] = home.daemonArgv();
      const ran = await run(file, args, home.env);
      expect(ran.code).toBeGreaterThan(0);
      expect(ran.stderr).toContain(`127.0.0.1:${port} is held by pid ${process.pid}`);
      const status = await home.svc('daemon', 'status', '--json');
      expect(status.code).not.toBe(0);
    } finally {
      server.close();
    }
  });
});
