import { createInterface } from 'node:readline';
import { CodedError } from '../../base/errors.ts';
import { shellLine } from '../../base/shell-word.ts';
import { type Rehearsal, rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { capitalised } from './rehearsal.ts';
import { type CliContext, EXIT, type Outcome, type Verb } from './verb.ts';

/** For `asks` of a verb that is harmless while no worker runs; `shown` as there. */
export function endsWorkers(shown: Rehearsal | null): boolean {
  return shown === null || shown.ends.length > 0;
}

/** The same for a verb that ends a worker in the course of things: only work that it cuts off is asked about. */
export function interruptsWorkers(shown: Rehearsal | null): boolean {
  return shown === null || (shown.interrupts ?? []).length > 0;
}

/**
 * Asks before a verb that says so of what it was given, with the sentence of its rehearsal. Null lets it go on; an
 * outcome is what it ends with instead. Throws `invalid_request` where nobody can be asked. `typed` are the words after
 * `svc`.
 */
export async function askFirst(
  { asks, run }: Verb,
  context: CliContext,
  given: { yes?: boolean; dry_run?: boolean; json?: boolean },
  typed: readonly string[],
): Promise<Outcome | null> {
  if (asks === undefined || given.yes === true || given.dry_run === true) return null;
  if (!asks(given as never, null)) return null;
  const outcome = await run(context, { ...given, dry_run: true } as never);
  const shown = rehearsalSchema.safeParse(typeof outcome === 'number' ? null : outcome.json);
  // It has nothing to do, or is refused, and says so.
  if (!shown.success) return outcome;
  if (!asks(given as never, shown.data)) return null;
  const { would } = shown.data;
  const silent =
    given.json === true ? 'with --json' : context.stdin.isTTY === true ? null : 'without a terminal';
  if (silent !== null)
    throw new CodedError(
      'invalid_request',
      `nothing was done: this would ${would}, and ${silent} nobody is asked whether it may; if it may: ${withYes(typed)}`,
    );
  if (await confirm(context, `${capitalised(would)}?`)) return null;
  return { json: null, text: 'Nothing was done.\n', exit: EXIT.refused };
}

/** The same command line, answered beforehand. */
function withYes(typed: readonly string[]): string {
  const end = typed.indexOf('--');
  const at = end === -1 ? typed.length : end;
  return shellLine(['svc', ...typed.slice(0, at), '--yes', ...typed.slice(at)]);
}

/** Asks a person at the terminal, where only `y` or `yes` goes on. */
export async function confirm(context: CliContext, question: string): Promise<boolean> {
  context.err(`${question} [y/N] `);
  const lines = createInterface({ input: context.stdin });
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return /^\s*y(es)?\s*$/i.test(value ?? '');
  } finally {
    lines.close();
  }
}
