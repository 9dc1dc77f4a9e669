import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/logger.ts';
import { CopyFiles } from '../../src/fleet/copy-files.ts';
import { FleetFeeds } from '../../src/fleet/fleet-feeds.ts';
import { KeptFeeds } from '../../src/fleet/kept-feeds.ts';
import type { FollowedRemote } from '../../src/fleet/remote-address.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type FakeHost, FakeTransport } from './fake-transport.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

const TIMING = { poll_interval_ms: 1_000, request_timeout_ms: 500, stale_multiplier: 4 };
const remoteOf = (name: string, url: string | null = `http://${name}`): FollowedRemote => ({
  ...{ name, address: url === null ? null : { url }, timing: TIMING },
  problem: url === null ? `the entry of ${name} names neither a url nor a port` : null,
  build: null,
});

let clock: FakeClock;
let transport: FakeTransport;
let feeds: FleetFeeds;
let kept: KeptFeeds;
let scratch: ScratchFolder;
let log: string[];
let told: (string | null)[];
let lookUp: (name: string) => FollowedRemote | null;
/** What starts a tunnel again, and those that it was asked for. */
let restart: (name: string) => boolean;
let restarted: string[];
/** The names of those that answer nobody, as they were told. */
let silences: string[][];
/** How much the monotonic clock goes on each time it is read. */
let step_ms: number;
beforeEach(() => {
  step_ms = 0;
  silences = [];
  clock = new FakeClock();
  transport = new FakeTransport();
  told = [];
  log = [];
  scratch = scratchFolder();
  const destination = { write: (text: string) => log.push(text) };
  const logger = createLogger({ component: 'fleet', level: 'warn', destination });
  kept = new KeptFeeds({ files: new CopyFiles({ folder: scratch.path, logger }), logger });
  lookUp = remoteOf;
  restart = () => false;
  restarted = [];
  feeds = new FleetFeeds({
    ...{ host: 'host-a', nonce: 'n', transport, clock, kept, monotonic: monotonicOf(clock) },
    lookUp: async (name) => lookUp(name),
    async restartTunnel(name) {
      restarted.push(name);
      return restart(name);
    },
    tell: (tag) => told.push(tag),
    tellSilent: (now) => silences.push(now.map(({ name }) => name)),
    random: () => 0.5,
  });
});
/** Goes on with the time of the test, and by a step with each reading. */
function monotonicOf(timed: FakeClock): () => number {
  let stepped = 0;
  return () => {
    stepped += step_ms;
    return timed.monotonic() + stepped;
  };
}
afterEach(() => {
  feeds.stop();
  scratch.remove();
});

/** A host with these rows, whose tag counts what was set. */
function hostOf(host: string, rows: Record<string, unknown>[]) {
  let tag = 1;
  const removed: string[] = [];
  const fake: FakeHost = {
    version: () => ({ body: { host, git_short_sha: 'b1' } }),
    feed: (since) =>
      since === '' || since === `${host}-0`
        ? { body: toldWhole(host, `${host}-${tag}`, rows) }
        : { body: toldDelta(host, `${host}-${tag}`, since === `${host}-${tag}` ? [] : rows, removed) },
  };
  transport.hosts.set(`http://${host}`, fake);
  return {
    fake,
    set(next: Record<string, unknown>[]) {
      const kept = new Set(next.map(({ path }) => path));
      removed.push(...rows.map(({ path }) => String(path)).filter((path) => !kept.has(path)));
      rows = next;
      tag += 1;
    },
    gone: () => void transport.hosts.delete(`http://${host}`),
    back: () => void transport.hosts.set(`http://${host}`, fake),
  };
}

/** Lets what is under way come to its end, while so much time passes. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; ; left -= 50) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    if (left <= 0) return;
    clock.advance(Math.min(50, left));
  }
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
/** What changed after a tag, or all of the copies. */
const origins = (since = '') =>
  Object.fromEntries(
    (feeds.since(since) ?? wholeCopies()).map(({ name, bytes, ...origin }) => [
      name,
      { ...origin, read: bytes === null ? null : JSON.parse(textOf(bytes)) },
    ]),
  );
const wholeCopies = () =>
  feeds.copies().map(({ copy, ...read }) => ({ ...read, bytes: copy?.whole() ?? null }));
const originOf = (name: string, since = '') => {
  const found = origins(since)[name];
  if (found === undefined) throw new Error(`nothing is told of ${name}`);
  return found;
};
const breaker = (name: string) => feeds.standings().find((one) => one.name === name)?.breaker;

