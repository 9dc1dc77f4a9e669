import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { FakeClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import type { LentBytes } from '../../src/base/lent-bytes.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { runToItsEnd } from '../../src/base/request-scope.ts';
import type { CallTable, EventTable } from '../../src/contract/threads/call-table.ts';
import { WithParts, withBulk } from '../../src/threads/bulk.ts';
import type { Handlers } from '../../src/threads/calls.ts';
import { type Channel, channelPair } from '../../src/threads/channel.ts';
import { createPeer } from '../../src/threads/peer.ts';

const calls = {
  add: {
    input: z.object({ a: z.number(), b: z.number().default(1) }),
    output: z.number(),
    deadline_ms: 1_000,
  },
  reverse: { input: z.object({}), output: z.object({ bytes: z.number() }), deadline_ms: 1_000 },
  refuse: { input: z.object({ how: z.string() }), output: z.null(), deadline_ms: 1_000 },
  lie: { input: z.object({}), output: z.object({ count: z.number() }), deadline_ms: 1_000 },
  wait: { input: z.object({}), output: z.string(), deadline_ms: 500 },
  split: { input: z.object({}), output: z.number(), deadline_ms: 1_000 },
} satisfies CallTable;
const events = { moved: z.object({ to: z.string() }) } satisfies EventTable;
const orders = { frame: z.object({ nth: z.number() }) } satisfies EventTable;

let release: (() => void)[] = [];
/** What `split` answers with. */
let split: LentBytes[] = [];
const handlers: Handlers<typeof calls> = {
  add: ({ a, b }) => a + b,
  reverse: (_input, bulk) => withBulk({ bytes: bulk?.length ?? 0 }, bulk?.toReversed() ?? new Uint8Array()),
  refuse({ how }) {
    if (how === 'coded') throw new CodedError('locked', 'ada holds it', { details: { by: 'ada' } });
    if (how === 'undetailed') throw new CodedError('locked', 'held', { details: { by: Symbol('x') } });
    throw new TypeError('a slip');
  },
  lie: () => ({ count: 'many' }) as never,
  wait: () => new Promise((resolve) => release.push(() => resolve('done'))),
  split: () => new WithParts(split.length, split),
};

let ends: [Channel, Channel];
let clock: FakeClock;
function conversation(options: { max_in_flight?: number } = {}) {
  ends = channelPair(silentLogger);
  clock = new FakeClock();
  release = [];
  const shared = { clock, logger: silentLogger };
  const caller = createPeer({
    ...shared,
    ...options,
    channel: ends[0],
    other: 'worker',
    serves: {},
    handlers: {},
    calls,
    emits: orders,
    hears: events,
  });
  const server = createPeer({
    ...shared,
    channel: ends[1],
    other: 'main',
    serves: calls,
    handlers,
    calls: {},
    emits: events,
    hears: orders,
    when_behind: 'keep_latest',
  });
  return { caller, server };
}
afterEach(() => ends[0].close());

describe('a typed call', () => {
  it('is parsed by the serving side and answered', async () => {
    const { caller } = conversation();
    await expect(caller.call('add', { a: 2 })).resolves.toBe(3);
    await expect(caller.call('add', { a: 2, b: 40 })).resolves.toBe(42);
  });

  it('carries bulk bytes both ways', async () => {
    const { caller } = conversation();
    const mine = new Uint8Array([1, 2, 3]);
    await expect(caller.exchange('reverse', {}, mine)).resolves.toEqual({
      value: { bytes: 3 },
      bulk: new Uint8Array([3, 2, 1]),
      parts: [],
    });
    expect(mine.byteLength).toBe(0);
    const part = new Uint8Array([9, 8, 7, 6]).subarray(1, 3);
    await expect(caller.exchange('reverse', {}, part)).resolves.toMatchObject({
      bulk: new Uint8Array([7, 8]),
    });
    expect([...part]).toEqual([8, 7]);
    await expect(caller.exchange('add', { a: 1 })).resolves.toEqual({ value: 2, bulk: null, parts: [] });
  });

  it('is answered with several parts of bytes, which the caller reads where they are', async () => {
    const { caller } = conversation();
    const memory = new SharedArrayBuffer(16, { maxByteLength: 32 });
    split = [new Uint8Array(memory, 8, 2), new Uint8Array(memory, 10, 0)];
    const { value, bulk, parts } = await caller.exchange('split', {});
    expect([value, bulk]).toEqual([2, null]);
    split[0]!.fill(7);
    expect(parts.map((part) => [...part])).toEqual([[7, 7], []]);
  });

  it('with a wrong input is refused as invalid_request, naming the field', async () => {
    const { caller } = conversation();
    await expect(caller.call('add', { a: 'two' as never })).rejects.toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: ['a'] }] },
    });
  });

  it('that fails transfers code, message and details; an error without a code is internal', async () => {
    const { caller } = conversation();
    const error = await caller.call('refuse', { how: 'coded' }).catch((reason) => reason);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'locked', message: 'ada holds it', details: { by: 'ada' } });
    await expect(caller.call('refuse', { how: 'slip' })).rejects.toMatchObject({
      code: 'internal',
      message: 'a slip',
    });
    await expect(caller.call('refuse', { how: 'undetailed' })).rejects.toMatchObject({
      code: 'locked',
      details: {},
    });
  });

  it('with an answer of a wrong shape is internal', async () => {
    const { caller } = conversation();
    await expect(caller.call('lie', {})).rejects.toMatchObject({ code: 'internal' });
  });

  it('fails at its timeout, ignores the late answer, and later calls succeed', async () => {
    const { caller } = conversation();
    const late = caller.call('wait', {});
    const later = caller.call('wait', {}, { deadline_ms: 2_000 });
    await vi.waitFor(() => expect(release).toHaveLength(2));
    clock.advance(499);
    clock.advance(1);
    await expect(late).rejects.toMatchObject({
      code: 'deadline_exceeded',
      details: { call: 'wait', deadline_ms: 500 },
    });
    for (const answer of release) answer();
    await expect(later).resolves.toBe('done');
    await expect(caller.call('add', { a: 1 })).resolves.toBe(2);
  });

  it('lets the work of a request go on to its end after a deadline, and tells of it once', async () => {
    const { caller } = conversation();
    const late: Error[] = [];
    const work = runToItsEnd(
      (error) => late.push(error),
      async () => `${await caller.call('wait', {})} and ${await caller.call('add', { a: 1 })}`,
    );
    await vi.waitFor(() => expect(release).toHaveLength(1));
    clock.advance(500);
    expect(late).toMatchObject([{ code: 'deadline_exceeded', details: { call: 'wait' } }]);
    release[0]!();
    expect(await work).toBe('done and 2');
    expect(caller.waiting()).toBe(0);
  });

  it('is refused with queue_full beyond the limit of pending calls, until one is answered', async () => {
    const { caller } = conversation({ max_in_flight: 2 });
    const waiting = [caller.call('wait', {}), caller.call('wait', {})];
    await expect(caller.call('add', { a: 1 })).rejects.toMatchObject({ code: 'queue_full' });
    await vi.waitFor(() => expect(release).toHaveLength(2));
    release[0]!();
    await expect(waiting[0]).resolves.toBe('done');
    await expect(caller.call('add', { a: 1 })).resolves.toBe(2);
    release[1]!();
    await waiting[1];
  });

  for (const closer of [0, 1] as const) {
    it(`of any kind fails at once when end ${closer} closes, and so does every later one`, async () => {
      const { caller } = conversation();
      const waiting = (Object.keys(calls) as (keyof typeof calls)[]).map((name) =>
        caller.call(name, { a: 1, how: 'slip' } as never),
      );
      ends[closer].close();
      for (const call of [...waiting, caller.call('add', { a: 1 })])
        await expect(call).rejects.toMatchObject({
          code: 'component_unavailable',
          message: expect.stringMatching(/worker component .* try again/),
        });
    });
  }
});

