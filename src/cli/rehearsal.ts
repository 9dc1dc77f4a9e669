import { type Rehearsal, rehearsal, rehearsalSchema } from '../contract/http/rehearsal.ts';
import type { Rehearsed } from '../fibers/store.ts';
import type { DaemonClient } from './daemon-client.ts';
import { printable, printJson } from './output.ts';
import type { CliContext } from './verb.ts';

/** The option of every verb that writes. */
export const DRY_RUN = ['--dry-run', 'show what it would write and run, and do neither'] as const;

/** Prints what a verb would do. */
export function printRehearsal(context: CliContext, shown: Rehearsal, options: { json?: boolean }): void {
  if (options.json) printJson(context, shown);
  else context.out(rehearsalPage(shown));
}

/** Asks the daemon what a write would do and prints it; a refusal is thrown as the write itself would throw it. */
export async function rehearseRequest(
  context: CliContext,
  daemon: DaemonClient,
  path: string,
  body: object,
  options: { json?: boolean },
): Promise<void> {
  const shown = await daemon.post(path, { ...body, dry_run: true }, rehearsalSchema);
  printRehearsal(context, shown, options);
}

/** A write of one document by the command line itself, that was not made. */
export function rehearsalOf(verb: string, { path, diff, document }: Rehearsed): Rehearsal {
  if (diff === '') return rehearsal(`write nothing: ${document.id} is already so`);
  return rehearsal(`${verb} ${document.id}`, {
    document: { path, diff },
    minted: document.updated_at === undefined ? {} : { at: document.updated_at },
  });
}

/** One page for a person; everything of it that is not ours is made safe for a terminal. */
export function rehearsalPage(shown: Rehearsal): string {
  const { command } = shown;
  const parts = [`Would ${shown.would}. Nothing was written or started.`];
  if (shown.ends.length > 0) parts.push(`Ends      ${shown.ends.join(', ')}`);
  if (shown.document !== null)
    parts.push(`Document  ${shown.document.path}\n${shown.document.diff.trimEnd()}`);
  if (command !== null)
    parts.push(
      [
        `Command   ${command.argv.map((argument) => JSON.stringify(argument)).join(' ')}`,
        `Folder    ${command.cwd}`,
        `Session   ${command.mux_session}`,
        `Variables ${command.env.join(' ')}`,
      ].join('\n'),
    );
  if (shown.prompt !== null) parts.push(`Prompt\n${shown.prompt.trimEnd()}`);
  const minted = Object.entries(shown.minted).map(([name, value]) => `${name} ${value}`);
  if (minted.length > 0) parts.push(`Anew each time: ${minted.join(', ')}`);
  return `${parts.map(printable).join('\n\n')}\n`;
}
