import { setImmediate } from 'node:timers/promises';
import { AppendOnlyFile, type LineSink, type ReadPosition } from '../platform/append-only-file.ts';

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Receives the entries of a ledger, in file order. */
export type LedgerSink<T> = {
  /** The files were replaced: discard everything; all lines follow again. */
  reset(): void;
  /** `at`: the byte of the file at which its line begins. */
  line(entry: T, at: number): void;
};

/** What was read of a ledger; `malformed` and `bytes` as `Tailer` counts them. */
export type LedgerCounts = { entries: number; malformed: number; bytes: number };

export type TailerOptions<T> = {
  path: string;
  /** Parses the entry in one JSON value; null if it is not an entry. */
  parse(value: unknown): T | null;
  max_line_bytes?: number;
};

/**
 * Follows a ledger with one JSON object per line. Each `read` takes only appended lines; a torn last line waits until
 * it is complete; a line that is not an entry is counted and skipped. A replacement or truncation resets the sink, so
 * that after every `read` the sink holds what a full read would give. Other work of the thread runs between two slices of
 * a long file; the caller begins no second read meanwhile, and asks the sink nothing.
 */
export class Tailer<T> {
  readonly #options: TailerOptions<T>;
  /** Null: everything is to be read from the start. */
  #position: ReadPosition | null = null;
  #malformed = 0;

  constructor(options: TailerOptions<T>) {
    this.#options = options;
  }

  /** Complete lines that are not entries; blank lines are not counted. */
  get malformed(): number {
    return this.#malformed;
  }

  /** Bytes of complete lines. */
  get bytes(): number {
    return this.#position?.offset ?? 0;
  }

  /** Updates the sink; throws the system error of an unreadable file. */
  async read(sink: LedgerSink<T>): Promise<void> {
    const file = AppendOnlyFile.openIfThere(this.#options.path);
    try {
      const known = this.#position;
      // So that everything is read again after a failed read.
      this.#position = null;
      const goesOn = known !== null && file?.knows(known) === true;
      if (!goesOn) {
        sink.reset();
        this.#malformed = 0;
      }
      this.#position = file === null ? null : await this.#readOn(file, goesOn ? known : file.at(), sink);
    } finally {
      file?.close();
    }
  }

  async #readOn(file: AppendOnlyFile, position: ReadPosition, sink: LedgerSink<T>): Promise<ReadPosition> {
    const lines: LineSink = {
      take: (bytes, start, at) => {
        const end = bytes.indexOf(NEWLINE, start);
        this.#take(bytes.toString('utf8', start, end), at, sink);
        return end;
      },
      skip: () => {
        this.#malformed += 1;
      },
    };
    const longest = this.#options.max_line_bytes ?? MAX_LINE_BYTES;
    for (const _ of file.readLines(position, { longest }, lines)) await setImmediate();
    return position;
  }

  #take(line: string, at: number, sink: LedgerSink<T>): void {
    if (line.trim() === '') return;
    const entry = this.#parse(line);
    if (entry === null) this.#malformed += 1;
    else sink.line(entry, at);
  }

  #parse(line: string): T | null {
    try {
      return this.#options.parse(JSON.parse(line));
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }
}
