import { type Dirent, lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import { ATTACHMENT_RETENTION_MS } from '../../contract/http/attachments.ts';

/**
 * Deletes the files below `folder` that were last sent longer ago than they are kept, and the folders that this
 * empties (ATT-1, LIM-7). Links are neither followed nor deleted. What cannot be deleted is left for the next time.
 */
export function sweepAttachments(folder: string, now: number = Date.now()): void {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sweepFolder(path, now);
    else if (entry.isFile()) deleteOld(path, now);
  }
}

/** Also takes the folder itself away when nothing is left in it, and nobody has just made it. */
function sweepFolder(path: string, now: number): void {
  const made = modified(path);
  let deleted = false;
  for (const entry of entriesOf(path)) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) sweepFolder(inside, now);
    else if (entry.isFile()) deleted = deleteOld(inside, now) || deleted;
  }
  if (deleted || isOld(made, now)) quietly(() => rmdirSync(path));
}

function deleteOld(path: string, now: number): boolean {
  return isOld(modified(path), now) && quietly(() => unlinkSync(path));
}

function isOld(at: number | null, now: number): boolean {
  return at !== null && now - at > ATTACHMENT_RETENTION_MS;
}

/** Null where it is gone or is not told. */
function modified(path: string): number | null {
  let at: number | null = null;
  quietly(() => {
    at = lstatSync(path).mtimeMs;
  });
  return at;
}

function entriesOf(folder: string): Dirent[] {
  let entries: Dirent[] = [];
  quietly(() => {
    entries = readdirSync(folder, { withFileTypes: true });
  });
  return entries;
}

/** Runs one step at the disk; true when the system took it. */
function quietly(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
