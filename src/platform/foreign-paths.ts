import type { Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { systemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { createDisks, type Disks, type Proof, unansweredWords } from './disks.ts';
import { staysHere } from './foreign-mounts.ts';
import { spawnPiped } from './piped-process.ts';

/*
 * The door for paths that others control: each may be, or lead through links to, a disk that never answers, and a system call
 * there holds its thread for ever. Nothing follows such a path before this thread knows that its disk answers.
 */

let own: Disks | null = null;

/** The disks as this thread knows them; its first question about another machine's starts a checking process. */
export function threadDisks(): Disks {
  own ??= createDisks({ clock: systemClock, runner: { spawnPiped } });
  return own;
}

/**
 * Whether a path may be followed now. Only one that leads to the disk of another machine is asked about, in another process;
 * the answer counts for a second.
 */
export async function mayFollow(path: string): Promise<Proof> {
  return staysHere(path) ? 'answers' : threadDisks().prove(path);
}

/** Throws `file_unavailable`, with a sentence that names the path, for one that may not be followed now. */
export async function requireAnswer(path: string): Promise<void> {
  const proof = await mayFollow(path);
  if (proof !== 'answers') throw new CodedError('file_unavailable', unansweredWords(path, proof));
}

/** `stat` of a path that others control. Throws as `requireAnswer` does, and the system error. */
export async function statForeign(path: string): Promise<Stats> {
  await requireAnswer(path);
  return stat(path);
}

/** The names in a folder that others control. Throws as `statForeign` does. */
export async function namesInForeign(folder: string): Promise<string[]> {
  await requireAnswer(folder);
  return readdir(folder);
}

/** A path that others control with every link resolved. Throws as `statForeign` does. */
export async function realPathOfForeign(path: string): Promise<string> {
  await requireAnswer(path);
  return realpath(path);
}
