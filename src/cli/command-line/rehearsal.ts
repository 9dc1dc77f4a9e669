import { type Rehearsal, type RehearsedStep, rehearsalSchema } from '../../contract/http/rehearsal.ts';
import type { DaemonClient } from '../daemon-client/client.ts';
import { asWritten } from './typed-command.ts';
import type { Answer } from './verb.ts';

/** The result of a verb with `--dry-run`. */
export function rehearsed(shown: Rehearsal): Answer {
  return { json: shown, text: rehearsalPage(shown) };
}

/** Asks the daemon what a write would do; throws the same refusal as the write. */
export async function rehearseRequest(daemon: DaemonClient, path: string, body: object): Promise<Answer> {
  return rehearsed(await daemon.post(path, { ...body, dry_run: true }, rehearsalSchema));
}

/** The page for a person; foreign text in it is escaped for the terminal. */
function rehearsalPage(shown: Rehearsal): string {
  const steps = shown.steps.map((step, at) =>
    `${at + 1}. ${capitalised(step.would)}\n\n${stepText(step)}`.trimEnd(),
  );
  const parts = [`Would ${shown.would}. Nothing was written or started.`, stepText(shown), ...steps];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** A sentence of a rehearsal without `would` before it. */
export function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function stepText({ ends, moves, documents, command, prompt, minted }: RehearsedStep): string {
  const parts: string[] = [];
  if (ends.length > 0) parts.push(`Ends      ${ends.join(', ')}`);
  for (const { from, to } of moves) parts.push(`Moves     ${from}\nto        ${to}`);
  for (const { path, diff } of documents) parts.push(`Document  ${path}\n${asWritten(diff.trimEnd())}`);
  if (command !== null)
    parts.push(
      [
        `Command   ${asWritten(command.argv.map((argument) => JSON.stringify(argument)).join(' '))}`,
        ...(command.cwd === null ? [] : [`Folder    ${command.cwd}`]),
        `Session   ${command.mux_session}`,
        ...(command.env.length === 0 ? [] : [`Variables ${command.env.join(' ')}`]),
      ].join('\n'),
    );
  if (prompt !== null) parts.push(`Prompt\n${asWritten(prompt.trimEnd())}`);
  const fresh = Object.entries(minted).map(([name, value]) => `${name} ${value}`);
  if (fresh.length > 0) parts.push(`New each time: ${fresh.join(', ')}`);
  return parts.join('\n\n');
}
