import { join } from 'node:path';
import { shellLine } from '../../base/shell-word.ts';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { CONTEXT_FLAG } from './context-mailbox.cjs';

const OURS = new RegExp(` hook event --harness (${HARNESS_NAMES.join('|')})( |$)`);

/** Path of the program that the hooks of this installation run. */
export function hookLauncher(): string {
  return join(packageRoot(), 'src', 'cli', 'svc.cjs');
}

export function hookArgv(harness: HarnessName): string[] {
  return [process.execPath, hookLauncher(), 'hook', 'event', '--harness', harness];
}

/**
 * The shell command of a hook, whose output its program reads as context. It always succeeds for the agent, even if this
 * installation is broken or removed.
 */
export function hookCommand(harness: HarnessName): string {
  return `${shellLine([...hookArgv(harness), CONTEXT_FLAG])} 2>/dev/null || true`;
}

/** True if the program adds the output of this hook command as context. */
export function showsContext(command: string): boolean {
  return command.includes(` ${CONTEXT_FLAG} 2>`);
}

/** True for a hook command that `svc setup` wrote, from this installation or another. */
export function isHookCommand(command: string): boolean {
  return OURS.test(command);
}

/** The words of such a command that run `svc`. */
export function programOf(command: string): string[] {
  const words = [...command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''),
  );
  return words.slice(0, Math.max(words.indexOf('hook'), 0));
}
