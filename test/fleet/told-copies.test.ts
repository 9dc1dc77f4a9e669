import { describe, expect, it } from 'vitest';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { RemoteCopy } from '../../src/fleet/remote-copy.ts';
import { toldCopies } from '../../src/fleet/told-copies.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const noTurn = () => Promise.reject(new Error('this is too little for a turn'));
const copyOf = (host: string, change: number, rows: object[]) =>
  new RemoteCopy(readFeedAnswer(toldWhole(host, 't-1', rows)), change);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('the copies that a reader gets', () => {
  it('[RPL-2] are those that it lacks, in the very bytes of the feeds', async () => {
    const rows = Array.from({ length: 50 }, (_, at) => toldRow(`r${String(at).padStart(2, '0')}`));
    const [b, c] = [copyOf('host-b', 1, rows), copyOf('host-c', 2, rows)];
    const copies = [b, c, null].map((copy, at) => ({ name: `host-${at}`, ...ORIGIN, copy }));
    const tell = (had: number | null) => toldCopies(copies, had, noTurn);
    const first = await tell(null);
    expect(first.reads.map(({ name, copy }) => [name, copy])).toEqual([
      ['host-0', 'told'],
      ['host-1', 'told'],
      ['host-2', 'none'],
    ]);
    expect(first.parts.map(textOf)).toEqual([b, c].map((copy) => textOf(copy.whole())));
    const changed = toldDelta('host-b', 't-2', [toldRow('r07', { name: 'Nöw' })], ['/s/.fibers/r30.md']);
    b.apply(readFeedAnswer(changed), 3);
    const later = await tell(2);
    expect(later.reads.map(({ copy }) => copy)).toEqual(['told', 'same', 'none']);
    expect(later.parts.map(textOf)).toEqual([textOf(b.whole())]);
    expect(textOf(first.parts[0]!)).not.toBe(textOf(b.whole()));
  });

  it('are sent in parts of about a MiB, each with its state at that time', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => toldRow(`r${at}`, { name: 'x'.repeat(10_000) }));
    const copies = Array.from({ length: 8 }, (_, at) => ({
      ...{ name: `host-${at}`, ...ORIGIN },
      copy: copyOf(`host-${at}`, at, rows),
    }));
    let turns = 0;
    const last = copies.at(-1)!.copy;
    const { parts } = await toldCopies(copies, null, async () => {
      turns += 1;
      last.apply(readFeedAnswer(toldDelta('host-7', `t-${turns}`, [])), 100 + turns);
    });
    expect(turns).toBe(2);
    expect(JSON.parse(textOf(parts[7]!)).tag).toBe('t-2');
  });
});
