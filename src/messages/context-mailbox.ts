import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { systemCode } from '../base/errors.ts';
import type { SessionAddress } from '../contract/session-address.ts';
import {
  CONTEXT_LIMITS,
  type EntryName,
  mailboxFolder,
  parseEntryName,
  printEntryName,
  type WaitingContext,
} from '../harness/hooks/context-mailbox.cjs';
import { syncFolder, writeFileAtomic } from '../platform/atomic-write.ts';
import { folderNames } from '../platform/folder-names.ts';
import { makeFolder } from '../platform/make-folder.ts';

/** A message for a mailbox; `text` is what the agent reads. */
export type Context = Pick<WaitingContext, 'message_id' | 'text' | 'marker' | 'transcript' | 'offset'> & {
  created_at: number;
};

/** An entry's name begins with the time of its message, in milliseconds. */
const TIME_DIGITS = 15;
/** How often a folder is made again that a hook removed because it was empty. */
const MOST_TRIES = 5;

/**
 * The messages that wait to be added to sessions as context. Hooks take them, without the daemon; here they are only
 * put. Nothing is kept in memory.
 */
export class ContextMailbox {
  readonly #messages_dir: string;

  constructor(messages_dir: string) {
    this.#messages_dir = messages_dir;
    makeDurable(join(messages_dir, 'context'));
  }

  /** Why a message has no room in the mailbox of a session; null if it has, or is in it. */
  full(address: SessionAddress, { message_id, text }: Pick<Context, 'message_id' | 'text'>): string | null {
    const bytes = Buffer.byteLength(text);
    const { output_bytes, messages } = CONTEXT_LIMITS;
    if (bytes > output_bytes)
      return `context takes at most ${output_bytes} bytes with its sender, and this has ${bytes}; write it to a file and name its path, or leave wake out`;
    const folder = this.#folder(address);
    if (folder === null) return 'its session id is too long';
    const names = entriesIn(folder);
    if (names.length < messages || names.some(isOf(message_id))) return null;
    return `${messages} messages wait for this session as context; they are added with its next turns`;
  }

  /** Puts a message into the mailbox, unless it is there; durable when it returns. */
  put(address: SessionAddress, { created_at, ...context }: Context): void {
    const folder = this.#folder(address);
    if (folder === null) throw new RangeError('a session id is too long for a mailbox');
    if (entriesIn(folder).some(isOf(context.message_id))) return;
    const entry = `${String(created_at).padStart(TIME_DIGITS, '0')}-${digestOf(context.message_id)}`;
    const path = join(folder, printEntryName({ entry, taker: null }));
    const text = `${JSON.stringify({ version: 1, session: address.native_id, ...context } satisfies WaitingContext)}\n`;
    for (let tries = 1; ; tries += 1) {
      try {
        makeDurable(folder);
        writeFileAtomic(path, text);
        return;
      } catch (error) {
        if (systemCode(error) !== 'ENOENT' || tries >= MOST_TRIES) throw error;
      }
    }
  }

  /** Removes what was put before a time and is still there, because nobody went on with its conversation; how many. */
  removeOlder(before: number): number {
    let removed = 0;
    const folders = readdirSync(join(this.#messages_dir, 'context'), { withFileTypes: true });
    for (const { name, parentPath } of folders.filter((one) => one.isDirectory())) {
      const folder = join(parentPath, name);
      const old = entriesIn(folder).filter(({ entry }) => Number(entry.slice(0, TIME_DIGITS)) < before);
      for (const one of old) rmSync(join(folder, printEntryName(one)), { force: true });
      if (old.length > 0) removeIfEmpty(folder);
      removed += old.length;
    }
    return removed;
  }

  #folder({ harness, native_id }: SessionAddress): string | null {
    return mailboxFolder(this.#messages_dir, harness, native_id);
  }
}

function digestOf(message_id: string): string {
  return sha256Of(message_id).slice(0, 16);
}

function isOf(message_id: string): (name: EntryName) => boolean {
  const digest = digestOf(message_id);
  return ({ entry }) => entry.endsWith(digest);
}

function makeDurable(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(folder);
  syncFolder(dirname(folder));
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY' && systemCode(error) !== 'ENOENT') throw error;
  }
}

function entriesIn(folder: string): EntryName[] {
  return folderNames(folder).flatMap((name) => parseEntryName(name) ?? []);
}
