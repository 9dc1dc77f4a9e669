import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { noTrace, traced, traceLines } from '../kit/strace.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

/** Why no namespace without a network can be made here, or null when one can. */
const noNamespace =
  spawnSync('unshare', ['--net', '/bin/true']).status === 0 ? null : 'no network namespace is permitted here';

/** A worker hands off, another stays, and the routes that look at the machine are asked. */
async function useEverything(of: TestDaemon): Promise<void> {
  of.home.fiber('stays');
  of.home.fiber('relay', { agent: 'hands-off' });
  await of.running('stays');
  await until('a handoff and a second launch', () => launchesOf(of.home.data, 'relay').length >= 2);
  for (const path of ['/version', '/state', '/fibers', '/agents', '/sessions', '/doctor'])
    expect((await of.http.get(path)).status).toBe(200);
  await of.kill('stays');
}

describe.skipIf(noTrace !== null)(
  `the connections of a daemon${noTrace === null ? '' : ` (${noTrace})`}`,
  () => {
    it('[P28][P25] all stay on this machine, including those of its child processes', async () => {
      daemon = await startTestDaemon({
        under: (home) => traced('connect,bind,sendto,sendmsg,sendmmsg', home.path('trace')),
      });
      await useEverything(daemon);
      await daemon.stop();
      const lines = traceLines(daemon.home.path('trace'));
      const inet = lines.filter((line) => /sa_family=AF_INET6?\b/.test(line));
      expect(inet.filter((line) => / bind\(/.test(line)).length).toBeGreaterThan(0);
      expect(lines.filter((line) => / connect\(.*AF_UNIX.*\/tmux"/.test(line)).length).toBeGreaterThan(0);
      expect(inet.filter((line) => !/ bind\(/.test(line) && !/"127\.0\.0\.1"|"::1"/.test(line))).toEqual([]);
    });
  },
);

describe.skipIf(noNamespace !== null)(
  `a machine without any network${noNamespace === null ? '' : ` (${noNamespace})`}`,
  () => {
    it('[P28] runs workers, over a Unix listener', async () => {
      daemon = await startTestDaemon({
        under: () => ['unshare', '--net'],
        prepare: (home) => {
          home.env.SVC_LISTEN = `unix:${home.path('api.sock')}`;
        },
      });
      expect(daemon.address).toMatch(/^unix:/);
      await useEverything(daemon);
      expect((await daemon.home.svc('status')).code).toBe(0);
    });
  },
);
