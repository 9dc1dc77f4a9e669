import { FIBER_STATUSES, SURFACES } from '../../../contract/fiber.ts';
import type { CommandFacts, OptionFacts } from '../../command-line/command-table.ts';

/** What can stand in a place of a command line: names that are asked for, folders, fixed words, or anything. */
export type Place =
  | { kind: 'fibers' }
  | { kind: 'agents' }
  | { kind: 'folders' }
  | { kind: 'words'; words: string[] }
  | null;

/** What the value of an option is, judged by its name. */
export function placeOfOption(option: OptionFacts): Place {
  const [name] = option.names.slice(-1);
  if (option.value === null) return null;
  if (name === '--agent') return { kind: 'agents' };
  if (name === '--parent') return { kind: 'fibers' };
  if (name === '--status') return { kind: 'words', words: [...FIBER_STATUSES] };
  if (name === '--surface') return { kind: 'words', words: [...SURFACES] };
  if (name === '--resume-mode') return { kind: 'words', words: ['previous', 'fresh', 'continue'] };
  if (name === '--harness') return { kind: 'words', words: ['claude', 'codex', 'pi'] };
  return option.value === 'dir' ? { kind: 'folders' } : null;
}

/** What an argument is, judged by its name; `position` counts from 0. */
export function placeOfArgument(command: CommandFacts, position: number): Place {
  const name = command.arguments[position]?.name;
  if (command.path[0] === 'completion') return { kind: 'words', words: ['bash', 'zsh', 'fish'] };
  if (name === 'fiber' || name === 'fiber|session') return { kind: 'fibers' };
  if (name === 'agent') return { kind: 'agents' };
  if (name === 'harness') return { kind: 'words', words: ['claude', 'codex', 'pi'] };
  return name === 'dir' ? { kind: 'folders' } : null;
}
