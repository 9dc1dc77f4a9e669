import { Argument } from 'commander';
import { readStores } from '../../config/path-lists.ts';
import { readSettings } from '../../config/settings.ts';
import { loadRegistry } from '../../harness/agents/registry.ts';
import { type CliContext, EXIT, type Verb } from '../command-line/verb.ts';
import type { VerbRow } from '../command-line/verb-row.ts';
import { bashScript, zshScript } from './completion/bash.ts';
import { fiberWords } from './completion/fibers.ts';
import { fishScript } from './completion/fish.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/**
 * `svc completion bash|zsh|fish` prints the script for a shell; the scripts ask `svc completion fibers|agents` for
 * names, which answers one a line and nothing at all where it cannot know.
 */
export function createCompletionVerb(verbs: readonly VerbRow[]): Verb {
  return {
    name: 'completion',
    summary: 'Print the completion script for your shell',
    register(command, context, exit) {
      command
        .usage('<bash|zsh|fish>')
        .addArgument(
          new Argument('<shell>', 'your shell; the scripts themselves ask for fibers and agents').choices([
            ...Object.keys(SCRIPTS),
            'fibers',
            'agents',
          ]),
        )
        .argument('[typed]', 'what a name begins with')
        .action(async (shell: keyof typeof SCRIPTS | 'fibers' | 'agents', typed = '') => {
          if (shell === 'fibers' || shell === 'agents') context.out(namesFor(context, shell, typed));
          else {
            const { readCommands } = await import('../command-line/command-table.ts');
            context.out(SCRIPTS[shell](await readCommands(verbs)));
          }
          exit(EXIT.ok);
        });
    },
  };
}

/** A key press must not answer with an error text, so whatever fails is no names. */
function namesFor(context: CliContext, kind: 'fibers' | 'agents', typed: string): string {
  try {
    const settings = readSettings(context.env);
    const names =
      kind === 'fibers'
        ? fiberWords(storesFor(context), typed)
        : loadRegistry(settings).registry.agents.map((agent) => agent.id);
    return names.map((name) => `${name}\n`).join('');
  } catch {
    return '';
  }
}

function storesFor(context: CliContext): string[] {
  const { paths } = readStores(readSettings(context.env));
  return paths.length > 0 ? paths : [context.cwd];
}
