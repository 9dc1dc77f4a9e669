import { pack, unpack } from 'msgpackr';
import { CodedError } from '../base/errors.ts';
import { freeBytes } from '../base/free-bytes.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { joinParts, joinTables, splitParts } from './sweep-table.ts';

/** The changes of a store between two sweeps. */
export type SweepResult = {
  /** Opaque; input of the next sweep of the same store. Null: that of the last sweep is as good. */
  table: Uint8Array | null;
  /** Nothing was added, changed or removed. */
  unchanged: boolean;
  /** Rows of new and changed documents, without bodies. A row with `error` must not be dispatched. */
  changed: FiberDocument[];
  /** Absolute paths of documents that are gone. */
  removed: string[];
  /** Paths that could not be read, reported by every sweep while that lasts; rows below them keep their last values. */
  errors: SweepError[];
  /**
   * Paths below `.fibers` of new documents, and with a `/` at the end of new folders, that are left for
   * `readDocuments`; they are not in the table.
   */
  unread: string[];
  /** Absolute paths of all folders if any came or went since the last sweep, for watching; else null. */
  folders: string[] | null;
  /** Absolute paths of the documents whose changes a watch of their folder may miss. */
  unwatchable: string[];
};
export type SweepError = { path: string; message: string };
/** What `readDocuments` has read: `table` is for `addReadings`, `folders` are those below folders that were asked for. */
export type Reading = Omit<SweepResult, 'unchanged' | 'removed' | 'folders' | 'table'> & {
  table: Uint8Array;
  folders: string[];
};

const NO_TABLE = new Uint8Array(0);
const SHARED_BY_FIBERS = ['host', 'project_dir', 'agent'] as const;

/**
 * Encodes a result for another thread. The large parts follow the rest as they are, so that nothing is copied through a
 * growing buffer. Rows travel as JSON: parsed from it, they take two thirds of the memory of rows from msgpack.
 */
export function encodeResult({ changed, table, ...rest }: Reading | SweepResult): Uint8Array {
  return joinParts([pack(rest), table ?? NO_TABLE, Buffer.from(JSON.stringify(changed))]);
}

function decodeResult<T extends Reading | SweepResult>(bytes: Uint8Array): T {
  const [rest, table, changed] = splitParts(bytes);
  if (rest === undefined || table === undefined || changed === undefined)
    throw new CodedError('internal', 'the result of a sweep is cut short');
  const result = {
    ...unpack(rest),
    // A copy: a view would keep the much larger text of the rows until all parts of a listing are there.
    table: table.length === 0 ? null : new Uint8Array(table),
    changed: JSON.parse(Buffer.from(changed.buffer, changed.byteOffset, changed.length).toString()),
  };
  shareTexts(result.changed);
  freeBytes(bytes);
  return result;
}

/** Gives the texts that many rows have in common to all of them: parsing makes one for each. */
function shareTexts(rows: FiberDocument[]): void {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  for (const row of rows) {
    row.store = shared(row.store);
    if (row.project_dir !== undefined) row.project_dir = shared(row.project_dir);
    for (const key of SHARED_BY_FIBERS) {
      const text = row.svc?.[key];
      if (text !== undefined) row.svc![key] = shared(text);
    }
  }
}

/** Decodes the result of `readDocuments`, and frees its bytes. */
export function decodeReading(bytes: Uint8Array): Reading {
  return decodeResult<Reading>(bytes);
}

/** Encodes `paths` for `readDocuments`. */
export function encodePaths(paths: readonly string[]): Uint8Array {
  return Uint8Array.from(pack(paths));
}

/** Merges a sweep's result with the readings of what it left unread. */
export function addReadings(result: SweepResult, readings: readonly Reading[]): SweepResult {
  const parts = [result, ...readings];
  const changed = parts.flatMap((part) => part.changed);
  return {
    ...{ changed, removed: result.removed, unread: [] },
    folders: result.folders && parts.flatMap((part) => part.folders ?? []),
    unchanged: changed.length === 0 && result.removed.length === 0,
    table: joinTables(parts.flatMap((part) => part.table ?? [])),
    errors: parts.flatMap((part) => part.errors),
    unwatchable: parts.flatMap((part) => part.unwatchable),
  };
}

/** Decodes the result of `sweepStore`, and frees its bytes. */
export function decodeSweep(bytes: Uint8Array): SweepResult {
  return decodeResult<SweepResult>(bytes);
}
