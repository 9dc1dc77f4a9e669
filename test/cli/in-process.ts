import { Readable } from 'node:stream';
import { systemClock } from '../../src/base/clock.ts';
import { parseAndRun } from '../../src/cli/command-line/run-verb.ts';
import { withSafeOutput } from '../../src/cli/command-line/safe-output.ts';
import type { CliContext, ExitCode } from '../../src/cli/command-line/verb.ts';
import type { VerbTable } from '../../src/cli/command-line/verb-table.ts';
import { VERBS } from '../../src/cli/verbs.ts';

/** What one run of a verb printed and answered; `code` is null where it threw. */
export type VerbRun = { out: string; err: string; code: ExitCode | null };

export type VerbWorld = { cwd?: string; stdin?: string; clock?: CliContext['clock']; verbs?: VerbTable };

/** Runs a command line in this process; what its verb throws is thrown. */
export async function runInProcess(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  { cwd = '/', stdin = '', clock = systemClock, verbs = VERBS }: VerbWorld = {},
  run: VerbRun = { out: '', err: '', code: null },
): Promise<VerbRun> {
  const context = withSafeOutput({
    ...{ env, cwd, clock, outIsTerminal: false },
    stdin: Readable.from([stdin]) as CliContext['stdin'],
    out: (text) => {
      run.out += text;
    },
    err: (text) => {
      run.err += text;
    },
  });
  run.code = await parseAndRun(argv, context, verbs, false);
  return run;
}
