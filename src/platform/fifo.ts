import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { CodedError } from '../base/errors.ts';
import { failureWords } from './failure-words.ts';
import type { ProcessRunner } from './process.ts';

/** A pipe to a program that opens its input by a path, which Node’s own pipes cannot be. */
export type Fifo = {
  /** For the stdin of the program; `closeReader` once it has been started. */
  readonly reader: number;
  closeReader(): void;
  /** Never blocks; resolves when the pipe has taken all of it, and never if nobody reads it. */
  write(bytes: Uint8Array): Promise<void>;
  /** Bytes that the pipe has not taken yet. */
  readonly waiting: number;
  /** The program reads what waits, and then the end. */
  end(): void;
  /** The same without what waits. */
  destroy(): void;
};

const MKFIFO_MS = 10_000;

/**
 * Makes a pipe by way of this path, where it is gone again once both ends are open. Throws `invalid_config` without
 * `mkfifo`, and the system error.
 */
export async function openFifo(path: string, runner: Pick<ProcessRunner, 'run'>): Promise<Fifo> {
  rmSync(path, { force: true });
  const made = await runner.run({
    file: 'mkfifo',
    args: ['-m', '600', '--', path],
    timeout_ms: MKFIFO_MS,
    max_output_bytes: 4_096,
  });
  if (made.kind === 'not_started')
    throw new CodedError('invalid_config', 'mkfifo is not installed; install coreutils');
  if (made.kind !== 'exited' || made.code !== 0)
    throw new CodedError(
      'storage_unavailable',
      `mkfifo could not make ${path}: ${failureWords(made)}; see that its folder can be written to`,
    );
  // A reader and a writer at once: neither end waits for the other one to be opened.
  const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const reader = openSync(path, constants.O_RDONLY);
  rmSync(path, { force: true });
  const socket = new Socket({ fd: writer, readable: false, writable: true });
  socket.on('error', () => undefined);
  let reader_open = true;
  const closeReader = () => {
    if (reader_open) closeSync(reader);
    reader_open = false;
  };
  return {
    reader,
    closeReader,
    write: (bytes) =>
      new Promise((resolve) => {
        if (socket.writable)
          socket.write(bytes, (error) => (error === null || error === undefined ? resolve() : undefined));
      }),
    get waiting() {
      return socket.writableLength;
    },
    end() {
      closeReader();
      socket.end();
    },
    destroy() {
      closeReader();
      socket.destroy();
    },
  };
}
