import type { Verb } from '../command-line/verb.ts';
import { EXIT } from '../command-line/verb.ts';

/**
 * `svc hook event|commit`: what agent programs and Git call to feed the ledgers. `svc.cjs` takes the short way to
 * `hook/run.cjs`; this is the same by the long way, and its help.
 */
export const verb: Verb = {
  name: 'hook',
  summary: 'Record what an agent program or Git tells',
  register(command, context, exit) {
    const run = async (argv: string[]) => {
      const { runHook } = await import('../hook/run.cjs');
      await runHook(argv, { env: context.env, cwd: context.cwd, now: () => context.clock.now() });
      exit(EXIT.ok);
    };
    command
      .command('event')
      .description('Add one line to events.jsonl from the hook’s JSON on stdin; always ends with 0')
      .option('--harness <name>', 'claude, codex or pi')
      .action((options: { harness?: string }) =>
        run(['event', ...(options.harness === undefined ? [] : ['--harness', options.harness])]),
      );
    command
      .command('commit')
      .description('Add one line to commits.jsonl for the last commit of this work tree; always ends with 0')
      .action(() => run(['commit']));
  },
};
