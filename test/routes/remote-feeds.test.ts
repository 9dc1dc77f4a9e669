import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { isLent } from '../../src/base/lent-bytes.ts';
import { Pieces } from '../../src/http/pieces.ts';
import { RemoteFeeds } from '../../src/routes/remote-feeds.ts';
import { lentRows } from '../kit/lent-rows.ts';
import { createInProcessCallers } from './in-process-callers.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const AROUND = ['{"fibers":[', ']}'];
const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function feedsOf(...hosts: string[]) {
  const { fleet } = createInProcessCallers();
  const clock = new FakeClock();
  const feeds = new RemoteFeeds(fleet, { host: 'host-a', clock });
  fleet.publish(Object.fromEntries(hosts.map((name) => [name, `http://${name}`])));
  return { fleet, clock, feeds };
}

describe('the copies of other hosts on the main thread', () => {
  it('[RPL-2] are kept for a minute after somebody wanted all of them, and then asked for again', async () => {
    const { fleet, clock, feeds } = feedsOf('host-b');
    let tag = 'n-1';
    fleet.answers.feed_copies = ({ had }: { had: string }) => ({
      value: {
        tag,
        reads: [
          {
            name: 'host-b',
            ...ORIGIN,
            ...(had === '' ? { copy: 'told', around: AROUND } : { copy: 'same' }),
          },
        ],
      },
      bulk: null,
      parts: had === '' ? [lentRows('{}')] : [],
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

  it('are given back after that minute, but for what is still being sent', async () => {
    const { fleet, clock, feeds } = feedsOf('host-b', 'host-c');
    const rows = ['{"b":1}', '{"c":1}'].map(lentRows);
    fleet.answers.feed_copies = () => ({
      value: {
        tag: 'n-1',
        reads: ['host-b', 'host-c'].map((name) => ({ name, ...ORIGIN, copy: 'told', around: AROUND })),
      },
      ...{ bulk: null, parts: rows },
    });
    fleet.notify('n-1');
    const reads = (await feeds.read('')).parts.map(({ read }) => read as Pieces);
    const body = new Pieces([new Uint8Array(1), ...reads[0]!.all], [reads[0]!]);
    const end = body.use();
    const lent = () => rows.map(({ buffer }) => isLent(buffer));
    clock.advance(59_000);
    await nextTurn();
    expect(lent()).toEqual([true, true]);
    clock.advance(1_000);
    await nextTurn();
    expect(lent()).toEqual([true, false]);
    end();
    end();
    expect(lent()).toEqual([false, false]);
  });

  it('are given back once a newer one has come, in the turn after', async () => {
    const { fleet, feeds } = feedsOf('host-b');
    const [first, second] = ['{"v":1}', '{"v":2}'].map(lentRows);
    const answer = (tag: string, rows: typeof first) => {
      fleet.answers.feed_copies = () => ({
        value: { tag, reads: [{ name: 'host-b', ...ORIGIN, copy: 'told', around: AROUND }] },
        ...{ bulk: null, parts: [rows] },
      });
      fleet.notify(tag);
      return feeds.read('');
    };
    await answer('n-1', first);
    await answer('n-2', second);
    expect(isLent(first!.buffer)).toBe(true);
    await nextTurn();
    expect([first, second].map((rows) => isLent(rows!.buffer))).toEqual([false, true]);
  });

  it('are asked for again where those that the fleet builds on are given back meanwhile', async () => {
    const { fleet, clock, feeds } = feedsOf('host-b');
    const told = (tag: string) => ({
      value: { tag, reads: [{ name: 'host-b', ...ORIGIN, copy: 'told', around: AROUND }] },
      ...{ bulk: null, parts: [lentRows(`{"tag":"${tag}"}`)] },
    });
    fleet.answers.feed_copies = () => told('n-1');
    fleet.notify('n-1');
    await feeds.read('');
    fleet.answers.feed_copies = async ({ had }: { had: string }) => {
      if (had === '') return told('n-3');
      clock.advance(60_000);
      return { value: { tag: 'n-2', reads: [{ name: 'host-b', ...ORIGIN, copy: 'same' }] }, bulk: null };
    };
    fleet.notify('n-2');
    const [part] = (await feeds.read('')).parts;
    expect(Buffer.from((part!.read as Pieces).joined()).toString()).toBe('{"fibers":[{"tag":"n-3"}]}');
  });
});
