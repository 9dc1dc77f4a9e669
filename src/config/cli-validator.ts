import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CodedError } from '../base/errors.ts';
import type { OperatorFileId } from '../contract/operator-files.ts';
import type { ProcessResult, ProcessRunner } from '../platform/process.ts';

/** How the CLI validates a candidate: the verb, and the variable that points it at the file (OPF-2 to OPF-4). */
const VALIDATORS = {
  remotes: { args: ['remotes', 'list', '--configured', '--json'], variable: 'SVC_REMOTES_FILE' },
  agents: { args: ['agents', '--json'], variable: 'SVC_AGENTS_FILE' },
  host: { args: ['host', '--json'], variable: 'SVC_HOST_CONFIG_FILE' },
} as const satisfies Partial<Record<OperatorFileId, { args: readonly string[]; variable: string }>>;

export type ValidatedByCli = keyof typeof VALIDATORS;
export function isValidatedByCli(id: OperatorFileId): id is ValidatedByCli {
  return id in VALIDATORS;
}

/**
 * What a shell answers for a program that is not there, or cannot be started: an interpreter that is missing, say.
 * The validator itself has then said nothing.
 */
const NOT_RUN = [126, 127];
const MOST_OUTPUT_BYTES = 1024 * 1024;

/**
 * Has an external CLI validate a text that is in no operator file yet. Throws `validator_refused` with the sentence of
 * the CLI to the letter, and `cli_unavailable` when it could not be run to its end: nothing is then known of the text
 * (ERR-4, ERR-27). `timeout_ms` in milliseconds.
 */
export async function validateByCli(
  cli: { file: string; env: NodeJS.ProcessEnv; runner: Pick<ProcessRunner, 'run'>; timeout_ms: number },
  id: ValidatedByCli,
  file: string,
  text: string,
): Promise<void> {
  const { args, variable } = VALIDATORS[id];
  const folder = mkdtempSync(join(dirname(file), prefixOf(file)));
  const candidate = join(folder, basename(file));
  try {
    writeFileSync(candidate, text, { mode: 0o600 });
    // A host id of the environment would keep the CLI from reading the one of the file.
    const env = { ...cli.env, SVC_HOST: undefined, [variable]: candidate };
    const { file: program, runner, timeout_ms } = cli;
    const result = await runner.run({
      file: program,
      args,
      env,
      timeout_ms,
      max_output_bytes: MOST_OUTPUT_BYTES,
    });
    judge(program, args, timeout_ms, result);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes candidates that a daemon left which died while it had them validated. */
export function removeLeftCandidates(file: string): void {
  const folder = dirname(file);
  for (const name of readdirSync(folder))
    if (name.startsWith(prefixOf(file))) rmSync(join(folder, name), { recursive: true, force: true });
}

function prefixOf(file: string): string {
  return `.${basename(file)}.candidate-`;
}

function judge(program: string, args: readonly string[], timeout_ms: number, result: ProcessResult): void {
  if (result.kind === 'exited' && result.code === 0) return;
  if (result.kind === 'exited' && !NOT_RUN.includes(result.code))
    throw new CodedError('validator_refused', sentenceOf(result), {
      details: { validator: args.join(' '), exit_status: result.code },
    });
  const how = {
    exited: 'could not be started',
    timed_out: `did not end within ${timeout_ms / 1000} s`,
    not_started: 'could not be started',
    signalled: 'was ended by a signal',
    overflowed: 'said more than anybody could read',
  }[result.kind];
  throw new CodedError(
    'cli_unavailable',
    `${program} ${args.join(' ')} ${how}, so nothing is known of this text and nothing was written; try again, or mend SVC_CLI`,
  );
}

/** What a CLI says of a file: its `{error, message}`, or else its own words. */
function sentenceOf({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }): string {
  const text = (stderr.trim() === '' ? stdout : stderr).trim();
  try {
    const said: unknown = JSON.parse(text);
    if (typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string')
      return said.message;
  } catch {
    // A CLI may speak plainly.
  }
  return text === '' ? `the validator ended with ${code} and said nothing` : text;
}
