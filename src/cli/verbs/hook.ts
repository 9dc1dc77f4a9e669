import { alternatives } from '../../base/alternatives.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import { CONTEXT_FLAG } from '../../harness/hooks/context-mailbox.cjs';
import { option } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';

/**
 * `svc hook event|commit`: called by agent programs and Git to record ledger lines. `svc.cjs` usually calls
 * `hook/run.cjs` directly; this verb does the same and provides the help.
 */
async function runHook(context: CliContext, argv: string[]): Promise<ExitCode> {
  const hook = await import('../hook/run.cjs');
  await hook.runHook(argv, { env: context.env, cwd: context.cwd, now: () => context.clock.now() });
  return EXIT.ok;
}

export const event = defineVerb({
  summary: 'Add one line to events.jsonl from the hook’s JSON on stdin; always ends with 0',
  options: {
    harness: option('--harness <name>', alternatives(HARNESS_NAMES)),
    context: option(CONTEXT_FLAG, 'print what waits for the session as context'),
  },
  examples: [['svc hook event --harness claude --context', 'typed by the hooks that `svc setup` installs']],
  no_json: 'it prints nothing but what the agent program reads as context',
  run: (context, { harness, context: shows_context }) =>
    runHook(context, [
      'event',
      ...(harness === undefined ? [] : ['--harness', harness]),
      ...(shows_context === true ? [CONTEXT_FLAG] : []),
    ]),
});

export const commit = defineVerb({
  summary: 'Add one line to commits.jsonl for the last commit of this work tree; always ends with 0',
  examples: [['svc hook commit', 'typed by a Git hook after a commit']],
  no_json: 'it prints nothing',
  run: (context) => runHook(context, ['commit']),
});
