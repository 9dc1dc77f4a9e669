import { setImmediate } from 'node:timers/promises';
import type { Logger } from '../base/logger.ts';
import { Mutex } from '../base/mutex.ts';
import { AppendOnlyFile, type FileTag, type ReadPosition, tagOfPath } from '../platform/append-only-file.ts';
import { KIND, KINDS, type Row } from './activity-columns.ts';
import { type Block, MINUTE_MS } from './encoded-buckets.ts';
import {
  EventsSegment,
  type LastEvents,
  SEGMENT_BOUNDS,
  type SegmentBounds,
  type SentLine,
} from './events-segment.ts';
import type { Prompts } from './fiber-life.ts';
import { type HeldPart, readCheckpoint, writeCheckpoint } from './index-checkpoint.ts';
import { joinBlocks } from './joint-blocks.ts';

const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
/** Bytes between checkpoints: after a crash at most this much is read again. */
const CHECKPOINT_EVERY_BYTES = 8 * 1024 * 1024;

/** One bucket of activity: `m` is the start of its minute in milliseconds. */
export type Bucket = {
  m: number;
  s: string | null;
  cwd: string | null;
  k: (typeof KINDS)[number];
  n: number;
};

/** A part of the buckets as JSON. Bytes with an id never change; null means that the receiver already has them. */
export type EncodedPiece = { id: number; bytes: Uint8Array | null } | { id: null; bytes: Uint8Array };

export type EventsIndexOptions = {
  path: string;
  /** Path of the checkpoint; null for none. */
  checkpoint: string | null;
  logger: Logger;
  bounds?: SegmentBounds;
  longest_line_bytes?: number;
  checkpoint_every_bytes?: number;
};

type Part = { place: ReadPosition; segment: EventsSegment };
type Parts = { rotated: Part | null; live: Part | null };

/**
 * The index of the events ledger and its rotated file, updated by reading only appended lines (EVT-5). After every
 * refresh it equals the result of a full read of both files.
 */
export class EventsIndex {
  readonly #options: EventsIndexOptions;
  readonly #turns = new Mutex();
  #parts: Parts | null = null;
  #stamps: { rotated: FileTag; live: FileTag } | null = null;
  /** Bytes read since the last checkpoint, and how many of them were read before one could not be written. */
  #unsaved = 0;
  #refused = 0;

  constructor(options: EventsIndexOptions) {
    this.#options = options;
  }

