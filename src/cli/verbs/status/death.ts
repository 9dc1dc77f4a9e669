import type { Death } from '../../../contract/fiber.ts';

/** A screen as lines of a page: each is marked, so that none can pass for a line of the page itself. */
export function screenLines(screen: string, indent = '  '): string {
  return screen
    .split('\n')
    .map((line) => `${`${indent}| ${line}`.trimEnd()}\n`)
    .join('');
}

/** The likely mend of a death and the last screen before it. */
export function deathDetails({ mend, screen }: Pick<Death, 'mend' | 'screen'>): string {
  const shown = screen === undefined ? '' : `Its last screen:\n${screenLines(screen)}`;
  return `Likely mend: ${mend}.\n${shown}`;
}
