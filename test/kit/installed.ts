import { findExecutable } from '../../src/platform/find-executable.ts';

/** Whether this machine has the program; a test that needs it is skipped without it, and says so in its title. */
export function isInstalled(program: string): boolean {
  return findExecutable(program, process.env.PATH ?? '') !== null;
}
