import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';
import type { State } from '../../src/contract/http/state.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** The daemon that is asked, and one that it follows. */
let hub: TestDaemon;
let other: TestDaemon;

const composite = async (since = '') =>
  (await hub.http.get<FibersComposite>(`/fibers/composite?since=${encodeURIComponent(since)}`)).body;
const remote = async () => (await composite()).origins['host-b'];
const rowsOf = (origin: FibersComposite['origins'][string] | undefined) => {
  const read = origin?.read;
  if (read == null) return [];
  return 'fibers' in read ? read.fibers : read.rows;
};
const standing = async () =>
  (await hub.http.get<State>('/state')).body.fleet?.remotes.find(({ name }) => name === 'host-b');
const follow = (url: string) =>
  hub.home.write('config/remotes.json', {
    defaults: { poll_interval_ms: 500 },
    remotes: [{ name: 'host-b', url }],
  });

beforeAll(async () => {
  [hub, other] = await Promise.all([
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-a' },
      prepare: (home) => void home.fiber('at-home', { front: { status: 'open' } }),
    }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b' },
      prepare: (home) => void home.fiber('far-away', { front: { status: 'open' } }),
    }),
  ]);
  await Promise.all([
    hub.rowWhen('at-home', 'listed', () => true),
    other.rowWhen('far-away', 'listed', () => true),
  ]);
});
afterAll(async () => {
  await Promise.all([hub?.dispose(), other?.dispose()]);
});

describe('a board of two hosts', () => {
  it('[RPL-2] [RTE-7] has the rows of both, those of the other host in the very bytes of its own answer', async () => {
    expect(Object.keys((await composite()).origins)).toEqual(['host-a']);
    follow(`http://${other.address}`);
    await until('the rows of the other host', async () => rowsOf(await remote()).length === 1);
    const { body, text } = await hub.http.get<FibersComposite>('/fibers/composite');
    expect(Object.keys(body.origins)).toEqual(['host-a', 'host-b']);
    expect(rowsOf(body.origins['host-a']).map(({ id }) => id)).toEqual(['at-home']);
    expect(body.origins['host-b']).toMatchObject({ state: 'fresh', error: null, build: expect.any(String) });
    expect(text).toContain(`"read":${(await other.http.get('/fibers?since=')).text}}`);
    expect(await standing()).toMatchObject({ state: 'fresh', breaker: 'closed', error: null });
  });

  it('[RPL-2] answers 304 until a row of any host changes, and then what changed', async () => {
    const before = await composite();
    const headers = { 'If-None-Match': `W/"${before.tag}"` };
    expect((await hub.http.get('/fibers/composite', headers)).status).toBe(304);
    await other.http.post('/fiber-edit', { fiber_id: 'far-away', name: 'Renamed' });
    await until('the new name', async () => rowsOf(await remote())[0]?.name === 'Renamed');
    expect((await hub.http.get('/fibers/composite', headers)).status).toBe(200);
    const after = await composite(before.tag!);
    expect(after.origins['host-b']!.read).toMatchObject({ rows: [{ name: 'Renamed' }], removed: [] });
    expect(after.origins['host-a']!.read).toMatchObject({ rows: [], removed: [] });
  });

  it('[RTE-7] keeps the rows of a host that died, and says how old they are within 15 s', async () => {
    const before = await remote();
    await other.kill9();
    const from = Date.now();
    const stale = await until('the word on it', async () => {
      const now = await remote();
      return now?.state === 'stale' ? now : null;
    });
    expect(Date.now() - from).toBeLessThan(15_000);
    expect(stale.error?.code).toBe('remote_unreachable');
    expect(stale.last_ok_at).toBeLessThanOrEqual(from);
    expect(rowsOf(stale)).toEqual(rowsOf(before));
    await until('the breaker', async () => (await standing())?.breaker === 'tripped');
  });

  it('[RTE-7] has it fresh again without a person once it is back', async () => {
    await other.start();
    follow(`http://${other.address}`);
    await until('its answer', async () => (await remote())?.state === 'fresh', 30_000);
    expect(await standing()).toMatchObject({ state: 'fresh', breaker: 'closed', error: null });
  });

  it('[RTE-7] tells which entry leads to another host, and drops the rows of one that is removed', async () => {
    hub.home.write('config/remotes.json', { remotes: [{ name: 'host-c', url: `http://${other.address}` }] });
    const wrong = await until('the word on it', async () => {
      const { origins } = await composite();
      return origins['host-c']?.error == null ? null : origins;
    });
    expect(wrong['host-c']).toMatchObject({ state: 'no_answer', error: { code: 'misdirected' }, read: null });
    expect(wrong['host-c']!.error!.message).toContain('mend the entry of host-c');
    expect(wrong['host-b']).toBeUndefined();
  });
});
