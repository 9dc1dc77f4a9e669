import { statSync } from 'node:fs';
import { messageOf, systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type MessageLine, parseMessageLine } from '../contract/ledger.ts';
import { parseAddress } from '../contract/session-address.ts';
import { appendLineSync, ROTATE_BYTES } from '../ledgers/append-line.ts';
import { AppendOnlyFile } from '../platform/append-only-file.ts';
import type { MessageRecord } from './message-record.ts';

/** How much is read back from the end of the ledger. */
const MOST_READ_BACK_BYTES = 2 * 1024 * 1024;
const MOST_LINE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** The line of a record: the stage that its receipt tells, without its text. */
export function lineOf({
  message_id,
  from,
  address,
  fiber,
  text,
  wake,
  hops,
  ...record
}: MessageRecord): MessageLine {
  const { status, transport, reason, at } = record.receipt;
  return {
    at,
    id: message_id,
    sent_at: record.created_at,
    from,
    to: address,
    fiber: fiber?.id ?? null,
    uid: fiber?.uid ?? null,
    status,
    transport,
    ...(reason === undefined ? {} : { reason }),
    bytes: Buffer.byteLength(text),
    wake,
    hops,
  };
}

/** What makes a stage of a message one of its own. */
export function stageOf({ id, sent_at, status, transport }: MessageLine): string {
  return `${id} ${sent_at} ${status} ${transport}`;
}

/**
 * `messages.jsonl` as the messages thread writes it, which is its only writer. A line that cannot be written is logged;
 * it never fails a delivery, and the next daemon writes it.
 */
export class LedgerWriter {
  readonly #path: string;
  readonly #events: string;
  readonly #logger: Logger;
  #failed = '';

  constructor(options: { path: string; events_file: string; logger: Logger }) {
    this.#path = options.path;
    this.#events = options.events_file;
    this.#logger = options.logger;
  }

  add(line: MessageLine): void {
    this.#write(line, () => appendLineSync(this.#path, line, ROTATE_BYTES));
  }

  /** Adds to the events that a person wrote to a worker; whoever adds the next event rotates their file. */
  addAttention(line: MessageLine): void {
    this.#write(line, () => appendLineSync(this.#events, attentionOf(line)));
  }

  #write({ id }: MessageLine, append: () => void): void {
    try {
      append();
      this.#failed = '';
    } catch (error) {
      const detail = messageOf(error);
      if (detail !== this.#failed)
        this.#logger.warn({ message: id, detail }, 'a line of a message was not written to its ledger');
      this.#failed = detail;
    }
  }

  /** When the last line was written, in milliseconds; null if there is no ledger. */
  writtenAt(): number | null {
    for (const path of [this.#path, `${this.#path}.1`]) {
      try {
        return statSync(path).mtimeMs;
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') throw error;
      }
    }
    return null;
  }

  /**
   * Lines of stages that were seen at that time or later, in file order: the newest 2 MiB at most. None if the files cannot
   * be read, which is logged.
   */
  since(at: number): MessageLine[] {
    try {
      return this.#since(at);
    } catch (error) {
      this.#logger.warn({ detail: messageOf(error) }, 'the messages ledger cannot be read');
      return [];
    }
  }

  #since(at: number): MessageLine[] {
    const newest = linesAtEnd(this.#path, at, MOST_READ_BACK_BYTES);
    const older = linesAtEnd(`${this.#path}.1`, at, MOST_READ_BACK_BYTES - newest.bytes);
    return [...older.lines, ...newest.lines];
  }
}

/** An event of the time of writing; see `events.jsonl`. */
function attentionOf({ id, sent_at, to }: MessageLine): object {
  const { host, harness, native_id } = parseAddress(to);
  return {
    ...{ id, timestamp: sent_at, type: 'message', sessionId: native_id, cwd: null, tmuxSession: null },
    ...{ harness, originName: host },
  };
}

function linesAtEnd(path: string, at: number, most: number): { lines: MessageLine[]; bytes: number } {
  const file = most <= 0 ? null : AppendOnlyFile.openIfThere(path);
  if (file === null) return { lines: [], bytes: 0 };
  try {
    const lines: MessageLine[] = [];
    const from = Math.max(0, file.size - most);
    const sink = {
      take(bytes: Buffer, start: number) {
        const end = bytes.indexOf(NEWLINE, start);
        const line = parseMessageLine(bytes.toString('utf8', start, end));
        if (line !== null && line.at >= at) lines.push(line);
        return end;
      },
      skip() {},
    };
    for (const _ of file.readLines(file.at(from), { longest: MOST_LINE_BYTES }, sink));
    return { lines, bytes: file.size - from };
  } finally {
    file.close();
  }
}
