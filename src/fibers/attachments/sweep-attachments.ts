import { type Dirent, lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import { ATTACHMENT_RETENTION_MS } from '../../contract/http/attachments.ts';

/**
 * Deletes expired files below `folder`, counted from when they were last sent, and folders that become empty (ATT-1,
 * LIM-7). Symlinks are neither followed nor deleted. Files that cannot be deleted are left for the next sweep.
 */
export function sweepAttachments(folder: string, now: number = Date.now()): void {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sweepFolder(path, now);
    else if (entry.isFile()) deleteOld(path, now);
  }
}

/** Also removes the folder itself if it is empty and not new. */
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

/** Null if it is gone or cannot be read. */
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

/** Runs one file operation; true if it succeeded. */
function quietly(step: () => void): boolean {
  try {
    step();
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
