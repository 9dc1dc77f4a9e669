import type { Death } from '../../../contract/fiber.ts';
import { asWritten } from '../../command-line/typed-command.ts';

/** A screen as lines of a page: each is marked, so that none can pass for a line of the page itself. */
export function screenLines(screen: string, indent = '  '): string {
  return asWritten(screen)
    .split('\n')
    .map((line) => `${`${indent}| ${line}`.trimEnd()}\n`)
    .join('');
}

/** The likely fix of a death and the last screen before it. */
export function deathDetails({ mend, screen }: Pick<Death, 'mend' | 'screen'>): string {
  return `Likely fix: ${mend}.\n${screen === undefined ? '' : lastScreen(screen)}`;
}

export function lastScreen(screen: string): string {
  return `Its last screen:\n${screenLines(screen)}`;
}
