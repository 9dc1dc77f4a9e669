import { FileCursor } from './file-cursor.ts';

const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Receives the entries of a ledger, in file order. */
export type LedgerSink<T> = {
  /** The files were replaced: discard everything; all lines follow again. */
  reset(): void;
  line(entry: T): void;
};

export type TailerOptions<T> = {
  path: string;
  /** Path of the rotated file; its lines come first. */
  rotated_path?: string;
  /** Parses the entry in one JSON value; null if it is not an entry. */
  parse(value: unknown): T | null;
  max_line_bytes?: number;
};

type Source = { path: string; cursor: FileCursor; present: boolean };

/**
 * Follows a ledger with one JSON object per line. Each `read` takes only appended lines; a torn last line waits until
 * it is complete; a line that is not an entry is counted and skipped. A rotation, replacement or truncation resets the
 * sink, so that after every `read` the sink holds what a full read would give.
 */
export class Tailer<T> {
  readonly #options: TailerOptions<T>;
  #sources: Source[] | null = null;
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
    return (this.#sources ?? []).reduce((sum, source) => sum + source.cursor.offset, 0);
  }

  /** Updates the sink; throws the system error of an unreadable file. */
  read(sink: LedgerSink<T>): void {
    if (this.#sources === null || !this.#readOn(this.#sources, sink)) this.#readAll(sink);
  }

  #readOn(sources: readonly Source[], sink: LedgerSink<T>): boolean {
    return sources.every((source) => {
      const outcome = source.cursor.read(source.path, (line) => this.#take(line, sink));
      return source.present ? outcome === 'read' : outcome === 'absent';
    });
  }

  #readAll(sink: LedgerSink<T>): void {
    const { path, rotated_path, max_line_bytes = MAX_LINE_BYTES } = this.#options;
    sink.reset();
    this.#malformed = 0;
    this.#sources = null;
    this.#sources = (rotated_path === undefined ? [path] : [rotated_path, path]).map((file) => {
      const cursor = new FileCursor({ max_line_bytes });
      const outcome = cursor.read(file, (line) => this.#take(line, sink));
      return { path: file, cursor, present: outcome === 'read' };
    });
  }

  #take(line: string | null, sink: LedgerSink<T>): void {
    if (line?.trim() === '') return;
    const entry = line === null ? null : this.#parse(line);
    if (entry === null) this.#malformed += 1;
    else sink.line(entry);
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
