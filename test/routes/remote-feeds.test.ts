import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { changeUnread, lend } from '../../src/base/lent-bytes.ts';
import { Pieces } from '../../src/http/pieces.ts';
import { RemoteFeeds } from '../../src/routes/remote-feeds.ts';
import type { RemotePart } from '../../src/routes/remote-parts.ts';
import { lentRows } from '../kit/lent-rows.ts';
import { createInProcessCallers } from './in-process-callers.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const AROUND = ['{"fibers":[', ']}'];
const textOf = (part: RemotePart | undefined) => Buffer.from((part!.read as Pieces).joined()).toString();
const nextTurn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function feedsOf(...hosts: string[]) {
  const { fleet } = createInProcessCallers();
  const clock = new FakeClock();
  const feeds = new RemoteFeeds(fleet, { host: 'host-a', clock });
  fleet.publish(Object.fromEntries(hosts.map((name) => [name, `http://${name}`])));
  return { fleet, clock, feeds };
}

describe('the copies of other hosts on the main thread', () => {
  it('[RPL-2] are built upon for a minute after somebody wanted all of them, and then asked for whole', async () => {
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

  it('are given back in the next turn, but for what is still being sent', async () => {
    const { fleet, feeds } = feedsOf('host-b', 'host-c');
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
    const lent = () => rows.map(({ buffer }) => !changeUnread(buffer, () => undefined));
    expect(lent()).toEqual([true, true]);
    const body = new Pieces([new Uint8Array(1), ...reads[0]!.all], [reads[0]!]);
    const end = body.use();
    await nextTurn();
    // Others that read meanwhile end nothing of that.
    for (let nth = 0; nth < 3; nth += 1) await feeds.read('');
    await nextTurn();
    expect(lent()).toEqual([true, false]);
    end();
    end();
    expect(lent()).toEqual([false, false]);
  });

  it('are held again without a question, unless one has changed since they were given back', async () => {
    const { fleet, feeds } = feedsOf('host-b', 'host-c');
    const rows = ['{"v":1}', '{"v":2}'].map(lentRows);
    const told = (parts: typeof rows) => ({
      value: {
        tag: 'n-1',
        reads: ['host-b', 'host-c'].map((name) => ({ name, ...ORIGIN, copy: 'told', around: AROUND })),
      },
      ...{ bulk: null, parts },
    });
    fleet.answers.feed_copies = () => told(rows);
    fleet.notify('n-1');
    const first = await feeds.read('');
    await nextTurn();
    expect(await feeds.read('')).toBe(first);
    expect(fleet.asked).toHaveLength(1);
    await nextTurn();
    expect(changeUnread(rows[1]!.buffer, () => undefined)).toBe(true);
    fleet.answers.feed_copies = () => told(['{"v":1}', '{"v":3}'].map(lentRows));
    const reads = await Promise.all([feeds.read(''), feeds.read('')]);
    expect(reads.map(({ parts }) => textOf(parts[1]))).toEqual([
      '{"fibers":[{"v":3}]}',
      '{"fibers":[{"v":3}]}',
    ]);
    expect(fleet.asked).toHaveLength(2);
    // Those of before that could be held are free again.
    await nextTurn();
    expect(changeUnread(rows[0]!.buffer, () => undefined)).toBe(true);
  });

  it('are those of before where the fleet says that they are the same, which it has lent again', async () => {
    const { fleet, feeds } = feedsOf('host-b');
    const rows = lentRows('{"v":1}');
    const answer = (tag: string, copy: 'told' | 'same') => {
      fleet.answers.feed_copies = () => ({
        value: {
          tag,
          reads: [{ name: 'host-b', ...ORIGIN, copy, ...(copy === 'told' && { around: AROUND }) }],
        },
        ...{ bulk: null, parts: copy === 'told' ? [rows] : [] },
      });
      fleet.notify(tag);
      return feeds.read('');
    };
    await answer('n-1', 'told');
    await nextTurn();
    lend(rows);
    expect(textOf((await answer('n-2', 'same')).parts[0])).toBe('{"fibers":[{"v":1}]}');
    expect(changeUnread(rows.buffer, () => undefined)).toBe(false);
    await nextTurn();
    expect(changeUnread(rows.buffer, () => undefined)).toBe(true);
  });
});
