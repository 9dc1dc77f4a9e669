import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { RemoteFeeds } from '../../src/routes/remote-feeds.ts';
import { createInProcessCallers } from './in-process-callers.ts';

describe('the copies of other hosts on the main thread', () => {
  it('[RPL-2] are kept for a minute after somebody wanted all of them, and then asked for anew', async () => {
    const { fleet } = createInProcessCallers();
    const clock = new FakeClock();
    const feeds = new RemoteFeeds(fleet, { host: 'host-a', clock });
    fleet.publish({ 'host-b': 'http://b' });
    const origin = { name: 'host-b', state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
    let tag = 'n-1';
    fleet.answers.feed_blocks = ({ had }: { had: string }) => ({
      value: {
        tag,
        reads: [{ ...origin, copy: { head: '{"fibers":[', ids: [1], lengths: [had === '' ? 3 : 0] } }],
      },
      bulk: Buffer.from(had === '' ? ',{}' : ''),
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
});
