import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { CodedError, isCoded, messageOf, systemCode } from '../base/errors.ts';
import { looksLikeAddress } from '../contract/session-address.ts';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';
import { storageFault } from '../platform/storage-error.ts';
import { type LedgerWriter, lineOf, stageOf } from './ledger-writer.ts';
import { type MessageRecord, messageRecordSchema } from './message-record.ts';

/** A record holds the text of its message twice over at most. */
const MOST_RECORD_BYTES = 8 * 1024 * 1024;
const MOST_MARK_BYTES = 1_000;
/** Folders of records, by the first byte of their names. */
export const SHARDS = 256;
/** The file of a record, and when it was written last, in milliseconds. */
export type KeptRecord = { name: string; changed_at: number };
const SHARD = /^[0-9a-f]{2}$/;
const RECORD = /^[0-9a-f]{64}[.]json$/;
const MARK = /^[0-9a-f]{64}$/;

/**
 * The messages of this host: one file for each id, written whole and synced before it counts, so that a crash at any
 * moment leaves the old or the new record. Nothing is kept in memory. A record that is not at its end has a mark beside
 * it, by which the next daemon finds it without reading the others. Each new stage of a message is a line of the ledger.
 */
export class MessageStore {
  readonly #folder: string;
  readonly #open: string;

  readonly #ledger: Pick<LedgerWriter, 'add' | 'addAttention'>;

  constructor(folder: string, ledger: Pick<LedgerWriter, 'add' | 'addAttention'>) {
    this.#ledger = ledger;
    this.#folder = folder;
    this.#open = join(folder, 'open');
    mkdirSync(this.#open, { recursive: true, mode: 0o700 });
  }

  /** Null for an id without a record; throws the system error, or for a record that cannot be read. */
  read(message_id: string): MessageRecord | null {
    try {
      return readRecord(this.#path(message_id));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** Keeps a new message, durable when it returns. Throws `store_unavailable` on a write error; then nothing is kept. */
  begin(record: MessageRecord): void {
    try {
      this.write(record);
    } catch (error) {
      this.release(record.message_id);
      throw unwritable(this.#folder, error);
    }
  }

  /** Durable when it returns. */
  write(record: MessageRecord): void {
    const path = this.#path(record.message_id);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    const before = recordOrNone(path);
    if (record.state !== 'sent') this.#mark(record.message_id);
    writeFileAtomic(path, `${JSON.stringify(record)}\n`);
    const line = lineOf(record);
    if (before === null || stageOf(lineOf(before)) !== stageOf(line)) this.#ledger.add(line);
    // The first time that a worker may get what a person wrote.
    const isGiven = record.fiber !== null && (before?.fiber ?? null) === null;
    if (isGiven && !looksLikeAddress(record.from)) this.#ledger.addAttention(line);
    if (record.state === 'sent') this.#unmark(record.message_id);
  }

  /** Lets the id be used again (`preflight_failed`). */
  release(message_id: string): void {
    rmSync(this.#path(message_id), { force: true });
    this.#unmark(message_id);
  }

  /**
   * The ids of messages that are not at their end, each once: what a crash left beside a mark may name the same message, which
   * would be given twice.
   */
  unfinished(): string[] {
    return readdirSync(this.#open)
      .filter((name) => MARK.test(name))
      .map((name) => readRegularTextSync(join(this.#open, name), MOST_MARK_BYTES));
  }

  /**
   * The records whose files were changed from one time until another, in milliseconds, one folder at a time, so that the
   * caller can let other work run. Files that cannot be read are left out.
   */
  *changed({ from, until }: { from: number; until: number }): Generator<MessageRecord[]> {
    for (const shard of readdirSync(this.#folder).filter((name) => SHARD.test(name))) {
      const folder = join(this.#folder, shard);
      if (changedAt(folder) < from) continue;
      const paths = readdirSync(folder)
        .filter((name) => RECORD.test(name))
        .map((name) => join(folder, name));
      yield paths
        .filter((path) => changedAt(path) >= from && changedAt(path) < until)
        .flatMap((path) => recordOrNone(path) ?? []);
    }
  }

  /** The records in one of the `SHARDS` folders. */
  records(folder: number): KeptRecord[] {
    const path = join(this.#folder, folder.toString(16).padStart(2, '0'));
    if (!existsSync(path)) return [];
    return readdirSync(path)
      .filter((name) => RECORD.test(name))
      .map((name) => ({ name, changed_at: changedAt(join(path, name)) }));
  }

  /** Removes a record by its name if its message is at its end; its id may be used again. */
  discard(name: string): boolean {
    const path = join(this.#folder, name.slice(0, 2), name);
    const isOpen = existsSync(join(this.#open, name.replace('.json', '')));
    if (isOpen || recordOrNone(path)?.state !== 'sent') return false;
    rmSync(path, { force: true });
    return true;
  }

  #mark(message_id: string): void {
    const path = this.#markOf(message_id);
    if (!existsSync(path)) writeFileAtomic(path, message_id);
  }

  #unmark(message_id: string): void {
    rmSync(this.#markOf(message_id), { force: true });
  }

  #markOf(message_id: string): string {
    return join(this.#open, nameOf(message_id));
  }

  #path(message_id: string): string {
    const name = nameOf(message_id);
    return join(this.#folder, name.slice(0, 2), `${name}.json`);
  }
}

/** An id may differ from another by case alone, which some file systems do not tell apart. */
function nameOf(message_id: string): string {
  return sha256Of(message_id);
}

function readRecord(path: string): MessageRecord {
  return messageRecordSchema.parse(JSON.parse(readRegularTextSync(path, MOST_RECORD_BYTES)));
}

function recordOrNone(path: string): MessageRecord | null {
  try {
    return readRecord(path);
  } catch {
    return null;
  }
}

/** The error of a message that could not be written below a folder. */
function unwritable(folder: string, error: unknown): unknown {
  const cause = isCoded(error, 'storage_unavailable') ? error.cause : error;
  if (systemCode(cause) === undefined) return error;
  const fault = storageFault(folder, cause);
  const why =
    fault === null
      ? `the message cannot be written below ${folder}: ${messageOf(cause)}`
      : `${fault.said}; nothing was kept; ${fault.mend} and try again`;
  return new CodedError('store_unavailable', why, { details: { path: folder }, cause });
}

/** 0 for a file that is gone. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
