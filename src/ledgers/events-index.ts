import { Mutex } from '../base/mutex.ts';
import { KINDS } from './activity-columns.ts';
import {
  EventsSegment,
  type LastEvents,
  SEGMENT_BOUNDS,
  type SegmentBounds,
  type SentLine,
} from './events-segment.ts';
import { type HeldPart, readCheckpoint, writeCheckpoint } from './index-checkpoint.ts';
import { LedgerFile, type Place, type Stamp, stampOfPath } from './ledger-file.ts';

const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
/** Bytes that a crash costs to be read again. */
const CHECKPOINT_EVERY_BYTES = 8 * 1024 * 1024;
const MINUTE_MS = 60_000;

/** One bucket of activity: `m` is the start of its minute in milliseconds. */
export type Bucket = {
  m: number;
  s: string | null;
  cwd: string | null;
  k: (typeof KINDS)[number];
  n: number;
};

export type EventsIndexOptions = {
  path: string;
  /** Where the index is kept between two runs; null for nowhere. */
  checkpoint: string | null;
  bounds?: SegmentBounds;
  longest_line_bytes?: number;
  checkpoint_every_bytes?: number;
};

type Part = { place: Place; segment: EventsSegment };
type Parts = { rotated: Part | null; live: Part | null };

/**
 * What the events ledger and its rotated sibling say, kept by reading only what is added to them (EVT-5). After every
 * refresh it holds what a full read of the two files would give.
 */
export class EventsIndex {
  readonly #options: EventsIndexOptions;
  readonly #turns = new Mutex();
  #parts: Parts | null = null;
  #stamps: { rotated: Stamp; live: Stamp } | null = null;
  #unsaved = 0;

  constructor(options: EventsIndexOptions) {
    this.#options = options;
  }

  /** `size` and `mtime` of both files as of the last refresh, for an entity tag (TMP-1). */
  get stamp(): string {
    return this.#stamps === null ? '' : `${this.#stamps.live}_${this.#stamps.rotated}`;
  }

  get counts(): { lines: number; malformed: number; buckets: number; bytes: number } {
    const counts = { lines: 0, malformed: 0, buckets: 0, bytes: 0 };
    for (const { segment, place } of this.#all()) {
      counts.lines += segment.lines;
      counts.malformed += segment.malformed;
      counts.buckets += segment.activity.length;
      counts.bytes += place.offset;
    }
    return counts;
  }

