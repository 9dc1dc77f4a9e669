import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { Pieces } from '../../src/http/pieces.ts';
import { RemoteFeeds } from '../../src/routes/remote-feeds.ts';
import { createInProcessCallers } from './in-process-callers.ts';

describe('the copies of other hosts on the main thread', () => {
  it('[RPL-2] are kept for a minute after somebody wanted all of them, and then asked for again', async () => {
    const { fleet } = createInProcessCallers();
    const clock = new FakeClock();
    const feeds = new RemoteFeeds(fleet, { host: 'host-a', clock });
    fleet.publish({ 'host-b': 'http://b' });
    const origin = { name: 'host-b', state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
    let tag = 'n-1';
    fleet.answers.feed_copies = ({ had }: { had: string }) => ({
      value: { tag, reads: [{ ...origin, copy: had === '' ? 'told' : 'same' }] },
      bulk: null,
      parts: had === '' ? [new Uint8Array(Buffer.from('{"fibers":[{}]}'))] : [],
    });
    const read = async (now: string) => {
      tag = now;
      fleet.notify(tag);
      const { parts } = await feeds.read('');
      const bytes = parts[0]?.read;
      return bytes && 'joined' in bytes ? Buffer.from(bytes.joined()).toString() : null;
    };
    for (const now of ['n-1', 'n-1', 'n-2']) expect(await read(now)).toBe('{"fibers":[{}]}');
    clock.advance(59_000);
    await read('n-3');
    clock.advance(59_000);
    await read('n-4');
    clock.advance(60_000);
    await read('n-4');
    expect(fleet.asked.map(({ input }) => input)).toEqual(
      ['', 'n-1', 'n-2', 'n-3', ''].map((had) => ({ had })),
    );
  });

  it('give their memory back after that minute, but not what is still being sent', async () => {
    const { fleet } = createInProcessCallers();
    const clock = new FakeClock();
    const feeds = new RemoteFeeds(fleet, { host: 'host-a', clock });
    fleet.publish({ 'host-b': 'http://b', 'host-c': 'http://c' });
    const origin = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1', copy: 'told' } as const;
    fleet.answers.feed_copies = () => ({
      value: { tag: 'n-1', reads: ['host-b', 'host-c'].map((name) => ({ name, ...origin })) },
      ...{ bulk: null, parts: ['b', 'c'].map((text) => new TextEncoder().encode(text)) },
    });
    fleet.notify('n-1');
    const reads = (await feeds.read('')).parts.map(({ read }) => read as Pieces);
    const body = new Pieces([new Uint8Array(1), ...reads[0]!.all], [reads[0]!]);
    const end = body.use();
    clock.advance(60_000);
    expect(reads.map(({ all }) => all[0]?.length)).toEqual([1, 0]);
    expect(reads.map(({ used }) => used)).toEqual([true, false]);
    end();
    end();
    expect([body, reads[0]!].map(({ used }) => used)).toEqual([false, false]);
  });
});
