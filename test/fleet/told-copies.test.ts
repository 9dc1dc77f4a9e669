import { describe, expect, it } from 'vitest';
import { changeUnread, Loan } from '../../src/base/lent-bytes.ts';
import type { FeedCopy } from '../../src/contract/threads/fleet.ts';
import { readFeedAnswer } from '../../src/fleet/feed-answer.ts';
import { RemoteCopy } from '../../src/fleet/remote-copy.ts';
import { toldCopies } from '../../src/fleet/told-copies.ts';
import { toldDelta, toldRow, toldWhole } from './told-feeds.ts';

const ORIGIN = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' } as const;
const copyOf = (host: string, change: number, rows: object[]) =>
  new RemoteCopy(readFeedAnswer(toldWhole(host, 't-1', rows)), change);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
/** The answers of the hosts whose copies are told. */
function answersOf({ reads, parts }: { reads: FeedCopy[]; parts: Uint8Array[] }): string[] {
  const around = reads.flatMap((read) => (read.copy === 'told' ? [read.around] : []));
  return around.map(([begin, end], at) => `${begin}${textOf(parts[at]!).slice(1)}${end}`);
}

describe('the copies that are told to a reader', () => {
  it('[RPL-2] are those that it lacks, in the very bytes of the feeds', () => {
    const rows = Array.from({ length: 50 }, (_, at) => toldRow(`r${String(at).padStart(2, '0')}`));
    const [b, c] = [copyOf('host-b', 1, rows), copyOf('host-c', 2, [])];
    const copies = [b, c, null].map((copy, at) => ({ name: `host-${at}`, ...ORIGIN, copy }));
    const first = toldCopies(copies, null);
    expect(first.reads.map(({ name, copy }) => [name, copy])).toEqual([
      ['host-0', 'told'],
      ['host-1', 'told'],
      ['host-2', 'none'],
    ]);
    const before = [b, c].map((copy) => textOf(copy.whole()));
    expect(answersOf(first)).toEqual(before);
    const changed = toldDelta('host-b', 't-2', [toldRow('r07', { name: 'Nöw' })], ['/s/.fibers/r30.md']);
    b.apply(readFeedAnswer(changed), 3);
    const later = toldCopies(copies, 2);
    expect(later.reads.map(({ copy }) => copy)).toEqual(['told', 'same', 'none']);
    expect(answersOf(later)).toEqual([textOf(b.whole())]);
    expect(JSON.parse(answersOf(later)[0]!).fibers).toHaveLength(49);
    // The reader still has the first ones as they were.
    expect(answersOf(first)).toEqual(before);
    // The copy of the other host, which the reader has, is lent to it once more.
    const [b_first, c_first] = first.parts.map((rows) => new Loan(rows));
    const free = () => changeUnread(c_first!.bytes.buffer, () => undefined);
    b_first!.giveBack();
    c_first!.giveBack();
    expect(free()).toBe(false);
    new Loan(c_first!.bytes).giveBack();
    expect(free()).toBe(true);
  });
});