  /**
   * Brings the index up to date and asks it; `ask` runs before anything else is read. Rejects with the system error
   * of a file that cannot be read.
   */
  read<T>(ask: () => T): Promise<T> {
    return this.#turns.run(async () => {
      await this.#refresh();
      return ask();
    });
  }

  /** Keeps what was read since the last checkpoint. */
  save(): Promise<void> {
    return this.#turns.run(() => this.#save(1));
  }

  /** Pushes of files, in the order of the ledger (TMP-4). */
  sent(): SentLine[] {
    return this.#all().flatMap(({ segment }) => [...segment.sent]);
  }

  /** The newest events of every session that the two files tell of. */
  lastEvents(): Map<string, LastEvents> {
    const sessions = new Map<string, LastEvents>();
    for (const { segment } of this.#all()) {
      for (const [session, last] of segment.lastEvents()) {
        const before = sessions.get(session);
        sessions.set(session, before === undefined ? { ...last } : later(before, last));
      }
    }
    return sessions;
  }

  /** Buckets whose minute begins in `[from_ms, to_ms)`, both whole minutes. */
  buckets(from_ms: number, to_ms: number): Bucket[] {
    return [...this.#rows(from_ms / MINUTE_MS, to_ms / MINUTE_MS)].map(
      ({ segment, minute, session, cwd, kind, count }) => ({
        m: minute * MINUTE_MS,
        s: segment.strings.text(session) || null,
        cwd: segment.strings.text(cwd) || null,
        k: KINDS[kind] as Bucket['k'],
        n: count,
      }),
    );
  }

  /** The same as a JSON array in bytes. */
  encodeBuckets(from_ms: number, to_ms: number): Buffer {
    const pieces: Buffer[] = [];
    let text = '[';
    let first = true;
    const middles = new Map<EventsSegment, Map<number, string>>();
    for (const { segment, minute, session, cwd, kind, count } of this.#rows(
      from_ms / MINUTE_MS,
      to_ms / MINUTE_MS,
    )) {
      let known = middles.get(segment);
      if (known === undefined) {
        known = new Map();
        middles.set(segment, known);
      }
      const key = (session * segment.strings.size + cwd) * KINDS.length + kind;
      let middle = known.get(key);
      if (middle === undefined) {
        middle = `,"s":${json(segment, session)},"cwd":${json(segment, cwd)},"k":"${KINDS[kind]}","n":`;
        known.set(key, middle);
      }
      text += `${first ? '' : ','}{"m":${minute * MINUTE_MS}${middle}${count}}`;
      first = false;
      if (text.length > 64 * 1024) {
        pieces.push(Buffer.from(text));
        text = '';
      }
    }
    pieces.push(Buffer.from(`${text}]`));
    return Buffer.concat(pieces);
  }

  *#rows(from: number, to: number): Iterable<Row> {
    const { rotated, live } = this.#parts ?? { rotated: null, live: null };
    // A bucket may begin in one file and go on in the other; only the minutes of both have to be put together.
    const shared = new Map<string, number>();
    if (rotated !== null && live !== null) {
      const [first, last] = [span(live.segment)[0], span(rotated.segment)[1]];
      for (const row of rowsOf(live.segment, Math.max(from, first), Math.min(to, last + 1)))
        shared.set(keyOf(row), row.count);
    }
    if (rotated !== null) {
      for (const row of rowsOf(rotated.segment, from, to)) {
        const more = shared.size === 0 ? undefined : shared.get(keyOf(row));
        if (more === undefined) yield row;
        else {
          shared.set(keyOf(row), -1);
          yield { ...row, count: row.count + more };
        }
      }
    }
    if (live === null) return;
    for (const row of rowsOf(live.segment, from, to))
      if (shared.size === 0 || shared.get(keyOf(row)) !== -1) yield row;
  }

  #all(): Part[] {
    return [this.#parts?.rotated, this.#parts?.live].filter((part) => part != null);
  }

  async #refresh(): Promise<void> {
    const { path } = this.#options;
    const stamps = this.#stamps;
    if (stamps !== null && stampOfPath(path) === stamps.live && stampOfPath(`${path}.1`) === stamps.rotated)
      return;
    const files = openBoth(path);
    try {
      const before = this.#parts ?? this.#restored();
      // What a failed read leaves behind is not trusted.
      this.#parts = this.#stamps = null;
      const parts = place(files, before, () => new EventsSegment(this.#options.bounds ?? SEGMENT_BOUNDS));
      for (const name of ['rotated', 'live'] as const) {
        const [file, part] = [files[name], parts[name]];
        if (file !== null && part !== null) await this.#readOn(file, part);
      }
      this.#parts = parts;
      this.#stamps = { live: files.live?.stamp ?? '-', rotated: files.rotated?.stamp ?? '-' };
      this.#save(this.#options.checkpoint_every_bytes ?? CHECKPOINT_EVERY_BYTES);
    } finally {
      files.rotated?.close();
      files.live?.close();
    }
  }

  async #readOn(file: LedgerFile, { place, segment }: Part): Promise<void> {
    const from = place.offset;
    await file.readLines(place, this.#options.longest_line_bytes ?? LONGEST_LINE_BYTES, segment);
    this.#unsaved += place.offset - from;
  }

  #restored(): Parts {
    const { checkpoint, bounds = SEGMENT_BOUNDS } = this.#options;
    const held = checkpoint === null ? null : readCheckpoint(checkpoint);
    const part = (from: HeldPart | null): Part | null =>
      from === null ? null : { place: from.place, segment: new EventsSegment(bounds, from.segment) };
    return held === null
      ? { rotated: null, live: null }
      : { rotated: part(held.rotated), live: part(held.live) };
  }

  #save(least_bytes: number): void {
    const { checkpoint } = this.#options;
    if (checkpoint === null || this.#parts === null || this.#unsaved < least_bytes) return;
    const held = (part: Part | null): HeldPart | null =>
      part === null ? null : { place: part.place, segment: part.segment.held() };
    writeCheckpoint(checkpoint, { rotated: held(this.#parts.rotated), live: held(this.#parts.live) });
    this.#unsaved = 0;
  }
}

type Row = {
  segment: EventsSegment;
  minute: number;
  session: number;
  cwd: number;
  kind: number;
  count: number;
};

function* rowsOf(segment: EventsSegment, from: number, to: number): Iterable<Row> {
  const { minutes, sessions, cwds, kinds, counts } = segment.activity.columns;
  for (let row = 0; row < segment.activity.length; row += 1) {
    const minute = minutes[row] as number;
    if (minute < from || minute >= to) continue;
    yield {
      segment,
      minute,
      session: sessions[row] as number,
      cwd: cwds[row] as number,
      kind: kinds[row] as number,
      count: counts[row] as number,
    };
  }
}

function keyOf({ segment, minute, session, cwd, kind }: Row): string {
  return `${minute} ${kind} ${segment.strings.text(session)}\n${segment.strings.text(cwd)}`;
}

function span(segment: EventsSegment): [first: number, last: number] {
  const { minutes } = segment.activity.columns;
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < segment.activity.length; row += 1) {
    const minute = minutes[row] as number;
    if (minute < first) first = minute;
    if (minute > last) last = minute;
  }
  return [first, last];
}

function json(segment: EventsSegment, id: number): string {
  return id === 0 ? 'null' : JSON.stringify(segment.strings.text(id));
}

function later(before: LastEvents, after: LastEvents): LastEvents {
  const newest = (name: Exclude<keyof LastEvents, 'type' | 'at'>) => after[name] || before[name];
  return {
    type: after.type,
    at: after.at,
    prompt_at: newest('prompt_at'),
    tool_at: newest('tool_at'),
    stop_at: newest('stop_at'),
    notification_at: newest('notification_at'),
    end_at: newest('end_at'),
  };
}

type Files = { rotated: LedgerFile | null; live: LedgerFile | null };

/** Both files as they stood at one moment: between two looks at them a writer may rotate. */
function openBoth(path: string): Files {
  for (;;) {
    const rotated = LedgerFile.open(`${path}.1`);
    const live = LedgerFile.open(path);
    const again = LedgerFile.open(`${path}.1`);
    const still = again === null ? rotated === null : rotated !== null && again.isSame(rotated);
    again?.close();
    if (still) return { rotated, live };
    rotated?.close();
    live?.close();
  }
}

/** For each file what is known of it already: the rotated one may be the one that was live. */
function place(files: Files, before: Parts, empty: () => EventsSegment): Parts {
  const free = new Set([before.rotated, before.live].filter((part) => part !== null));
  const find = (file: LedgerFile | null): Part | null => {
    if (file === null) return null;
    for (const part of free) {
      if (!file.knows(part.place)) continue;
      free.delete(part);
      return part;
    }
    return { place: file.begin(), segment: empty() };
  };
  // In this order, since a place at the start of a file fits any file of its identity.
  const rotated = find(files.rotated);
  return { rotated, live: find(files.live) };
}
