import { describe, expect, it } from 'vitest';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { RemoteCopy } from '../../src/fleet/remote-copy.ts';
import { toldCopies } from '../../src/fleet/told-copies.ts';
import { nextCopy } from '../../src/routes/copy-blocks.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const rows = Array.from({ length: 50 }, (_, at) => toldRow(`r${String(at).padStart(2, '0')}`));

describe('the copies that are told to a reader', () => {
  it('[RPL-2] have the very bytes of the feeds, of which one that changed tells only blocks that changed', () => {
    const [b, c] = ['host-b', 'host-c'].map(
      (host, at) => new RemoteCopy(readFeedAnswer(toldWhole(host, 't-1', rows)), at + 1),
    ) as [RemoteCopy, RemoteCopy];
    const tell = (had: number | null) =>
      toldCopies(
        [
          ...[b, c].map((copy, at) => ({
            ...{ name: `host-${at}`, ...ORIGIN },
            copy: { ...copy.blocks(), last_change: copy.last_change },
          })),
          { name: 'host-d', ...ORIGIN, copy: null },
        ],
        had,
      );
    const taker = (bytes: Uint8Array) => {
      let at = 0;
      return (length: number) => {
        at += length;
        return bytes.subarray(at - length, at);
      };
    };
    const first = tell(null);
    const take = taker(first.bytes);
    const had = first.reads.map(({ copy }) => nextCopy(undefined, copy, take));
    expect(had.map((one) => one && Buffer.from(one.pieces.joined()).toString())).toEqual([
      b.whole().toString(),
      c.whole().toString(),
      undefined,
    ]);
    b.apply(
      readFeedAnswer(toldDelta('host-b', 't-2', [toldRow('r07', { name: 'Nöw' })], ['/s/.fibers/r30.md'])),
      3,
    );
    const later = tell(2);
    expect(later.reads.map(({ copy }) => (typeof copy === 'string' ? copy : typeof copy))).toEqual([
      'object',
      'same',
      'object',
    ]);
    expect(later.bytes.length).toBeLessThan(first.bytes.length / 4);
    const takeLater = taker(later.bytes);
    const now = later.reads.map(({ copy }, at) => nextCopy(had[at], copy, takeLater));
    expect(Buffer.from(now[0]!.pieces.joined()).toString()).toBe(b.whole().toString());
    expect(now[1]).toBe(had[1]);
  });
});
