import { createInterface } from 'node:readline';
import { option } from './options.ts';
import type { CliContext } from './verb.ts';

/** The option that answers the question of `confirm` beforehand. */
export const YES = option('--yes', 'do not ask; without a terminal nothing is asked');

/** Asks a person at a terminal, where only `y` or `yes` goes on; true without a terminal, for scripts. */
export async function confirm(context: CliContext, question: string): Promise<boolean> {
  if (context.stdin.isTTY !== true) return true;
  context.out(`${question} [y/N] `);
  const lines = createInterface({ input: context.stdin });
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return /^\s*y(es)?\s*$/i.test(value ?? '');
  } finally {
    lines.close();
  }
}
