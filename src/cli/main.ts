import { systemClock } from '../base/clock.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import { readBuildStamp } from '../platform/build-stamp.ts';
import { endProcess } from '../platform/end-process.ts';
import type { CliProcess } from './command-line/safe-output.ts';
import { EXIT, type ExitCode } from './command-line/verb.ts';

/** Runs the command line on this process: its streams, its environment, its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', endWithoutOutput);
  // What cannot be told there cannot be told anywhere, and the daemon goes on.
  process.stderr.on('error', () => undefined);
  // The timers of `base/clock.ts` do not keep a process alive, and a verb may wait only on these.
  const alive = setInterval(() => {}, 2 ** 30);
  let resumes = 0;
  process.on('SIGCONT', () => {
    resumes += 1;
  });
  const code = await runCli(argv, {
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    stdin: process.stdin,
    outIsTerminal: process.stdout.isTTY === true,
    ...(process.stdout.isTTY === true
      ? {
          columns: process.stdout.columns,
          size: () => ({ columns: process.stdout.columns, rows: process.stdout.rows }),
          resumes: () => resumes,
        }
      : {}),
    ...(process.stderr.isTTY === true ? { err_columns: process.stderr.columns } : {}),
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  clearInterval(alive);
  process.exitCode = code;
  // Exit only when all output is written; a verb may have left handles open.
  process.stdout.write('', () => {
    if (code === EXIT.ok && process.stdout.errored !== null) endWithoutOutput(process.stdout.errored);
    process.stderr.write('', () => void endProcess(code));
  });
}

/** Runs one command line and returns its exit code; never throws and never exits the process. */
export async function runCli(argv: readonly string[], given: CliProcess): Promise<ExitCode> {
  if (argv[0] === '--version' || argv[0] === '-V') {
    const stamp = readBuildStamp();
    given.out(`svc ${stamp.version} (${stamp.git_short_sha})\n`);
    return EXIT.ok;
  }
  const { runVerb } = await import('./command-line/run-verb.ts');
  return runVerb(argv, given);
}

/** `svc … | head` closes stdout early, which is not an error; a full disk is. */
function endWithoutOutput(error: unknown): void {
  if (systemCode(error) === 'EPIPE') process.exit(EXIT.ok);
  process.stderr.write(`svc: the output cannot be written: ${messageOf(error)}\n`);
  process.exit(EXIT.refused);
}