describe('the feeds of the remotes', () => {
  it('[RPL-2] [RTE-7] are those of every remote but this host, each with how fresh it is', async () => {
    hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c'), remoteOf('host-a'), remoteOf('host-d', null)]);
    expect(feeds.standings().map(({ state }) => state)).toEqual(['unpolled', 'unpolled', 'unpolled']);
    await pass(100);
    expect(origins()).toEqual({
      'host-b': {
        ...{ state: 'fresh', last_ok_at: expect.any(Number), error: null, build: 'b1' },
        read: toldWhole('host-b', 'host-b-1', [toldRow('x')]),
      },
      'host-c': {
        ...{ state: 'no_answer', last_ok_at: null, build: null, read: null },
        error: { code: 'remote_unreachable', message: 'host-c is not there' },
      },
      'host-d': {
        ...{ state: 'no_answer', last_ok_at: null, build: null, read: null },
        error: { code: 'invalid_config', message: expect.stringContaining('svc remotes add host-d') },
      },
    });
  });

  it('[RPL-2] tell after a tag what changed of each host, and nothing that did not', async () => {
    const b = hostOf('host-b', [toldRow('x'), toldRow('y')]);
    hostOf('host-c', [toldRow('z')]);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(100);
    const { tag } = feeds;
    expect(told.at(-1)).toBe(tag);
    await pass(5_000);
    expect(feeds.tag).toBe(tag);
    b.set([toldRow('x', { name: 'X' })]);
    await pass(1_100);
    expect(told.at(-1)).not.toBe(tag);
    const [mine, other] = [originOf('host-b', tag!), originOf('host-c', tag!)];
    expect(mine.read).toEqual(
      toldDelta('host-b', 'host-b-2', [toldRow('x', { name: 'X' })], [toldRow('y').path as string]),
    );
    expect(other.read).toEqual(toldDelta('host-c', 'host-c-1', []));
    for (const strange of ['', 'm-1', 'n-999', 'n-', 'n-1x'])
      expect(originOf('host-b', strange).read).toMatchObject({ whole: true, tag: 'host-b-2' });
  });

  it('[RPL-2] are asked by the tag that they told, over kept connections', async () => {
    hostOf('host-b', []);
    feeds.follow([remoteOf('host-b')]);
    await pass(2_500);
    expect(transport.asked.map(({ path, anew }) => [path, anew])).toEqual([
      ['/version', false],
      ['/fibers?since=', false],
      ['/fiber-stores', false],
      ['/fibers?since=host-b-1', false],
      ['/fibers?since=host-b-1', false],
    ]);
  });

  it('are polled by their entity tag if they have no feed tag', async () => {
    const { fake } = hostOf('host-b', []);
    const body = { host: 'host-b', state: 'fresh', generated_at: 1, fibers: [toldRow('x')] };
    fake.feed = (_, { if_none_match }) =>
      if_none_match === '"e"' ? { status: 304, body: '' } : { body, etag: '"e"' };
    feeds.follow([remoteOf('host-b')]);
    await pass(1_500);
    const feedQuestions = transport.asked.filter(({ path }) => path.startsWith('/fibers'));
    expect(feedQuestions.map(({ if_none_match }) => if_none_match)).toEqual([null, '"e"']);
    expect(originOf('host-b')).toMatchObject({ state: 'fresh', read: { tag: null, fibers: [{ id: 'x' }] } });
  });

  it('[RTE-7] keep the rows of a host that is gone, and say so after two failures', async () => {
    const b = hostOf('host-b', [toldRow('x')]);
    hostOf('host-c', []);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(100);
    const before = originOf('host-b');
    b.gone();
    await pass(1_000);
    expect(originOf('host-b').state).toBe('fresh');
    await pass(1_000);
    expect(originOf('host-b')).toEqual({
      ...before,
      state: 'stale',
      error: { code: 'remote_unreachable', message: 'host-b is not there' },
    });
    expect(originOf('host-c')).toMatchObject({ state: 'fresh', error: null });
    b.back();
    await pass(20_000);
    expect(originOf('host-b')).toMatchObject({ state: 'fresh', error: null });
  });

  it('[RTE-7] are stale after some intervals where a question has no end', async () => {
    const b = hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    transport.get = () => new Promise(() => {});
    b.gone();
    await pass(4_000);
    expect(originOf('host-b').state).toBe('fresh');
    await pass(2_000);
    expect(originOf('host-b')).toMatchObject({ state: 'stale', error: null });
  });

  it('[RTE-7] are stale after the clock of this machine was set back, until the host answers', async () => {
    hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    transport.get = () => new Promise(() => {});
    clock.jumpTo(clock.now() - 3_600_000);
    await pass(6_000);
    expect(originOf('host-b')).toMatchObject({ state: 'stale', error: null });
    transport.streams.at(-1)?.on.alive();
    expect(originOf('host-b').state).toBe('fresh');
  });

  it.each([
    ['is not JSON', () => ({ body: '{"host":' }), 'answer_unreadable', 'not JSON'],
    ['is no feed', () => ({ body: { host: 'host-b' } }), 'answer_unreadable', 'not a feed'],
    ['redirects', () => ({ status: 302, body: '' }), 'remote_unreachable', '302'],
    [
      'would fill the memory',
      () => ({ body: `[${'[],'.repeat(1_000_001)}[]]` }),
      'answer_unreadable',
      'lists and maps',
    ],
    ['is a page', () => ({ status: 200, body: '<html>' }), 'answer_unreadable', 'not JSON'],
    ['has broken rows', () => ({ body: toldWhole('host-b', 't', [{}]) }), 'answer_unreadable', 'row'],
  ])('[RTE-7] keep the last good copy where the answer %s', async (_, feed, code, says) => {
    const { fake } = hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    fake.feed = feed;
    await pass(4_000);
    expect(originOf('host-b')).toMatchObject({
      state: 'stale',
      error: { code, message: expect.stringContaining(says) },
      read: { fibers: [{ id: 'x' }] },
    });
  });

  it.each([
    ['peer_refused', { reason: 'the peer has uid 1001' }, 'host-b: the peer has uid 1001'],
    ['forbidden_host', { message: 'Add the name.' }, 'host-b: Add the name.'],
  ])('[AUT-2] report why a daemon refuses this host: %s', async (error, why, message) => {
    const { fake } = hostOf('host-b', []);
    fake.version = () => ({ status: 403, body: { error, ...why } });
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    expect(originOf('host-b').error).toEqual({ code: error, message });
  });

  it('report the message of a host that is starting', async () => {
    const { fake } = hostOf('host-b', []);
    fake.feed = () => ({ status: 503, body: { error: 'booting', message: 'it is starting' } });
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    expect(originOf('host-b').error).toEqual({ code: 'booting', message: 'host-b: it is starting' });
  });

  it.each(['version', 'feed'] as const)(
    '[RTE-2] take no rows of another host, told by its %s',
    async (by) => {
      const { fake } = hostOf('host-b', []);
      if (by === 'version') fake.version = () => ({ body: { host: 'host-x', git_short_sha: 'b' } });
      else fake.feed = () => ({ body: toldWhole('host-x', 't', [toldRow('x')]) });
      feeds.follow([remoteOf('host-b')]);
      await pass(100);
      expect(originOf('host-b')).toMatchObject({
        ...{ state: 'no_answer', read: null },
        error: {
          code: 'misdirected',
          message: expect.stringMatching(/"host-x"; correct the entry of host-b/),
        },
      });
    },
  );

  describe('of a remote with a pinned build', () => {
    const pinned = (build: string | null): FollowedRemote => ({ ...remoteOf('host-b'), build });
    const refused = () => {
      try {
        feeds.refuseSilent('host-b', true);
        feeds.refuseChanged('host-b');
        return null;
      } catch (error) {
        return error;
      }
    };

    it('are taken while its daemon is of that build', async () => {
      hostOf('host-b', [toldRow('x')]);
      feeds.follow([pinned('b1')]);
      await pass(5_000);
      expect(originOf('host-b')).toMatchObject({ state: 'fresh', error: null, build: 'b1' });
      expect([refused(), silences]).toEqual([null, [[]]]);
    });

    it('stay as they were from the first answer of another build, until that one is pinned', async () => {
      const b = hostOf('host-b', [toldRow('x')]);
      lookUp = () => pinned('b1');
      feeds.follow([pinned('b1')]);
      await pass(1_000);
      b.fake.version = () => ({ body: { host: 'host-b', git_short_sha: 'b2' } });
      b.set([toldRow('x'), toldRow('y')]);
      transport.streams.at(-1)?.on.closed('it was restarted');
      await pass(5_000);
      const says =
        /^The daemon of host-b is of build "b2", .* pins "b1"\. If that is right, run: svc remotes pin host-b$/;
      expect(originOf('host-b')).toMatchObject({
        ...{ state: 'stale', build: 'b2', read: { fibers: [{ id: 'x' }] } },
        error: { code: 'build_changed', message: expect.stringMatching(says) },
      });
      expect(refused()).toMatchObject({
        ...{ code: 'build_changed', details: { origin: 'host-b' } },
        message: expect.stringMatching(/^Nothing was sent\. The daemon of host-b/),
      });
      // As svc fleet and the board show it.
      expect(() => feeds.refuseChanged('host-b')).toThrow(/^The daemon of host-b/);
      expect([silences.at(-1), restarted]).toEqual([['host-b'], []]);
      lookUp = () => pinned('b2');
      feeds.follow([pinned('b2')]);
      await pass(100);
      expect(originOf('host-b')).toMatchObject({ state: 'fresh', error: null });
      expect(originOf('host-b').read).toMatchObject({ fibers: [{ id: 'x' }, { id: 'y' }] });
      expect([refused(), silences.at(-1)]).toEqual([null, []]);
    });

    it('are not taken of a build that answers before the first good answer, nor of one that began between two questions', async () => {
      const b = hostOf('host-b', [toldRow('x')]);
      feeds.follow([pinned('b0')]);
      await pass(100);
      expect(originOf('host-b')).toMatchObject({
        state: 'no_answer',
        error: { code: 'build_changed' },
        read: null,
      });
      feeds.follow([pinned('b1')]);
      await pass(100);
      expect(originOf('host-b').state).toBe('fresh');
      // No stream was held that could have ended.
      b.fake.version = () => ({ body: { host: 'host-b', git_short_sha: 'b2' } });
      await pass(1_500);
      expect(originOf('host-b').error?.code).toBe('build_changed');
    });
  });

  it('drop a remote that is removed, and go on with those that stay', async () => {
    hostOf('host-b', [toldRow('x')]);
    hostOf('host-c', [toldRow('z')]);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(100);
    const { tag } = feeds;
    feeds.follow([remoteOf('host-c')]);
    expect(feeds.tag).not.toBe(tag);
    expect(Object.keys(origins(tag!))).toEqual(['host-c']);
    expect(originOf('host-c', tag!).read).toMatchObject({ rows: [] });
    const asked = transport.asked.length;
    await pass(1_100);
    expect(transport.asked.slice(asked).map(({ to }) => to.name)).toEqual(['host-c']);
    feeds.follow([]);
    await pass(20);
    expect(told.at(-1)).toBeNull();
    expect([feeds.tag, feeds.copies()]).toEqual([null, []]);
  });

  it('are polled at once after the address of a remote has changed', async () => {
    hostOf('host-b', [toldRow('x')]);
    lookUp = () => null;
    feeds.follow([remoteOf('host-b', 'http://nowhere')]);
    await pass(10_000);
    expect(originOf('host-b').state).toBe('no_answer');
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    expect(originOf('host-b').state).toBe('fresh');
  });

  it('cost a host that sends much the time that it takes from others', async () => {
    const { fake } = hostOf('host-b', []);
    fake.feed = () => ({ body: ' '.repeat(20 * 1024 * 1024) });
    feeds.follow([remoteOf('host-b')]);
    await pass(9_000);
    expect(transport.asked.filter(({ path }) => path.startsWith('/fibers'))).toHaveLength(1);
    await pass(2_000);
    expect(transport.asked.filter(({ path }) => path.startsWith('/fibers'))).toHaveLength(2);
  });

  it('cost a host whose answers take long to apply the time that they take from others', async () => {
    hostOf('host-b', [toldRow('x')]);
    step_ms = 550;
    feeds.follow([remoteOf('host-b')]);
    await pass(50);
    step_ms = 0;
    await pass(7_000);
    expect(transport.asked.filter(({ path }) => path.startsWith('/fibers?'))).toHaveLength(1);
    await pass(4_000);
    expect(transport.asked.filter(({ path }) => path.startsWith('/fibers?')).length).toBeGreaterThan(1);
  });
});

