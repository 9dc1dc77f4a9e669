import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { createDeferred, type Deferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { AskedRead, Remote } from '../../src/contract/threads/fleet.ts';
import { CopyFiles } from '../../src/fleet/copy-files.ts';
import type { ReadAnswer } from '../../src/fleet/read-remote.ts';
import { RemoteReads } from '../../src/fleet/remote-reads.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TIMES = { reuse_ms: MINUTE, answer_ms: 5_000, stale_ms: 10 * MINUTE };
const COMMITS: AskedRead = { feed: 'commits' };
const AWAY = new CodedError('remote_unreachable', 'host-b does not answer');

type Question = { name: string; path: string; etag: string | null };
let scratch: ScratchFolder;
let clock: FakeClock;
let remotes: Remote[];
let asked: Question[];
let answer: (question: Question) => ReadAnswer | Promise<ReadAnswer>;
let reads: RemoteReads;

beforeEach(() => {
  scratch = scratchFolder();
  clock = new FakeClock();
  remotes = [remote('host-b')];
  answer = ({ name }) => told({ host: name, commits: [] });
  start();
});
afterEach(() => scratch.remove());

function remote(name: string): Remote {
  return { name, address: { url: `http://${name}` }, problem: null };
}

function told(value: object, etag: string | null = 'W/"1"'): ReadAnswer {
  return { bytes: Buffer.from(JSON.stringify(value)), etag };
}

/** Another life of the thread, with the same disk. */
function start(): void {
  asked = [];
  reads = new RemoteReads({
    async ask({ name }, path, etag) {
      asked.push({ name, path, etag });
      return answer({ name, path, etag });
    },
    remotes: () => remotes,
    buildOf: (name) => (name === 'host-b' ? 'b1' : null),
    files: new CopyFiles({ folder: join(scratch.path, 'remote-temporal'), logger: silentLogger }),
    times: TIMES,
    clock,
  });
}

/** What is read of host-b, its bytes as JSON. */
async function readB(question: AskedRead = COMMITS) {
  const all = await reads.read(question);
  const { bytes, digest: _digest, ...rest } = all.find(({ name }) => name === 'host-b')!;
  return { ...rest, read: bytes === null ? null : JSON.parse(Buffer.from(bytes).toString()) };
}

/** Lets everything go on that waits for no timer. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

function files(feed = 'commits'): string[] {
  return readdirSync(join(scratch.path, 'remote-temporal', feed));
}

describe('a read of another host', () => {
  it('[TMP-8] [LIM-15] is asked for when it is wanted, and not again within a minute', async () => {
    const first = clock.now();
    const fresh = { name: 'host-b', state: 'fresh', error: null, build: 'b1' };
    const read = { host: 'host-b', commits: [] };
    clock.advance(HOUR);
    expect(asked).toEqual([]);
    expect(await readB()).toEqual({ ...fresh, last_ok_at: first + HOUR, read });
    clock.advance(MINUTE - 1);
    expect(await readB()).toEqual({ ...fresh, last_ok_at: first + HOUR, read });
    expect(asked).toHaveLength(1);
    clock.advance(1);
    expect(await readB()).toMatchObject({ last_ok_at: first + HOUR + MINUTE });
    expect(asked).toHaveLength(2);
  });

  it('[TMP-8] is a question of its own for each feed and each fiber', async () => {
    answer = ({ name, path }) =>
      told(path.startsWith('/sessions') ? { host: name, sessions: [] } : { host: name, commits: [] });
    for (const question of [COMMITS, { feed: 'sessions' }, { feed: 'sessions', uid: '01K' }] as const)
      for (let time = 0; time < 2; time += 1) await readB(question);
    expect(asked.map(({ path }) => path)).toEqual(['/commits', '/sessions', '/sessions?uid=01K']);
  });

  it('[TMP-8] is asked with the tag of the copy, and is the copy where that is confirmed', async () => {
    await readB();
    clock.advance(MINUTE);
    answer = ({ etag }) => ({ bytes: null, etag });
    expect(await readB()).toMatchObject({
      state: 'fresh',
      last_ok_at: clock.now(),
      read: { host: 'host-b' },
    });
    expect(asked.map(({ etag }) => etag)).toEqual([null, 'W/"1"']);
    start();
    clock.advance(9 * MINUTE);
    answer = () => Promise.reject(AWAY);
    expect(await readB()).toMatchObject({ state: 'fresh', last_ok_at: clock.now() - 9 * MINUTE });
    expect(asked).toMatchObject([{ etag: 'W/"1"' }]);
  });

  it('[TMP-8] is requested once for all callers that wait', async () => {
    const slow: Deferred<ReadAnswer> = createDeferred();
    answer = () => slow.promise;
    const both = Promise.all([readB(), readB()]);
    await settle();
    slow.resolve(told({ host: 'host-b', commits: [] }));
    expect(await both).toMatchObject([{ state: 'fresh' }, { state: 'fresh' }]);
    expect(asked).toHaveLength(1);
  });

  it('[TMP-8] [LIM-15] is waited for five seconds once, whoever asks, then the last good answer is taken', async () => {
    await readB();
    const last_ok_at = clock.now();
    clock.advance(MINUTE);
    const slow: Deferred<ReadAnswer> = createDeferred();
    answer = () => slow.promise;
    let done = 0;
    const count = () => {
      done += 1;
    };
    const first = readB();
    void first.then(count);
    await settle();
    clock.advance(4_000);
    const second = readB();
    void second.then(count);
    await settle();
    expect(done).toBe(0);
    clock.advance(1_000);
    const late = {
      state: 'fresh',
      last_ok_at,
      error: { code: 'deadline_exceeded', message: 'host-b did not answer within 5 s.' },
      read: { host: 'host-b' },
    };
    expect(await first).toMatchObject(late);
    expect(await second).toMatchObject(late);
    expect(await readB()).toMatchObject(late);
    slow.resolve(told({ host: 'host-b', commits: [], late: true }, 'W/"2"'));
    await settle();
    expect(await readB()).toMatchObject({ error: null, read: { late: true } });
    expect(asked).toHaveLength(2);
  });

  it('[TMP-8] keeps no other host waiting longer, and none behind it', async () => {
    remotes = ['host-b', 'host-c', 'host-d'].map(remote);
    answer = ({ name }) =>
      name === 'host-d' ? told({ host: name, commits: [] }) : new Promise<ReadAnswer>(() => {});
    const all = reads.read(COMMITS);
    await settle();
    clock.advance(5_000);
    expect((await all).map(({ name, state }) => [name, state])).toEqual([
      ['host-b', 'no_answer'],
      ['host-c', 'no_answer'],
      ['host-d', 'fresh'],
    ]);
  });

  it('[TMP-8] [LIM-15] is stale when its last good answer is more than ten minutes old, also after a restart', async () => {
    await readB();
    const last_ok_at = clock.now();
    answer = () => Promise.reject(AWAY);
    clock.advance(10 * MINUTE);
    const error = { code: 'remote_unreachable', message: AWAY.message };
    expect(await readB()).toMatchObject({ state: 'fresh', last_ok_at, error });
    clock.advance(1);
    expect(await readB()).toMatchObject({ state: 'stale', last_ok_at, error, read: { host: 'host-b' } });
    start();
    expect(await readB()).toMatchObject({ state: 'stale', last_ok_at, error, read: { host: 'host-b' } });
  });

  it('[TMP-8] has the state no_answer if there never was an answer', async () => {
    answer = () => Promise.reject(AWAY);
    const nothing = { state: 'no_answer', last_ok_at: null, read: null };
    expect(await readB()).toMatchObject({ ...nothing, error: { code: 'remote_unreachable' } });
    remotes = [{ name: 'host-b', address: null, problem: 'the entry of host-b names nothing' }];
    expect(await readB()).toMatchObject({
      ...nothing,
      error: { code: 'invalid_config', message: expect.stringContaining('svc remotes add host-b') },
    });
    expect(asked).toHaveLength(1);
  });

  it('[TMP-8] is not taken from another host, nor in another shape; the last good one stays', async () => {
    await readB();
    for (const [wrong, code] of [
      [told({ host: 'host-z', commits: [] }), 'misdirected'],
      [told({ host: 'host-b', sessions: [] }), 'answer_unreadable'],
      [{ bytes: Buffer.from('{'), etag: null }, 'answer_unreadable'],
    ] as const) {
      clock.advance(MINUTE);
      answer = () => wrong;
      expect(await readB()).toMatchObject({ error: { code }, read: { host: 'host-b', commits: [] } });
    }
  });

  it('[TMP-8] has the activity of the nearest window where that of this one was never answered', async () => {
    answer = ({ name, path }) => {
      const { searchParams } = new URL(path, 'http://x');
      const [from_ms, to_ms] = ['from_ms', 'to_ms'].map((one) => Number(searchParams.get(one)));
      return told({ host: name, from_ms, to_ms, buckets: [] });
    };
    const at = Math.floor(clock.now() / HOUR) * HOUR;
    const window = (minutes: number): AskedRead => ({
      feed: 'activity',
      from_ms: at - 24 * HOUR + minutes * MINUTE,
      to_ms: at + minutes * MINUTE,
    });
    for (const minutes of [30, 31, 59]) {
      clock.jumpTo(at + minutes * MINUTE);
      expect(await readB(window(minutes))).toMatchObject({ read: { to_ms: at + HOUR } });
    }
    expect(new Set(asked.map(({ path }) => path)).size).toBe(1);
    expect(files('activity')).toHaveLength(1);
    answer = () => Promise.reject(AWAY);
    clock.jumpTo(at + 61 * MINUTE);
    expect(await readB(window(61))).toMatchObject({
      state: 'fresh',
      last_ok_at: at + 59 * MINUTE,
      error: { code: 'remote_unreachable' },
      read: { to_ms: at + HOUR },
    });
  });

  it('[TMP-8] sends no bytes that the caller already has', async () => {
    const digest = (await reads.read(COMMITS))[0]?.digest ?? '';
    expect(await reads.read(COMMITS, new Set([digest]))).toMatchObject([{ digest, bytes: null }]);
  });

  it('[TMP-8] keeps a bounded number of files and questions', async () => {
    answer = ({ name, path }) =>
      path.includes('none') ? Promise.reject(AWAY) : told({ host: name, sessions: [], path });
    for (let uid = 0; uid < 40; uid += 1) {
      clock.advance(1);
      await readB({ feed: 'sessions', uid: `u${uid}` });
      await readB({ feed: 'sessions', uid: `none${uid}` });
    }
    expect(files('sessions')).toHaveLength(12);
    asked = [];
    clock.advance(1);
    for (let uid = 28; uid < 40; uid += 1) await readB({ feed: 'sessions', uid: `u${uid}` });
    expect(asked).toEqual([]);
    await readB({ feed: 'sessions', uid: 'u0' });
    expect(asked).toHaveLength(1);
  });

  it('[TMP-8] has no more than eight questions open at one host', async () => {
    answer = () => new Promise(() => {});
    const all = Array.from({ length: 12 }, (_, at) => readB({ feed: 'sessions', uid: `u${at}` }));
    await settle();
    expect(asked).toHaveLength(8);
    expect(await all[11]).toMatchObject({ state: 'no_answer', error: { code: 'queue_full' } });
    clock.advance(5_000);
    expect(await all[0]).toMatchObject({ error: { code: 'deadline_exceeded' } });
  });

  it('[TMP-8] asks again where its copy was removed behind its back', async () => {
    answer = ({ name }) =>
      told({ host: name, commits: [], pad: new Array(20 * 1024).fill('x'.repeat(1024)) });
    remotes = [remote('host-b'), remote('host-c')];
    await reads.read(COMMITS);
    rmSync(join(scratch.path, 'remote-temporal'), { recursive: true });
    const lost = await readB();
    expect(lost).toMatchObject({ state: 'no_answer', error: { code: 'file_unavailable' } });
    answer = ({ name }) => told({ host: name, commits: [] });
    expect(await readB()).toMatchObject({ state: 'fresh', error: null, read: { host: 'host-b' } });
    expect(asked.at(-1)).toMatchObject({ etag: null });
  });

  it('[TMP-8] is stale where the clock was set back, until the remote answers', async () => {
    await readB();
    clock.jumpTo(clock.now() - 86_400_000);
    answer = () => Promise.reject(AWAY);
    expect(await readB()).toMatchObject({ state: 'stale', error: { code: 'remote_unreachable' } });
    answer = ({ name }) => told({ host: name, commits: [] });
    clock.advance(60_000);
    expect(await readB()).toMatchObject({ state: 'fresh', error: null });
  });

  it('[TMP-8] is requested even after the clock was set back', async () => {
    await readB();
    clock.jumpTo(clock.now() - 86_400_000);
    await readB();
    expect(asked).toHaveLength(2);
  });

  it('[TMP-8] [LIM-15] keeps nobody waiting longer than five seconds although the clock was set back meanwhile', async () => {
    answer = () => new Promise(() => {});
    const first = readB();
    await settle();
    clock.jumpTo(clock.now() - 86_400_000);
    const second = readB();
    await settle();
    clock.advance(5_000);
    const late = { state: 'no_answer', error: { code: 'deadline_exceeded' } };
    expect(await Promise.all([first, second])).toMatchObject([late, late]);
  });
});
