import { setTimeout as pause } from 'node:timers/promises';

/** How long file operations that are under way are given to end by themselves, in milliseconds: each wait in turn. */
const WAITS_MS = [0, 10, 100];

/**
 * Ends this process with an exit code. `process.exit` waits for a file operation that a disk does not answer, so that a
 * process with such a one is replaced by a program that only exits.
 */
export async function endProcess(code: number): Promise<void> {
  for (const ms of WAITS_MS) if (hasFileOperation()) await pause(ms);
  if (hasFileOperation()) process.execve?.('/bin/sh', ['sh', '-c', 'exit "$1"', 'sh', String(code)], {});
  process.exit(code);
}

function hasFileOperation(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