describe('the stores of the remotes', () => {
  const LISTS = {
    ...{ stores: ['/s'], projects: [], stores_digest: 'a', projects_digest: 'b' },
    ...{ browser_capable: false, native_folder_picker: true },
  };

  it('[RPL-6] are those that each told of itself, asked for once in a minute', async () => {
    hostOf('host-b', []).fake.stores = () => ({
      body: { host: 'host-b', origins: { 'host-b': LISTS, 'host-x': LISTS } },
    });
    hostOf('host-c', []).fake.stores = () => ({ body: { host: 'host-x', origins: { 'host-c': LISTS } } });
    hostOf('host-d', []).fake.stores = () => ({ body: 'x'.repeat(2_000_000) });
    hostOf('host-e', []);
    feeds.follow(['host-b', 'host-c', 'host-d', 'host-e', 'host-f'].map((name) => remoteOf(name)));
    await pass(30_000);
    const fresh = { state: 'fresh', last_ok_at: expect.any(Number), error: null };
    expect(feeds.stores()).toEqual({ 'host-b': { ...LISTS, ...fresh } });
    for (const name of ['host-b', 'host-c', 'host-d', 'host-e']) expect(originOf(name).state).toBe('fresh');
    const asked = () =>
      transport.asked.filter(({ path, to }) => path === '/fiber-stores' && to.name === 'host-b').length;
    expect(asked()).toBe(1);
    await pass(35_000);
    expect(asked()).toBe(2);
  });

  const told = { body: { host: 'host-b', origins: { 'host-b': LISTS } } };

  it('[RPL-6] [REC-8] stay with when they were told, and are stale with its feed', async () => {
    const b = hostOf('host-b', []);
    b.fake.stores = () => told;
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    const { last_ok_at } = feeds.stores()['host-b']!;
    expect(feeds.stores()['host-b']).toMatchObject({ state: 'fresh', error: null });
    b.gone();
    await pass(5_000);
    expect(feeds.stores()['host-b']).toEqual({
      ...LISTS,
      ...{ state: 'stale', last_ok_at, error: { code: 'remote_unreachable', message: expect.any(String) } },
    });
  });

  it('[RPL-6] are asked for once in a minute although the clock of this machine was set back', async () => {
    const b = hostOf('host-b', []);
    b.fake.stores = () => told;
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    clock.jumpTo(clock.now() - 6 * 3_600_000);
    const later = { ...LISTS, stores: ['/s', '/later'] };
    b.fake.stores = () => ({ body: { host: 'host-b', origins: { 'host-b': later } } });
    await pass(70_000);
    expect(feeds.stores()['host-b']).toMatchObject({ state: 'fresh', stores: ['/s', '/later'] });
  });

  it('[RPL-6] [REC-8] are stale after some minutes, also where its feed is fresh', async () => {
    const b = hostOf('host-b', []);
    b.fake.stores = () => told;
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    b.fake.stores = () => ({ status: 503, body: {} });
    await pass(290_000);
    expect([originOf('host-b').state, feeds.stores()['host-b']?.state]).toEqual(['fresh', 'fresh']);
    await pass(15_000);
    expect([originOf('host-b').state, feeds.stores()['host-b']?.state]).toEqual(['fresh', 'stale']);
  });
});

