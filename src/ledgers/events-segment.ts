import { resolve } from 'node:path';
import { EVENT_TYPES, type EventType } from '../contract/ledger.ts';
import { ActivityColumns, type HeldColumns, KIND } from './activity-columns.ts';
import { EncodedBuckets } from './encoded-buckets.ts';
import { EventScan } from './event-scan.ts';
import { type InternedBytes, Interner } from './interner.ts';

const NEWLINE = 0x0a;
const MINUTE_MS = 60_000;
/** The latest valid timestamp of a line, in milliseconds. */
const LATEST_MS = 8.64e13;
/** Maximum minutes that one tool call counts for. */
const LONGEST_TOOL = 30;
/** The tool by which a worker sends a file to a person. */
const SEND_FILE_TOOL = 'SendUserFile';
const MOST_SENT = 20_000;
const MOST_SESSIONS = 20_000;
const MOST_BUCKETS = 500_000;

/** Files sent by a worker in one call, in file order; paths are absolute if the working directory is known. */
export type SentLine = {
  at: number;
  session: string | null;
  mux: string | null;
  cwd: string | null;
  harness: string | null;
  files: string[];
};

/** Times of the newest events of one session in milliseconds, 0 for none. */
export type LastEvents = {
  type: EventType;
  at: number;
  prompt_at: number;
  tool_at: number;
  stop_at: number;
  notification_at: number;
  end_at: number;
};

/** What a session is doing now. */
type Spell = { waiting: boolean; tool_minute: number; last: LastEvents };

/** A segment as stored in a checkpoint. */
export type HeldSegment = {
  strings: InternedBytes;
  columns: HeldColumns;
  sent: SentLine[];
  spells: [number, Spell][];
  lines: number;
  malformed: number;
};

export type SegmentBounds = { buckets: number; sessions: number; sent: number };
export const SEGMENT_BOUNDS: SegmentBounds = {
  buckets: MOST_BUCKETS,
  sessions: MOST_SESSIONS,
  sent: MOST_SENT,
};

/**
 * The index of one file of events: activity, sent files, and the newest events of each session. Each file has its own
 * segment, so that a rotation changes which segments count but not their content.
 */
export class EventsSegment {
  readonly strings: Interner;
  readonly activity: ActivityColumns;
  readonly encoded: EncodedBuckets;
  readonly #bounds: SegmentBounds;
  readonly #scan: EventScan;
  /** Event type by string id: its index in `EVENT_TYPES`, -1 for an unknown type, undefined if not looked up yet. */
  readonly #types: (number | undefined)[] = [];
  readonly #sendFile: number;
  #sent: SentLine[];
  #spells: Map<number, Spell>;
  #lines: number;
  #malformed: number;

  constructor(bounds: SegmentBounds = SEGMENT_BOUNDS, held?: HeldSegment) {
    this.#bounds = bounds;
    this.strings = new Interner(held?.strings);
    this.activity = new ActivityColumns(bounds.buckets, held?.columns);
    this.encoded = new EncodedBuckets(this.activity, this.strings);
    this.#scan = new EventScan(this.strings);
    this.#sendFile = this.strings.add(SEND_FILE_TOOL);
    this.#sent = held?.sent ?? [];
    this.#spells = new Map(held?.spells);
    this.#lines = held?.lines ?? 0;
    this.#malformed = held?.malformed ?? 0;
  }

  /** Number of lines that are events. */
  get lines(): number {
    return this.#lines;
  }

  /** Number of complete lines that are not events; blank lines are not counted. */
  get malformed(): number {
    return this.#malformed;
  }

  /** Sent files, oldest line first. */
  get sent(): readonly SentLine[] {
    return this.#sent.slice(-this.#bounds.sent);
  }

