import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { LogDestination, type LogFile, MOST_WAITING_CHARS } from '../../src/base/log-destination.ts';
import { createLogger } from '../../src/base/logger.ts';

/** A descriptor that takes so many bytes at a time, and fails while it has a fault. */
class Descriptor implements LogFile {
  text = '';
  fault: string | null = null;
  writes = 0;
  most = Number.POSITIVE_INFINITY;
  #pending: (() => void)[] = [];

  writeSync(_fd: number, bytes: Uint8Array): number {
    this.writes += 1;
    if (this.fault !== null) throw systemError(this.fault);
    const taken = bytes.subarray(0, this.most);
    this.text += Buffer.from(taken).toString();
    return taken.length;
  }

  write(fd: number, bytes: Uint8Array, done: (error: Error | null, written: number) => void): void {
    this.#pending.push(() => {
      try {
        done(null, this.writeSync(fd, bytes));
      } catch (error) {
        done(error as Error, 0);
      }
    });
  }

  /** Ends the writes that are under way, and those that follow from them. */
  settle(): void {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) next();
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code, syscall: 'write' });
}

function arrange(sync: boolean) {
  const file = new Descriptor();
  const clock = new FakeClock();
  return { file, clock, to: new LogDestination({ sync, file, clock }) };
}

describe.each([true, false])('a log that is written with sync %s', (sync) => {
  it('has every line in order, whatever part of them is taken at a time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 7 }),
        (lines, most) => {
          const { file, to } = arrange(sync);
          // A character may be cut between two writes, so that only ASCII is compared as text here.
          const ascii = lines.map((line) => `${encodeURIComponent(line)}\n`);
          file.most = most;
          for (const line of ascii) to.write(line);
          file.settle();
          expect(file.text).toBe(ascii.join(''));
        },
      ),
    );
  });

  it.each(['ENOSPC', 'EDQUOT', 'EIO', 'EAGAIN'])(
    'keeps its lines over %s, and tries again each second',
    (fault) => {
      const { file, clock, to } = arrange(sync);
      file.fault = fault;
      for (const line of ['one\n', 'two\n', 'three\n']) to.write(line);
      file.settle();
      const { writes } = file;
      to.write('four\n');
      file.settle();
      expect(file.writes).toBe(writes);
      clock.advance(1_000);
      file.settle();
      expect([file.text, file.writes > writes]).toEqual(['', true]);
      file.fault = null;
      clock.advance(1_000);
      file.settle();
      expect(file.text).toBe('one\ntwo\nthree\nfour\n');
    },
  );

  it('drops lines that are too many to keep, and says how many once it can be written', () => {
    const { file, clock, to } = arrange(sync);
    const logger = createLogger({ component: 'main', level: 'info', destination: to });
    file.fault = 'ENOSPC';
    const line = 'x'.repeat(1_000);
    for (let count = 0; count < (3 * MOST_WAITING_CHARS) / 1_000; count += 1) logger.info(line);
    file.fault = null;
    file.settle();
    clock.advance(1_000);
    file.settle();
    const lines = file.text
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    const last = lines.at(-1);
    expect(last).toMatchObject({ level: 40, component: 'main', lines: expect.any(Number) });
    expect(lines.length - 1 + last.lines).toBe(Math.ceil((3 * MOST_WAITING_CHARS) / 1_000));
    expect(file.text.length).toBeLessThan(2.2 * MOST_WAITING_CHARS);
  });

  it('is dropped once nobody reads it', () => {
    const { file, clock, to } = arrange(sync);
    file.fault = 'EPIPE';
    to.write('one\n');
    file.settle();
    file.fault = null;
    to.write('two\n');
    clock.advance(5_000);
    file.settle();
    expect(file.text).toBe('');
  });

  it('is written as far as that goes when its thread ends, without waiting for a full disk', () => {
    const { file, to } = arrange(sync);
    file.fault = 'ENOSPC';
    to.write('one\n');
    file.settle();
    to.flushSync();
    expect(file.text).toBe('');
    file.fault = null;
    to.flushSync();
    expect(file.text).toBe('one\n');
  });
});