describe('the breaker of a remote', () => {
  it('[BRK-1] trips after one cascade: new connections, its tunnel restarted, then its address looked up again', async () => {
    const looked: string[] = [];
    lookUp = (name) => {
      looked.push(name);
      return remoteOf(name);
    };
    feeds.follow([remoteOf('host-b')]);
    await pass(2_700);
    expect(transport.asked.map(({ anew }) => anew)).toEqual([false, false, false, true, true, true]);
    expect([looked, restarted, breaker('host-b')]).toEqual([['host-b'], ['host-b'], 'tripped']);
    await pass(7_000);
    expect(transport.asked).toHaveLength(6);
    await pass(2_000);
    expect(transport.asked).toHaveLength(7);
    hostOf('host-b', []);
    await pass(9_000);
    expect([originOf('host-b').state, breaker('host-b')]).toEqual(['fresh', 'closed']);
  });

  it('[BRK-1] [RTE-2] keeps nothing from a host whose feed cannot be read, nor starts its tunnel anew', async () => {
    hostOf('host-b', []).fake.feed = () => ({ body: '<html>' });
    feeds.follow([remoteOf('host-b')]);
    await pass(20_000);
    expect([breaker('host-b'), originOf('host-b').error?.code]).toEqual(['tripped', 'answer_unreadable']);
    expect([silences, restarted]).toEqual([[[]], []]);
    expect(() => feeds.refuseSilent('host-b', true)).not.toThrow();
  });

  it('[BRK-1] refuses at once what is for a host that answers nobody, and has it asked anew', async () => {
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    expect(() => feeds.refuseSilent('host-b', true)).not.toThrow();
    await pass(5_000);
    const asked = transport.asked.length;
    expect(() => feeds.refuseSilent('host-b', true)).toThrow(
      expect.objectContaining({
        code: 'remote_unreachable',
        details: { origin: 'host-b' },
        message: expect.stringMatching(/^host-b has not answered yet; .* Nothing was sent\./),
      }),
    );
    expect(() => feeds.refuseSilent('host-b', false)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('Nothing was sent') }),
    );
    await pass(50);
    expect(transport.asked).toHaveLength(asked + 1);
  });

  it('[BRK-1] is told of while it is tripped by silence, and one that is wanted then is asked once a second', async () => {
    const b = hostOf('host-b', []);
    hostOf('host-c', []);
    const booting = { error: 'booting', message: 'it is starting' };
    hostOf('host-d', []).fake.feed = () => ({ status: 503, body: booting });
    feeds.follow([remoteOf('host-b'), remoteOf('host-c'), remoteOf('host-d')]);
    await pass(1_000);
    b.gone();
    await pass(20_000);
    expect([breaker('host-b'), breaker('host-d'), silences]).toEqual([
      'tripped',
      'tripped',
      [[], ['host-b']],
    ]);
    await pass(1_000);
    const asked = () => transport.asked.filter(({ to }) => to.name === 'host-b').length;
    const before = asked();
    for (let time = 0; time < 3; time += 1) {
      feeds.askAgain('host-b');
      feeds.askAgain('host-c');
      feeds.askAgain('host-x');
      await pass(50);
    }
    expect(asked()).toBe(before + 1);
    hostOf('host-b', []);
    await pass(1_000);
    feeds.askAgain('host-b');
    await pass(50);
    expect([breaker('host-b'), silences.at(-1)]).toEqual(['closed', []]);
  });

  it('[BRK-1] says at its start that none is silent, which its earlier life may have said of some', () => {
    feeds.follow([remoteOf('host-b')]);
    expect(silences).toEqual([[]]);
  });

  it('[BRK-1] asks through a tunnel that was restarted once that has had its time', async () => {
    restart = () => {
      hostOf('host-b', []);
      return true;
    };
    feeds.follow([remoteOf('host-b')]);
    await pass(2_500);
    expect([restarted, originOf('host-b').state, transport.asked.length]).toEqual([
      ['host-b'],
      'no_answer',
      4,
    ]);
    await pass(2_000);
    expect([originOf('host-b').state, breaker('host-b')]).toEqual(['fresh', 'closed']);
  });

  it('[BRK-1] finds a remote whose entry leads elsewhere by now', async () => {
    hostOf('host-b', []);
    lookUp = (name) => remoteOf(name);
    feeds.follow([remoteOf('host-b', 'http://nowhere')]);
    await pass(2_500);
    expect([originOf('host-b').state, breaker('host-b')]).toEqual(['fresh', 'closed']);
  });

  it('[BRK-1] [WPL-26] runs exactly one cascade at a reset, now', async () => {
    feeds.follow([remoteOf('host-b')]);
    await pass(2_500);
    const asked = transport.asked.length;
    expect(feeds.reset('host-b', true)).toMatchObject({
      dry_run: true,
      would: expect.stringContaining('host-b'),
    });
    expect(breaker('host-b')).toBe('tripped');
    expect(feeds.reset('host-b', false)).toEqual({ name: 'host-b', reset: true });
    expect(breaker('host-b')).toBe('recovering');
    for (const dry_run of [false, true])
      expect(() => feeds.reset('host-b', dry_run)).toThrow(
        expect.objectContaining({ code: 'breaker_not_tripped' }),
      );
    await pass(1_000);
    expect(transport.asked.slice(asked).map(({ anew }) => anew)).toEqual([true, true, true]);
    expect(breaker('host-b')).toBe('tripped');
  });

  it('[ERR-16] is not reset while it is not tripped, and that of a stranger is unknown', async () => {
    hostOf('host-b', []);
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    for (const dry_run of [false, true]) {
      expect(() => feeds.reset('host-b', dry_run)).toThrow(
        expect.objectContaining({ code: 'breaker_not_tripped' }),
      );
      expect(() => feeds.reset('host-x', dry_run)).toThrow(expect.objectContaining({ code: 'unknown_host' }));
    }
  });
});

