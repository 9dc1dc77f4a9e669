import { join } from 'node:path';
import { shellLine, shellWord } from '../../base/shell-word.ts';
import { HARNESS_NAMES, type HarnessName } from '../../contract/harness-name.ts';
import { packageRoot } from '../../platform/package-root.ts';

const OURS = new RegExp(`(?:\\bsvc-hook\\.sh'?| hook event --harness) (?:${HARNESS_NAMES.join('|')})(?: |$)`);

/** Path of the script that the hooks of this installation run. */
export function hookScript(): string {
  return join(packageRoot(), 'src', 'cli', 'svc-hook.sh');
}

/** Leaves an event for the daemon, and prints what waits for the session as context. */
export function hookArgv(harness: HarnessName): string[] {
  return ['/bin/sh', hookScript(), harness, process.execPath];
}

/**
 * The shell command of a hook, whose output its program reads as context. It always succeeds for the agent, even if this
 * installation was removed, and the shell becomes the hook.
 */
export function hookCommand(harness: HarnessName): string {
  return `[ ! -r ${shellWord(hookScript())} ] || exec ${shellLine(hookArgv(harness))}`;
}

/** True for a hook command that `svc setup` wrote, from this installation or another, of this version or an earlier one. */
export function isHookCommand(command: string): boolean {
  return OURS.test(command);
}

/**
 * The programs of such a command: the Node that it starts and, last, the script. None for a command of an earlier version.
 */
export function programsOf(command: string): string[] {
  const words = [...command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? ''),
  );
  const [script, , node] = words.slice(words.indexOf('exec') + 2);
  return script?.endsWith('svc-hook.sh') && node !== undefined ? [node, script] : [];
}
