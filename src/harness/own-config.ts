import { parse as parseToml, TomlError } from 'smol-toml';
import { messageOf, systemCode } from '../base/errors.ts';
import { parseCommented } from '../config/json-splice.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularText } from '../platform/regular-file.ts';
import type { HarnessFinding } from './adapter.ts';
import { asTable, type Table } from './table.ts';

/**
 * A harness's own configuration: an empty table if the file does not exist; `broken` says why a file cannot be used.
 */
export type OwnConfig = { value: Table; broken: HarnessFinding | null };

/** Text of a file of a harness; null if it does not exist or cannot be read. */
export async function readOwnText(file: string): Promise<string | null> {
  try {
    return await readRegularText(file, READ_LIMITS.harness_config);
  } catch {
    return null;
  }
}

/** Settings of a harness, from JSON, where comments may stand, or TOML; an empty table where they cannot be read. */
export async function ownTable(file: string): Promise<Table> {
  const text = (await readOwnText(file))?.replace(/^\uFEFF/, '') ?? '';
  try {
    return asTable(file.endsWith('.toml') ? parseToml(text) : parseCommented(text));
  } catch {
    return {};
  }
}

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
    text = await readRegularText(file, READ_LIMITS.harness_config);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { value: {}, broken: null };
    return broken(
      `${file} cannot be read (${messageOf(error)})`,
      'give the user of the daemon read permission',
    );
  }
  try {
    return { value: asTable(parse(text)), broken: null };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    const place = error instanceof TomlError ? ` at line ${error.line}` : '';
    return broken(`${file} is not valid ${format}${place} (${reason})`, 'correct it, or remove the file');
  }
}
