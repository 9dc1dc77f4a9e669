import { closeSync } from 'node:fs';
import { systemCode } from '../base/errors.ts';
import { type MessageLine, messageLineSchema, parseMessageLine } from '../contract/ledger.ts';
import { nativeIdOf } from '../contract/session-address.ts';
import { openRegularFileSync, readAtSync } from '../platform/regular-file.ts';
import { type LedgerCounts, Tailer } from './tailer.ts';

/** Bytes of the longest line that is read again. */
const MOST_LINE_BYTES = 64 * 1024;
/** Most lines are shorter, in bytes. */
const USUAL_LINE = 1_024;
const NEWLINE = 0x0a;

/** A line of a session: when its message was sent, and where the line begins in its file. */
export type Place = { sent_at: number; file: LineFile; at: number };

/**
 * The messages of each session, from `messages.jsonl` and its rotated sibling. Only times and places of lines are kept in
 * memory; the lines themselves are read when they are asked for.
 */
export class MessagesLedger {
  readonly #files: readonly LineFile[];
  #isRead = false;

  constructor(options: { path: string }) {
    this.#files = [new LineFile(`${options.path}.1`), new LineFile(options.path)];
  }

  /** Null before the first read. */
  get counts(): LedgerCounts | null {
    if (!this.#isRead) return null;
    const sum = (of: keyof LedgerCounts) => this.#files.reduce((total, { counts }) => total + counts[of], 0);
    return { entries: sum('entries'), malformed: sum('malformed'), bytes: sum('bytes') };
  }

  /** Reads the lines added to the files; throws the system error if one cannot be read. */
  async refresh(): Promise<void> {
    for (const file of this.#files) await file.refresh();
    this.#isRead = true;
  }

  /** The places of the lines to and from a session; in file order. */
  places(session: string): Place[] {
    return this.#files.flatMap((file) => file.places(session));
  }

  /** The messages of these lines, each as the last of its lines has it, in the order in which they were sent. */
  messages(places: readonly Place[]): MessageLine[] {
    const rows = new Map<string, MessageLine>();
    for (const file of this.#files) {
      const at = places.filter((place) => place.file === file).map((place) => place.at);
      for (const line of file.lines([...new Set(at)].sort((a, b) => a - b)))
        rows.set(`${line.id} ${line.sent_at}`, line);
    }
    return [...rows.values()].sort(inOrder);
  }
}

/** By the time of sending, then by id, so that each message has one place. */
export function inOrder(
  a: Pick<MessageLine, 'sent_at' | 'id'>,
  b: Pick<MessageLine, 'sent_at' | 'id'>,
): number {
  return a.sent_at - b.sent_at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

type Indexed = { sessions: readonly string[]; sent_at: number };

/** One file of lines, by session. */
class LineFile {
  readonly #path: string;
  readonly #tailer: Tailer<Indexed>;
  /** By session: the times of sending and the places of its lines, in file order. */
  #bySession = new Map<string, { sent_at: number[]; at: number[] }>();
  #entries = 0;

  constructor(path: string) {
    this.#path = path;
    this.#tailer = new Tailer({ path, parse: indexed, max_line_bytes: MOST_LINE_BYTES });
  }

  get counts(): LedgerCounts {
    const { malformed, bytes } = this.#tailer;
    return { entries: this.#entries, malformed, bytes };
  }

  refresh(): Promise<void> {
    return this.#tailer.read({
      reset: () => {
        this.#bySession = new Map();
        this.#entries = 0;
      },
      line: ({ sessions, sent_at }, at) => {
        this.#entries += 1;
        for (const session of sessions) this.#add(session, sent_at, at);
      },
    });
  }

  places(session: string): Place[] {
    const { sent_at = [], at = [] } = this.#bySession.get(session) ?? {};
    return sent_at.map((time, nth) => ({ sent_at: time, file: this, at: at[nth] as number }));
  }

  /** The lines at these places. One that is gone, because the file was replaced meanwhile, is left out. */
  *lines(places: readonly number[]): Generator<MessageLine> {
    const fd = places.length === 0 ? null : openIfThere(this.#path);
    if (fd === null) return;
    try {
      for (const at of places) {
        const line = parseMessageLine(lineAt(fd, at));
        if (line !== null) yield line;
      }
    } finally {
      closeSync(fd);
    }
  }

  #add(session: string, sent_at: number, at: number): void {
    const known = this.#bySession.get(session);
    if (known === undefined) this.#bySession.set(session, { sent_at: [sent_at], at: [at] });
    else {
      known.sent_at.push(sent_at);
      known.at.push(at);
    }
  }
}

function indexed(value: unknown): Indexed | null {
  const line = messageLineSchema.safeParse(value).data;
  if (line === undefined) return null;
  const sessions = [line.to, line.from].flatMap((text) => nativeIdOf(text) ?? []);
  return { sessions: [...new Set(sessions)], sent_at: line.sent_at };
}

function lineAt(fd: number, at: number): string {
  for (const size of [USUAL_LINE, MOST_LINE_BYTES]) {
    const bytes = readAtSync(fd, Buffer.allocUnsafe(size), at);
    const end = bytes.indexOf(NEWLINE);
    if (end !== -1) return bytes.toString('utf8', 0, end);
  }
  return '';
}

function openIfThere(path: string): number | null {
  try {
    return openRegularFileSync(path).fd;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
