import { alternatives } from '../../base/alternatives.ts';
import { CodedError } from '../../base/errors.ts';
import { readStores } from '../../config/path-lists.ts';
import { readSettings } from '../../config/settings.ts';
import { loadRegistry } from '../../harness/agents/registry.ts';
import { type Argument, argument } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import type { VerbTable } from '../command-line/verb-table.ts';
import { bashScript, zshScript } from './completion/bash.ts';
import { fiberWords } from './completion/fibers.ts';
import { fishScript } from './completion/fish.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/**
 * `svc completion bash|zsh|fish` prints the script for a shell. The scripts run `svc completion fibers|agents` for
 * names, which prints one per line and nothing on an error.
 */
export const completionOf = (verbs: VerbTable) =>
  defineVerb({
    summary: 'Print the completion script for your shell',
    usage: '<bash|zsh|fish>',
    arguments: {
      shell: {
        ...argument('<shell>', 'your shell', { completes: Object.keys(SCRIPTS) }),
        parse: shellName,
      } satisfies Argument<string>,
      typed: argument('[typed]', 'what a name begins with'),
    },
    examples: [
      ['source <(svc completion bash)', 'in ~/.bashrc'],
      ['source <(svc completion zsh)', 'in ~/.zshrc, after compinit'],
      ['svc completion fish > ~/.config/fish/completions/svc.fish', 'once'],
    ],
    no_json: 'it prints a script or words for a shell',
    async run(context, { shell, typed = '' }) {
      if (shell === 'fibers' || shell === 'agents') context.out(namesFor(context, shell, typed));
      else {
        const { readCommands } = await import('../command-line/command-table.ts');
        context.out(SCRIPTS[shell as keyof typeof SCRIPTS](await readCommands(verbs)));
      }
      return EXIT.ok;
    },
  });

/** A word that has something to print; the scripts themselves ask for `fibers` and `agents`. */
function shellName(text: string): string {
  const shells = Object.keys(SCRIPTS);
  if ([...shells, 'fibers', 'agents'].includes(text)) return text;
  throw new CodedError(
    'invalid_request',
    `there is no script for the shell ${text}; name ${alternatives(shells)}`,
  );
}

/** A key press must not print an error, so any failure gives no names. */
function namesFor(context: CliContext, kind: 'fibers' | 'agents', typed: string): string {
  try {
    const settings = readSettings(context.env);
    const names =
      kind === 'fibers'
        ? fiberWords(storesFor(context), typed)
        : loadRegistry(settings).agents.map((agent) => agent.id);
    return names.map((name) => `${name}\n`).join('');
  } catch {
    return '';
  }
}

function storesFor(context: CliContext): string[] {
  const { paths } = readStores(readSettings(context.env));
  return paths.length > 0 ? paths : [context.cwd];
}
