import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
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
