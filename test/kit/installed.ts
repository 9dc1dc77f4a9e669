import { findProgram } from './find-program.ts';

/** Whether this machine has the program; a test that needs it is skipped without it, and says so in its title. */
export function isInstalled(program: string): boolean {
  return findProgram(program, process.env.PATH ?? '') !== null;
}
