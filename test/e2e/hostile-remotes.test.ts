import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Composite } from '../../src/contract/http/composite.ts';
import type { Peers } from '../../src/contract/http/peers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { type HostileRemotes, startHostileRemotes } from '../kit/hostile-remotes.ts';
import { until } from '../kit/until.ts';

const COMPOSITES = [
  ...['/fibers/composite', '/state/composite', '/sessions/composite', '/commits/composite'],
  ...['/sent-files/all/composite', '/activity/composite?from_ms=0&to_ms=3600000'],
];
/** What is read of one answer, and what the sockets and streams of both ends may hold of it besides. */
const MOST_TAKEN_BYTES = (32 + 16) * 1024 * 1024;

/** The daemon that is asked, another one that is well, and all those that are not. */
let hub: TestDaemon;
let other: TestDaemon;
let hostile: HostileRemotes;
beforeAll(async () => {
  const settings = { SVC_REMOTE_REUSE_MS: '5000' };
  [hostile, hub, other] = await Promise.all([
    startHostileRemotes(),
    startTestDaemon({ release: false, settings: { SVC_HOST: 'host-a', ...settings } }),
    startTestDaemon({ release: false, settings: { SVC_HOST: 'host-b' } }),
  ]);
  const remotes = [...hostile.entries, { name: 'host-b', url: `http://${other.address}` }];
  hub.home.write('config/remotes.json', { defaults: { poll_interval_ms: 500 }, remotes });
  await until('all of them', async () => {
    const { origins } = (await hub.http.get<Composite>('/fibers/composite')).body;
    return Object.keys(origins).length === remotes.length + 1;
  });
});
afterAll(async () => {
  await hostile?.stop();
  await Promise.all([hub?.dispose(), other?.dispose()]);
});

it('[TMP-8] [RPL-15] [RPL-20] every answer about all hosts comes while seventeen hostile ones never end theirs, and has what is well', async () => {
  const wells = COMPOSITES.map((path) =>
    until(`both healthy hosts in ${path}`, async () => {
      const { status, text, body } = await hub.http.get<Composite>(path);
      expect(status, text).toBe(200);
      const { origins } = body;
      expect(origins['host-a']).toMatchObject({ state: 'fresh', error: null });
      for (const name of ['silent', 'endless', 'impostor', 'bomb'])
        expect(origins[name], `${name} in ${path}`).toMatchObject({ state: 'no_answer', read: null });
      return origins['host-b']?.state === 'fresh';
    }),
  );
  const peers = until('the other healthy host in /peers', async () => {
    const { gaps } = (await hub.http.get<Peers>('/peers')).body;
    const missing = gaps.map(({ host }) => host);
    expect(missing).not.toContain('host-a');
    expect(missing).toEqual(expect.arrayContaining(['silent', 'drip', 'endless', 'impostor', 'bomb', 'tls']));
    return !missing.includes('host-b');
  });
  await Promise.all([...wells, peers]);
  expect(hostile.held()).toBeGreaterThan(0);
  expect(hostile.most()).toBeLessThan(MOST_TAKEN_BYTES);
}, 90_000);