describe('the stream of a remote', () => {
  const stream = () => transport.streams.at(-1)!;
  const live = (value: object) => stream().on.message({ feed: 'fibers', ...value });
  const feedQuestions = () => transport.asked.filter(({ path }) => path.startsWith('/fibers')).length;
  let b: ReturnType<typeof hostOf>;
  beforeEach(async () => {
    b = hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    live({ tag: 'host-b-1' });
  });

  it('[RPL-2] brings its changes at once, and it is asked only now and then', async () => {
    await pass(5_000);
    const asked = feedQuestions();
    live({ since: 'host-b-1', ...toldDelta('host-b', 'host-b-2', [toldRow('y')]) });
    expect(originOf('host-b').read).toMatchObject({ tag: 'host-b-2', fibers: [{ id: 'x' }, { id: 'y' }] });
    await pass(5_000);
    expect(feedQuestions()).toBe(asked);
    stream().on.alive();
    await pass(7_000);
    expect(feedQuestions()).toBe(asked + 1);
  });

  it.each([
    ['that does not follow the copy', { since: 'host-b-7', ...toldDelta('host-b', 'host-b-8', []) }],
    ['without what changed', { tag: 'host-b-8' }],
    ['that some were left out', { whole: true }],
    ['whose rows are none', { since: 'host-b-1', ...toldDelta('host-b', 'host-b-8', [{}]) }],
    ['of another host', { since: 'host-b-1', ...toldDelta('host-x', 'host-b-8', []) }],
    ['that its feed is cold', { tag: null }],
  ])('[RPL-2] has it asked at once by a message %s', async (_, message) => {
    await pass(1_500);
    const asked = feedQuestions();
    b.set([toldRow('z')]);
    live(message);
    await pass(100);
    expect(feedQuestions()).toBe(asked + 1);
    expect(originOf('host-b').read).toMatchObject({ fibers: [{ id: 'z' }] });
  });

  it('tells nothing by a message about something else, or by one that is none', async () => {
    await pass(1_500);
    const asked = feedQuestions();
    for (const message of [{ feed: 'events', seq: 1 }, { feed: 'remotes', tag: 'n' }, 7, null])
      stream().on.message(message);
    live({ tag: 'host-b-1' });
    await pass(500);
    expect(feedQuestions()).toBe(asked);
  });

  it('does not go back to an older state by a late answer', async () => {
    const answer = transport.get.bind(transport);
    let release = () => {};
    transport.get = async (question) => {
      const told = await answer(question);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return told;
    };
    live({ tag: 'host-b-0' });
    await pass(100);
    b.set([toldRow('x', { name: 'new' })]);
    live({ since: 'host-b-1', ...toldDelta('host-b', 'host-b-2', [toldRow('x', { name: 'new' })]) });
    transport.get = answer;
    release();
    await pass(200);
    expect(originOf('host-b').read).toMatchObject({ tag: 'host-b-2', fibers: [{ name: 'new' }] });
  });

  it('causes a bounded number of requests, whatever it sends', async () => {
    await pass(1_000);
    const asked = feedQuestions();
    for (let at = 0; at < 100; at += 1) {
      live({ tag: `host-b-${at + 50}` });
      await pass(10);
    }
    expect(feedQuestions() - asked).toBeLessThanOrEqual(21);
  });

  it('is not followed while its changes have taken more than the share of one host, and misses none of them', async () => {
    await pass(5_000);
    const asked = feedQuestions();
    step_ms = 100;
    live({ since: 'host-b-1', ...toldDelta('host-b', 'host-b-2', [toldRow('y')]) });
    step_ms = 0;
    b.set([toldRow('x'), toldRow('y')]);
    b.set([toldRow('x'), toldRow('z')]);
    live({ since: 'host-b-2', ...toldDelta('host-b', 'host-b-3', [toldRow('z')]) });
    await pass(500);
    expect(originOf('host-b').read).toMatchObject({ fibers: [{ id: 'x' }, { id: 'y' }] });
    expect(feedQuestions()).toBe(asked);
    await pass(3_500);
    expect(originOf('host-b').read).toMatchObject({
      fibers: expect.arrayContaining([expect.objectContaining({ id: 'z' })]),
    });
    expect(feedQuestions()).toBe(asked + 1);
  });

  it('has it asked at once although the clock of this machine was set back', async () => {
    await pass(1_500);
    const asked = feedQuestions();
    clock.jumpTo(clock.now() - 3_600_000);
    b.set([toldRow('z')]);
    live({ tag: 'host-b-2' });
    await pass(100);
    expect(feedQuestions()).toBe(asked + 1);
  });

  it('is opened again although the clock of this machine was set back', async () => {
    await pass(2_000);
    stream().on.closed('it was cut');
    clock.jumpTo(clock.now() - 3_600_000);
    await pass(30_000);
    expect(transport.streams).toHaveLength(2);
  });

  it('[RTE-7] is asked at once when it ends, and stale where there is no answer', async () => {
    await pass(2_000);
    b.gone();
    stream().on.closed('it was cut');
    await pass(1_000);
    expect(originOf('host-b')).toMatchObject({ state: 'stale', error: { code: 'remote_unreachable' } });
    b.back();
    await pass(10_000);
    expect(originOf('host-b').state).toBe('fresh');
    expect(transport.streams).toHaveLength(2);
  });

  it('is opened again at once after a steady one, and later each time after those that were soon over', async () => {
    for (let at = 0; at < 40; at += 1) {
      await pass(1_000);
      stream().on.alive();
    }
    stream().on.closed('that host was restarted');
    await pass(200);
    expect(transport.streams).toHaveLength(2);
    for (let at = 0; at < 60; at += 1) {
      if (!stream().is_closed) stream().on.closed('it answers 404');
      await pass(1_000);
    }
    expect(transport.streams.length).toBeLessThanOrEqual(6);
    expect(originOf('host-b').state).toBe('fresh');
  });

  it('is closed when its remote is removed or gets another address', async () => {
    hostOf('host-c', []);
    feeds.follow([{ ...remoteOf('host-b'), address: { url: 'http://host-c' } }]);
    expect(stream().is_closed).toBe(true);
    feeds.follow([]);
    for (const { is_closed } of transport.streams) expect(is_closed).toBe(true);
  });
});