  /** The newest events of the sessions in this file. */
  *lastEvents(): Iterable<[session: string, last: LastEvents]> {
    for (const [id, spell] of this.#spells) yield [this.strings.text(id), spell.last];
  }

  held(): HeldSegment {
    return {
      strings: this.strings.held(),
      columns: this.activity.held(),
      sent: [...this.sent],
      spells: [...this.#spells],
      lines: this.#lines,
      malformed: this.#malformed,
    };
  }

  /** Counts a line that was too long to be read. */
  skip(): void {
    this.#malformed += 1;
  }

  /** Indexes the line at `start` and returns the offset of its newline, which must exist. */
  take(bytes: Buffer, start: number): number {
    const scan = this.#scan;
    const end = scan.take(bytes, start);
    const isPlain =
      end !== -1 &&
      scan.type !== 0 &&
      scan.timestamp <= LATEST_MS &&
      (scan.tool !== this.#sendFile || this.#typeOf(scan.type) !== PRE_TOOL);
    if (!isPlain) {
      const newline = end === -1 ? bytes.indexOf(NEWLINE, start) : end;
      this.#takeParsed(bytes, start, newline);
      return newline;
    }
    this.#lines += 1;
    this.#count(scan.timestamp, scan.type, scan.session, scan.cwd, scan.machine);
    return end;
  }

  #takeParsed(bytes: Buffer, start: number, end: number): void {
    const text = bytes.toString('utf8', start, end);
    if (text.trim() === '') return;
    const line = parse(text);
    if (line === null) {
      this.#malformed += 1;
      return;
    }
    this.#lines += 1;
    const { timestamp, type, tool, machine } = line;
    const session = textOf(line.sessionId);
    const cwd = textOf(line.cwd);
    if (tool === SEND_FILE_TOOL && type === 'pre_tool_use') this.#addSent(line, session, cwd);
    this.#count(
      timestamp as number,
      this.strings.add(type as string),
      this.strings.add(session ?? ''),
      this.strings.add(cwd ?? ''),
      machine === true,
    );
  }

  #addSent(line: Record<string, unknown>, session: string | null, cwd: string | null): void {
    const files = filesOf(line.toolInput).map((path) => (cwd?.startsWith('/') ? resolve(cwd, path) : path));
    if (files.length === 0) return;
    const at = line.timestamp as number;
    const sent = { at, session, mux: textOf(line.tmuxSession), cwd, harness: textOf(line.harness), files };
    this.#sent.push(sent);
    if (this.#sent.length > 2 * this.#bounds.sent) this.#sent = this.#sent.slice(-this.#bounds.sent);
  }

  #count(timestamp: number, typeId: number, session: number, cwd: number, machine: boolean): void {
    const type = this.#typeOf(typeId);
    if (type === -1) return;
    const minute = Math.floor(timestamp / MINUTE_MS);
    if (type === MESSAGE) {
      this.activity.add(minute, session, cwd, KIND.attention, 1);
      return;
    }
    const spell = this.#spellOf(session, type, timestamp);
    // No closures here or below: one per line would be most of the garbage of an index build, and collecting it delays
    // other threads.
    const { activity } = this;
    if (type === NOTIFICATION) {
      if (spell.waiting) return;
      spell.waiting = true;
      activity.add(minute, session, cwd, KIND.notify, 1);
      return;
    }
    spell.waiting = false;
    if (type === PROMPT && !machine) {
      spell.tool_minute = -1;
      activity.add(minute, session, cwd, KIND.attention, 1);
      return;
    }
    activity.add(minute, session, cwd, KIND.agent, 1);
    if (type === STOP) activity.add(minute, session, cwd, KIND.reply, 1);
    if (type === PRE_TOOL) spell.tool_minute = minute;
    else if (type === POST_TOOL && spell.tool_minute !== -1) {
      const from = Math.max(spell.tool_minute + 1, minute - LONGEST_TOOL);
      for (let between = from; between < minute; between += 1)
        activity.add(between, session, cwd, KIND.agent, 1);
      spell.tool_minute = -1;
    } else if (type !== SUBAGENT_STOP) spell.tool_minute = -1;
  }

  /** Records this event in the state of its session; evicts the least recently seen sessions. */
  #spellOf(session: number, type: number, at: number): Spell {
    let spell = this.#spells.get(session);
    if (spell === undefined) {
      const last = {
        type: 'session_start' as EventType,
        at: 0,
        prompt_at: 0,
        tool_at: 0,
        stop_at: 0,
        notification_at: 0,
        end_at: 0,
      };
      spell = { waiting: false, tool_minute: -1, last };
      this.#spells.set(session, spell);
      if (this.#spells.size > this.#bounds.sessions) this.#forgetSession();
    }
    const { last } = spell;
    last.type = EVENT_TYPES[type] as EventType;
    last.at = at;
    if (type === PROMPT) last.prompt_at = at;
    else if (type === PRE_TOOL || type === POST_TOOL) last.tool_at = at;
    else if (type === STOP || type === STOP_FAILURE) last.stop_at = at;
    else if (type === NOTIFICATION) last.notification_at = at;
    else if (type === SESSION_END) last.end_at = at;
    return spell;
  }

  #forgetSession(): void {
    const oldest = this.#spells.keys().next().value;
    if (oldest !== undefined) this.#spells.delete(oldest);
  }

  #typeOf(id: number): number {
    let type = this.#types[id];
    if (type === undefined) {
      type = (EVENT_TYPES as readonly string[]).indexOf(this.strings.text(id));
      this.#types[id] = type;
    }
    return type;
  }
}

const PROMPT = EVENT_TYPES.indexOf('user_prompt_submit');
const PRE_TOOL = EVENT_TYPES.indexOf('pre_tool_use');
const POST_TOOL = EVENT_TYPES.indexOf('post_tool_use');
const STOP = EVENT_TYPES.indexOf('stop');
const STOP_FAILURE = EVENT_TYPES.indexOf('stop_failure');
const SUBAGENT_STOP = EVENT_TYPES.indexOf('subagent_stop');
const NOTIFICATION = EVENT_TYPES.indexOf('notification');
const SESSION_END = EVENT_TYPES.indexOf('session_end');
const MESSAGE = EVENT_TYPES.indexOf('message');

/** The object in a line; null if it is not an event. */
function parse(text: string): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { timestamp, type } = value as Record<string, unknown>;
  const isEvent =
    typeof timestamp === 'number' && timestamp >= 0 && timestamp <= LATEST_MS && textOf(type) !== null;
  return isEvent ? (value as Record<string, unknown>) : null;
}

function filesOf(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return [];
  const { files, file_path, path } = input as Record<string, unknown>;
  const all: unknown[] = Array.isArray(files) ? files : [files, file_path, path];
  return all.map(textOf).filter((one) => one !== null);
}

function textOf(value: unknown): string | null {
  // Replaces lone surrogates, as the UTF-8 encoding that is stored and sent does.
  return typeof value === 'string' && value !== '' ? value.toWellFormed() : null;
}