describe('an event', () => {
  it('reaches listeners, parsed, until they unsubscribe', async () => {
    const { caller, server } = conversation();
    const heard: string[] = [];
    const leave = caller.onEvent('moved', ({ to }) => heard.push(to));
    server.notify('moved', { to: 'a' });
    await vi.waitFor(() => expect(heard).toEqual(['a']));
    leave();
    server.notify('moved', { to: 'b' });
    await expect(caller.call('add', { a: 1 })).resolves.toBe(2);
    expect(heard).toEqual(['a']);
  });

  it('carries bulk bytes from either side, transferred when they fill their buffer', async () => {
    const { caller, server } = conversation();
    const heard: unknown[] = [];
    server.onEvent('frame', ({ nth }, bulk) => heard.push([nth, bulk]));
    caller.onEvent('moved', ({ to }, bulk) => heard.push([to, bulk]));
    const mine = new Uint8Array([1, 2, 3]);
    const part = new Uint8Array([9, 8, 7, 6]).subarray(1, 3);
    expect([caller.notify('frame', { nth: 1 }, mine), server.notify('moved', { to: 'a' }, part)]).toEqual([
      true,
      true,
    ]);
    expect([mine.byteLength, ...part]).toEqual([0, 8, 7]);
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(heard).toEqual([
      [1, new Uint8Array([1, 2, 3])],
      ['a', new Uint8Array([8, 7])],
    ]);
  });

  it('is refused without a transfer of its bytes while the other side is too far behind', async () => {
    const { caller, server } = conversation();
    const heard: number[] = [];
    server.onEvent('frame', ({ nth }) => heard.push(nth));
    let sent = 0;
    const bytes = () => new Uint8Array(3_200);
    while (caller.notify('frame', { nth: sent }, bytes())) sent += 1;
    const kept = bytes();
    expect(caller.notify('frame', { nth: -1 }, kept)).toBe(false);
    expect(kept.byteLength).toBe(3_200);
    expect(sent).toBe(256);
    await vi.waitFor(() => expect(heard).toHaveLength(sent));
    await vi.waitFor(() => expect(caller.notify('frame', { nth: sent }, kept)).toBe(true));
    await vi.waitFor(() => expect(heard).toEqual(Array.from({ length: sent + 1 }, (_, nth) => nth)));
  });

  it('is refused above the limit of bytes; one that exceeds every limit throws', async () => {
    const { caller } = conversation();
    const sizes = Array.from({ length: 5 }, () =>
      caller.notify('frame', { nth: 0 }, new Uint8Array(2 ** 20)),
    );
    expect(sizes).toEqual([true, true, true, true, false]);
    expect(() => caller.notify('frame', { nth: 0 }, new Uint8Array(2 ** 20 + 1))).toThrow(/at most 1048576/);
  });

  it('about the current state is queued until there is room, only the last one of each name', async () => {
    const { caller, server } = conversation();
    const heard: string[] = [];
    caller.onEvent('moved', ({ to }) => heard.push(to));
    for (let nth = 0; nth < 1_000; nth += 1)
      expect(server.notify('moved', { to: String(nth) }, new Uint8Array(1))).toBe(true);
    await vi.waitFor(() => expect(heard.at(-1)).toBe('999'));
    expect(heard).toHaveLength(257);
  });

  it('does not arrive after the answer to a later call, however far behind the other side is', async () => {
    const { caller, server } = conversation();
    const heard: string[] = [];
    caller.onEvent('moved', ({ to }) => heard.push(to));
    const answered = caller.call('wait', {});
    await vi.waitFor(() => expect(release).toHaveLength(1));
    for (let nth = 0; nth < 300; nth += 1) server.notify('moved', { to: String(nth) });
    release[0]!();
    await answered;
    expect(heard.at(-1)).toBe('299');
  });

  it('is not sent once the connection is closed', async () => {
    const { caller } = conversation();
    caller.close();
    expect(caller.notify('frame', { nth: 1 })).toBe(false);
  });

  it('of unknown name or wrong payload closes the channel', async () => {
    for (const [name, payload] of [
      ['vanished', {}],
      ['moved', { to: 7 }],
    ] as const) {
      const { caller, server } = conversation();
      server.notify(name as 'moved', payload as never);
      await vi.waitFor(() =>
        expect(caller.call('add', { a: 1 })).rejects.toMatchObject({ code: 'component_unavailable' }),
      );
    }
  });
});
