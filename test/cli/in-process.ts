import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { withSafeOutput } from '../../src/cli/command-line/safe-output.ts';
import type { ExitCode, Verb } from '../../src/cli/command-line/verb.ts';

/** What one run of a verb printed and answered. */
export type VerbRun = { out: string; err: string; code: ExitCode | null };

/** Runs a verb in this process; what it throws is thrown. */
export async function runInProcess(verb: Verb, args: string[], env: NodeJS.ProcessEnv): Promise<VerbRun> {
  const run: VerbRun = { out: '', err: '', code: null };
  const command = new Command(verb.name).exitOverride();
  verb.register(
    command,
    withSafeOutput({
      env,
      cwd: '/',
      clock: systemClock,
      stdin: process.stdin,
      out: (text) => {
        run.out += text;
      },
      err: (text) => {
        run.err += text;
      },
      outIsTerminal: false,
    }),
    (code) => {
      run.code = code;
    },
  );
  await command.parseAsync(args, { from: 'user' });
  return run;
}
