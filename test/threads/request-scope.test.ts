import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { requestScope, runAtOnceForRequest } from '../../src/base/request-scope.ts';
import type { CallTable } from '../../src/contract/threads/call-table.ts';
import { channelPair } from '../../src/threads/channel.ts';
import { createPeer } from '../../src/threads/peer.ts';

const calls = {
  work: { input: z.object({ ms: z.number() }), output: z.string().nullable(), deadline_ms: 5_000 },
  pass_on: { input: z.object({}), output: z.string().nullable(), deadline_ms: 5_000 },
} satisfies CallTable;

/** A main thread, a component that logs, and a further one that the component asks. */
function threads() {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = createLogger({ component: 'poller', level: 'info', destination });
  const work = async ({ ms }: { ms: number }) => {
    await wait(ms);
    logger.info({ fiber: 'a' }, 'worked');
    return requestScope() ?? null;
  };
  const shared = { clock: systemClock, logger: silentLogger, emits: {}, hears: {} };
  const [main, component] = channelPair(silentLogger);
  const [asks, serves] = channelPair(silentLogger);
  const further = createPeer({ ...shared, channel: asks, other: 'further', serves: {}, handlers: {}, calls });
  const handlers = { work, pass_on: () => further.call('work', { ms: 1 }) };
  const inner = { work: async () => requestScope() ?? null, pass_on: async () => null };
  createPeer({
    ...shared,
    channel: serves,
    other: 'x',
    serves: calls,
    handlers: inner,
    calls: {},
    follows_requests: true,
  });
  createPeer({
    ...shared,
    channel: component,
    other: 'main',
    serves: calls,
    handlers,
    calls: {},
    follows_requests: true,
  });
  const caller = createPeer({ ...shared, channel: main, other: 'poller', serves: {}, handlers: {}, calls });
  return {
    lines,
    caller,
    end() {
      main.close();
      asks.close();
    },
  };
}

describe('the id of a request', () => {
  it('goes with each call to other threads and stands on every line that is logged for it', async () => {
    const { lines, caller, end } = threads();
    const both = [
      runAtOnceForRequest('r-1', () => caller.call('work', { ms: 30 })),
      runAtOnceForRequest('r-2', () => caller.call('work', { ms: 5 })),
      caller.call('work', { ms: 15 }),
    ];
    expect(await Promise.all(both)).toEqual(['r-1', 'r-2', null]);
    expect(lines.map((line) => [line.request_id, line.component, line.fiber])).toEqual([
      ['r-2', 'poller', 'a'],
      [undefined, 'poller', 'a'],
      ['r-1', 'poller', 'a'],
    ]);
    end();
  });

  it('is carried on by a component that asks a further one', async () => {
    const { caller, end } = threads();
    expect(await runAtOnceForRequest('r-3', () => caller.call('pass_on', {}))).toBe('r-3');
    expect(requestScope()).toBeUndefined();
    end();
  });
});