describe('the last good copies on disk', () => {
  const again = () =>
    new FleetFeeds({
      ...{ host: 'host-a', nonce: 'm', transport, clock, kept, random: () => 0.5 },
      lookUp: async (name) => lookUp(name),
      monotonic: monotonicOf(clock),
      restartTunnel: async () => false,
      tell: () => {},
      tellSilent: () => {},
    });

  it('[RTE-7] are shown at once after a restart, with their age, and followed by the tag that they have', async () => {
    const b = hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(1_500);
    const { last_ok_at } = originOf('host-b');
    feeds.stop();
    b.gone();
    clock.advance(60_000);
    const before = transport.asked.length;
    feeds = again();
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(100);
    expect(originOf('host-b')).toMatchObject({
      ...{ state: 'stale', read: toldWhole('host-b', 'host-b-1', [toldRow('x')]) },
      last_ok_at,
    });
    b.back();
    await pass(3_000);
    expect(originOf('host-b')).toMatchObject({ state: 'fresh', error: null });
    const paths = transport.asked.slice(before).map(({ path }) => path);
    expect(paths).toContain('/fibers?since=host-b-1');
    expect(paths).not.toContain('/fibers?since=');
    expect(log).toEqual([]);
  });

  it('are written at most once in ten seconds, and at the end', async () => {
    const b = hostOf('host-b', []);
    let writes = 0;
    const write = kept.write.bind(kept);
    kept.write = (...args) => {
      writes += 1;
      write(...args);
    };
    feeds.follow([remoteOf('host-b')]);
    for (let at = 0; at < 30; at += 1) {
      b.set([toldRow(`r${at}`)]);
      await pass(1_000);
    }
    expect(writes).toBeLessThanOrEqual(4);
    b.set([toldRow('last')]);
    await pass(1_100);
    feeds.stop();
    expect(kept.read('host-b')?.answer.rows.map(({ id }) => id)).toEqual(['last']);
  });

  it('are written again where somebody has deleted them', async () => {
    hostOf('host-b', [toldRow('x')]);
    feeds.follow([remoteOf('host-b')]);
    await pass(2_000);
    expect(kept.read('host-b')).not.toBeNull();
    kept.keepOnly([]);
    expect(kept.read('host-b')).toBeNull();
    await pass(12_000);
    expect(kept.read('host-b')?.answer.rows).toMatchObject([{ id: 'x' }]);
  });

  it('are asked for again where they are damaged, with a warning', async () => {
    const { rows } = { rows: [toldRow('x')] };
    hostOf('host-b', rows);
    const bytes = Buffer.from(JSON.stringify(toldWhole('host-x', 't', rows)));
    for (const broken of [Buffer.from('{"fibers":['), bytes]) {
      kept.write('host-b', broken, clock.now());
      expect(kept.read('host-b')).toBeNull();
    }
    expect(log).toHaveLength(2);
    expect(log[0]).toContain('damaged');
    feeds.follow([remoteOf('host-b')]);
    await pass(100);
    expect(originOf('host-b').state).toBe('fresh');
  });

  it('are deleted with their remotes', async () => {
    hostOf('host-b', []);
    hostOf('host-c', []);
    feeds.follow([remoteOf('host-b'), remoteOf('host-c')]);
    await pass(1_500);
    feeds.follow([remoteOf('host-c')]);
    expect([kept.read('host-b'), kept.read('host-c')?.answer.host]).toEqual([null, 'host-c']);
  });
});
