import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findProgram } from './find-program.ts';

const STRACE = findProgram('strace', process.env.PATH ?? '');

/** Why system calls cannot be traced here, or null when they can. */
export const noTrace: string | null =
  STRACE === null
    ? 'strace is not installed'
    : spawnSync(STRACE, ['-o', '/dev/null', '/bin/true']).status === 0
      ? null
      : 'this system does not permit tracing';

/** argv before a program that writes down its calls, and those of all it starts, to `file`. */
export function traced(calls: string, file: string): string[] {
  return [STRACE ?? 'strace', '-f', '-qq', '-s', '4096', '-e', `trace=${calls}`, '-o', file];
}

/** The lines of a trace that was written so far; each begins with the id of the thread that called. */
export function traceLines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n');
}
