import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { jsonOf } from '../base/json-text.ts';
import type { OperatorFileId } from '../contract/operator-files.ts';
import type { ProcessResult, ProcessRunner } from '../platform/process.ts';

/** How the CLI validates a candidate text: the verb, and the variable with the path of the file (OPF-2 to OPF-4). */
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
 * Exit codes of a shell for a program that is missing or cannot be started, for example without its interpreter. The
 * validator itself did not run.
 */
const NOT_RUN = [126, 127];
const MOST_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs an external CLI to validate a text before it is written to an operator file. Throws `validator_refused` with the
 * exact message of the CLI, or `cli_unavailable` if the CLI did not run to its end, so that the validity of the text is
 * unknown (ERR-4, ERR-27).
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
    // With `SVC_HOST` set, the CLI would not read the host id of the file.
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

/** Removes candidate files of a daemon that died during a validation. */
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
    overflowed: 'printed too much',
  }[result.kind];
  throw new CodedError(
    'cli_unavailable',
    `${program} ${args.join(' ')} ${how}, so this text was not checked and nothing was written; try again, or correct SVC_CLI`,
  );
}

/** The message of a CLI about a file: from its `{error, message}`, else its plain output. */
function sentenceOf({ stdout, stderr, code }: { stdout: string; stderr: string; code: number }): string {
  const text = (stderr.trim() === '' ? stdout : stderr).trim();
  const said = jsonOf(text);
  if (typeof said === 'object' && said !== null && 'message' in said && typeof said.message === 'string')
    return said.message;
  return text === '' ? `the validator exited with ${code} and printed nothing` : text;
}
