import { alternatives } from '../../base/alternatives.ts';
import { HARNESS_NAMES } from '../../contract/harness-name.ts';
import { CONTEXT_FLAG } from '../../harness/hooks/context-mailbox.cjs';
import { hookScript } from '../../harness/hooks/hook-command.ts';
import { option } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';

/**
 * `svc hook event|context|commit`: called by agent programs and Git. `svc.cjs` usually calls `hook/run.cjs` directly; this
 * verb does the same and provides the help.
 */
async function runHook(context: CliContext, argv: string[]): Promise<ExitCode> {
  const hook = await import('../hook/run.cjs');
  await hook.runHook(argv, { env: context.env, cwd: context.cwd, script: hookScript() });
  return EXIT.ok;
}

const harnessOption = option('--harness <name>', alternatives(HARNESS_NAMES));
const argvOf = (harness: string | undefined) => (harness === undefined ? [] : ['--harness', harness]);

export const event = defineVerb({
  summary: 'Leave the hook’s JSON on stdin for the daemon, which adds it to events.jsonl; always ends with 0',
  options: {
    harness: harnessOption,
    context: option(CONTEXT_FLAG, 'print what waits for the session as context'),
  },
  examples: [['svc hook event --harness claude', 'typed by a hook of your own']],
  no_json: 'it prints nothing but what the agent program reads as context',
  run: (context, { harness, context: shows_context }) =>
    runHook(context, ['event', ...argvOf(harness), ...(shows_context === true ? [CONTEXT_FLAG] : [])]),
});

export const context = defineVerb({
  summary: 'Print what waits as context for the session of the hook’s JSON on stdin; always ends with 0',
  options: { harness: harnessOption },
  examples: [
    ['svc hook context --harness claude', 'typed by the hooks of `svc setup` while something waits'],
  ],
  no_json: 'it prints nothing but what the agent program reads as context',
  run: (around, { harness }) => runHook(around, ['context', ...argvOf(harness)]),
});

export const commit = defineVerb({
  summary:
    'Leave the last commit of this work tree for the daemon, which adds it to commits.jsonl; always ends with 0',
  examples: [['svc hook commit', 'typed by a Git hook after a commit']],
  no_json: 'it prints nothing',
  run: (context) => runHook(context, ['commit']),
});