  /** `size` and `mtime` of both files at the last refresh, for an ETag (TMP-1). */
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
   * Updates the index and runs `ask` on it before anything else is read. Rejects with the system error of an unreadable
   * file.
   */
  read<T>(ask: () => T | Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      await this.#refresh();
      return ask();
    });
  }

  /** Writes a checkpoint if anything was read since the last one. */
  save(): Promise<void> {
    return this.#turns.run(() => this.#save());
  }

  /** Sent files, in the order of the ledger (TMP-4). */
  sent(): SentLine[] {
    return this.#all().flatMap(({ segment }) => [...segment.sent]);
  }

  /** The newest events of every session in the two files. */
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
    return this.#stretches(from_ms, to_ms).flatMap(({ segment, block, rows }) =>
      (rows ?? segment.activity.rows(block)).map(({ minute, session, cwd, kind, count }) => ({
        m: minute * MINUTE_MS,
        s: segment.strings.text(session) || null,
        cwd: segment.strings.text(cwd) || null,
        k: KINDS[kind] as Bucket['k'],
        n: count,
      })),
    );
  }

  /** The same as JSON in pieces, each bucket with a leading comma; pieces with an id in `known` have no bytes. */
  encodeBuckets(from_ms: number, to_ms: number, known: ReadonlySet<number> = new Set()): EncodedPiece[] {
    return this.#stretches(from_ms, to_ms).map(({ segment, block, rows }) => {
      const { encoded } = segment;
      if (rows !== null) return { id: null, bytes: encoded.encode(rows) };
      const id = encoded.id(block);
      return { id, bytes: known.has(id) ? null : encoded.encode(segment.activity.rows(block)) };
    });
  }

  /** Prompts that people typed in these sessions. */
  prompts(sessions: ReadonlySet<string>): Prompts[] {
    const counted = new Map<string, Prompts>();
    for (const { segment } of this.#all()) {
      const { columns, length } = segment.activity;
      for (let row = 0; row < length; row += 1) {
        if (columns.kinds[row] !== KIND.attention) continue;
        const s = segment.strings.text(columns.sessions[row] as number);
        if (!sessions.has(s)) continue;
        const minute = columns.minutes[row] as number;
        const n = columns.counts[row] as number;
        const key = `${minute} ${s}`;
        const known = counted.get(key);
        if (known === undefined) counted.set(key, { m: minute * MINUTE_MS, s, n });
        else known.n += n;
      }
    }
    return [...counted.values()];
  }

  /** The part of each block inside the window; empty parts are left out. */
  #stretches(from_ms: number, to_ms: number): Stretch[] {
    const [from, to] = [from_ms / MINUTE_MS, to_ms / MINUTE_MS];
    const files = this.#all().map(({ segment }) => ({
      segment,
      blocks: segment.encoded.blocks().filter((block) => block.last >= from && block.first < to),
    }));
    const [older, newer] = files;
    const joints = older === undefined || newer === undefined ? null : joinBlocks(older, newer);
    const stretches: Stretch[] = [];
    for (const { segment, blocks } of files) {
      for (const block of blocks) {
        const joint = joints?.get(block) ?? null;
        const isWhole = block.first >= from && block.last < to;
        const rows = isWhole
          ? joint
          : (joint ?? segment.activity.rows(block)).filter(({ minute }) => minute >= from && minute < to);
        if (rows?.length !== 0) stretches.push({ segment, block, rows });
      }
    }
    return stretches;
  }

  #all(): Part[] {
    return [this.#parts?.rotated, this.#parts?.live].filter((part) => part != null);
  }

  async #refresh(): Promise<void> {
    const { path } = this.#options;
    const stamps = this.#stamps;
    if (stamps !== null && tagOfPath(path) === stamps.live && tagOfPath(`${path}.1`) === stamps.rotated)
      return;
    const files = openBoth(path);
    try {
      const before = this.#parts ?? this.#restored();
      // After a failed read the state is discarded.
      this.#parts = this.#stamps = null;
      const parts = place(files, before, () => new EventsSegment(this.#options.bounds ?? SEGMENT_BOUNDS));
      for (const name of ['rotated', 'live'] as const) {
        const [file, part] = [files[name], parts[name]];
        if (file !== null && part !== null) await this.#readOn(file, part);
      }
      this.#parts = parts;
      this.#stamps = { live: files.live?.tag ?? '-', rotated: files.rotated?.tag ?? '-' };
      this.#saveRegularly();
    } finally {
      files.rotated?.close();
      files.live?.close();
    }
  }

  async #readOn(file: AppendOnlyFile, { place, segment }: Part): Promise<void> {
    const from = place.offset;
    const longest = this.#options.longest_line_bytes ?? LONGEST_LINE_BYTES;
    for (const _ of file.readLines(place, { longest }, segment)) await setImmediate();
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

  /** The index is up to date without its checkpoint, so a failure to write one fails no read. */
  #saveRegularly(): void {
    const { checkpoint, checkpoint_every_bytes: every = CHECKPOINT_EVERY_BYTES, logger } = this.#options;
    if (this.#unsaved - this.#refused < every) return;
    try {
      this.#save();
    } catch (error) {
      if (this.#refused === 0)
        logger.warn(
          { err: error, path: checkpoint },
          'the checkpoint of the events index cannot be written, so a restart reads the events again; free space on the disk or make the folder writable',
        );
      this.#refused = this.#unsaved;
    }
  }

  #save(): void {
    const { checkpoint } = this.#options;
    if (checkpoint === null || this.#parts === null || this.#unsaved === 0) return;
    const held = (part: Part | null): HeldPart | null =>
      part === null ? null : { place: part.place, segment: part.segment.held() };
    writeCheckpoint(checkpoint, { rotated: held(this.#parts.rotated), live: held(this.#parts.live) });
    this.#unsaved = this.#refused = 0;
  }
}

/** The part of one block that an answer has: these rows, or for null the whole block as it is. */
type Stretch = { segment: EventsSegment; block: Block; rows: readonly Row[] | null };

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

type Files = { rotated: AppendOnlyFile | null; live: AppendOnlyFile | null };

/** A consistent snapshot of both files: a writer may rotate them between two reads. */
function openBoth(path: string): Files {
  for (;;) {
    const rotated = AppendOnlyFile.openIfThere(`${path}.1`);
    let live: AppendOnlyFile | null = null;
    try {
      live = AppendOnlyFile.openIfThere(path);
      const again = AppendOnlyFile.openIfThere(`${path}.1`);
      const still = again === null ? rotated === null : rotated !== null && again.isSame(rotated);
      again?.close();
      if (still) return { rotated, live };
    } catch (error) {
      rotated?.close();
      live?.close();
      throw error;
    }
    rotated?.close();
    live?.close();
  }
}

/** Matches each file with its known segment: the rotated file may be the one that was live. */
function place(files: Files, before: Parts, empty: () => EventsSegment): Parts {
  const free = new Set([before.rotated, before.live].filter((part) => part !== null));
  const find = (file: AppendOnlyFile | null): Part | null => {
    if (file === null) return null;
    for (const part of free) {
      if (!file.knows(part.place)) continue;
      free.delete(part);
      return part;
    }
    return { place: file.at(), segment: empty() };
  };
  // In this order, because a cursor at the start of a file matches any file with its identity.
  const rotated = find(files.rotated);
  return { rotated, live: find(files.live) };
}
