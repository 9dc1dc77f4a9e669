import { openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ReadStream } from 'node:tty';

/** A terminal that is read key by key. */
export type Terminal = {
  keys: Readable & { setRawMode(on: boolean): unknown };
  /** Writes to it, control sequences too. */
  write(text: string): void;
};

/** The terminal of this process, also where its standard input is a file; null where it has none. */
export function ownTerminal(): Terminal | null {
  try {
    return { keys: new ReadStream(openSync('/dev/tty', 'r')), write: (text) => process.stdout.write(text) };
  } catch {
    return null;
  }
}
