import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { changeUnread, LENT_HEAD_BYTES, Loan, lend } from '../../src/base/lent-bytes.ts';

const ROUNDS = 100;
const memory = () => new SharedArrayBuffer(LENT_HEAD_BYTES + 64);
const bytesOf = (buffer: SharedArrayBuffer) => new Uint8Array(buffer, LENT_HEAD_BYTES);
/** Whether its owner could change it now; an attempt of its own. */
const isFree = (buffer: SharedArrayBuffer) => changeUnread(buffer, () => undefined);

describe('bytes that are lent to another thread', () => {
  it('do not change until they are given back by each who was lent them', () => {
    const buffer = memory();
    const loans = [new Loan(lend(bytesOf(buffer))), new Loan(lend(bytesOf(buffer)))];
    expect([isFree(buffer), loans[0]!.hold()]).toEqual([false, true]);
    for (const loan of [loans[0], loans[0]]) loan!.giveBack();
    expect(isFree(buffer)).toBe(false);
    loans[1]!.giveBack();
    expect(isFree(buffer)).toBe(true);
  });

  it('are held again as long as their owner has not changed them', () => {
    const buffer = memory();
    const loan = new Loan(lend(bytesOf(buffer)));
    loan.giveBack();
    expect(loan.hold()).toBe(true);
    loan.giveBack();
    changeUnread(buffer, () => bytesOf(buffer).fill(1));
    expect(loan.hold()).toBe(false);
    expect(isFree(buffer)).toBe(true);
  });

  it('cannot be held while they change, nor after a change that failed', () => {
    const buffer = memory();
    const loan = new Loan(lend(bytesOf(buffer)));
    loan.giveBack();
    const change = () => {
      expect(loan.hold()).toBe(false);
      throw new Error('it failed');
    };
    expect(() => changeUnread(buffer, change)).toThrow('it failed');
    expect([loan.hold(), isFree(buffer)]).toEqual([false, true]);
  });

  it.each([true, false])(
    'are counted once for a reader that is lent them again (held before: %s)',
    (held) => {
      const buffer = memory();
      const loan = new Loan(lend(bytesOf(buffer)));
      if (!held) loan.giveBack();
      lend(loan.bytes);
      loan.again();
      expect(isFree(buffer)).toBe(false);
      loan.giveBack();
      expect(isFree(buffer)).toBe(true);
    },
  );

  it('are never read half changed by a thread that holds them', async () => {
    const buffer = new SharedArrayBuffer(LENT_HEAD_BYTES + 20_000);
    const stop = new SharedArrayBuffer(4);
    const bytes = bytesOf(buffer);
    const reader = new Worker(new URL('lent-reader.ts', import.meta.url), { workerData: { stop } });
    let changes = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const read = once(reader, 'message');
      reader.postMessage(lend(bytes));
      // The reader tries to hold them meanwhile.
      while (changes < 20 * round) if (changeUnread(buffer, () => bytes.fill(changes % 251))) changes += 1;
      await read;
    }
    const told = once(reader, 'message');
    // Its last message may arrive with its end.
    const exited = once(reader, 'exit');
    Atomics.store(new Int32Array(stop), 0, 1);
    const [{ held, refused, mixed }] = await told;
    expect(mixed).toBe(0);
    expect(held).toBeGreaterThanOrEqual(ROUNDS);
    expect(refused).toBeGreaterThan(0);
    await exited;
  });
});
