import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parse as parseToml, TomlError } from 'smol-toml';
import { messageOf, systemCode } from '../base/errors.ts';
import type { Agent } from '../contract/agent.ts';
import { findExecutable } from '../platform/find-executable.ts';
import type { HarnessFinding } from './adapter.ts';
import type { AgentEnvironment } from './agent-environment.ts';

export type FirstRunQuery = { agent: Agent; project_dir: string | null };

/** A harness's own configuration: an absent file is an empty table; `broken` tells why one cannot be used. */
export type OwnConfig = { value: Table; broken: HarnessFinding | null };
export type Table = Record<string, unknown>;

/** Reads a JSON configuration file of a harness. */
export function readJsonConfig(file: string): Promise<OwnConfig> {
  return readConfig(file, 'JSON', (text) => JSON.parse(text.replace(/^\uFEFF/, '')));
}

/** Reads a TOML configuration file of a harness. */
export function readTomlConfig(file: string): Promise<OwnConfig> {
  return readConfig(file, 'TOML', (text) => parseToml(text));
}

async function readConfig(
  file: string,
  format: string,
  parse: (text: string) => unknown,
): Promise<OwnConfig> {
  const broken = (what: string, mend: string): OwnConfig => ({
    value: {},
    broken: { severity: 'error', what, mend },
  });
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { value: {}, broken: null };
    return broken(`${file} cannot be read (${messageOf(error)})`, 'give the daemon’s user read access to it');
  }
  try {
    return { value: asTable(parse(text)), broken: null };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    const place = error instanceof TomlError ? ` at line ${error.line}` : '';
    return broken(`${file} is not valid ${format}${place} (${reason})`, 'correct it, or remove the file');
  }
}

/** A value as a table; anything that is not one is an empty table. */
export function asTable(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

/** The finding about an executable that starting the agent would not find, or none. */
export function checkExecutable(query: FirstRunQuery, environment: AgentEnvironment): HarnessFinding[] {
  const { cli, id } = query.agent;
  const file = findExecutable(cli, environment.get('PATH') ?? '', query.project_dir ?? undefined);
  if (file !== null) return [];
  const where = cli.includes('/') ? 'there is no such executable' : 'it is not on PATH';
  return [
    {
      severity: 'error',
      what: `agent ${id} runs "${cli}", and ${where}`,
      mend: `install it, or set "cli" of ${id} in agents.json to its absolute path`,
    },
  ];
}

/** A folder and its parents, from the folder up. */
export function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

/** The value of a command-line option in either spelling (`--x v`, `--x=v`), or undefined. */
export function optionValue(args: readonly string[], ...names: string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (names.includes(arg)) return args[index + 1];
    const joined = names.find((name) => arg.startsWith(`${name}=`));
    if (joined !== undefined) return arg.slice(joined.length + 1);
  }
  return undefined;
}
