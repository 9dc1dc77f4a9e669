import { lstatSync, type Stats, statSync } from 'node:fs';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { ConfigEntry, ConfigFile, OperatorFileError } from '../contract/http/config.ts';
import type { OperatorFileId } from '../contract/operator-files.ts';
import type { LockOwner } from '../platform/file-lock.ts';
import { isValidatedByCli, removeLeftCandidates, type ValidatedByCli } from './cli-validator.ts';
import { parseHostFile } from './host-file.ts';
import { checkHostId } from './host-identity.ts';
import {
  commitChange,
  digestOf,
  type OperatorChange,
  readExactText,
  readReplaced,
} from './operator-change.ts';
import { withOperatorLock } from './operator-lock.ts';
import { parsePathList } from './path-lists.ts';
import { OPERATOR_FILES, operatorFilePaths } from './paths.ts';
import { parseRemotes } from './remotes.ts';
import { SETTINGS, type Settings } from './settings.ts';

export type OperatorFilesOptions = {
  settings: Settings;
  /** Checks the text of an agents file; throws `invalid_config`. */
  checkAgents(file: string, text: string): void;
  /** Validates a text by an external CLI; null for the bundled CLI, whose functions are called directly. */
  validateByCli: ((id: ValidatedByCli, file: string, text: string) => Promise<void>) | null;
  owner?: LockOwner;
};

/** Reads and writes the operator files as text (OPF-1), never as re-encoded values. */
export class OperatorFiles {
  readonly #options: OperatorFilesOptions;

  constructor(options: OperatorFilesOptions) {
    this.#options = options;
  }

  /** Every operator file (RPL-7, REC-2). */
  list(): ConfigEntry[] {
    return OPERATOR_FILES.map((id) => this.entry(id));
  }

  /** What is wrong with each file that is in use and not valid, or cannot be read. */
  errors(): OperatorFileError[] {
    return OPERATOR_FILES.map((id) => this.error(id)).filter((error) => error !== null);
  }

  /** What is wrong with one file; null if nothing is, or if it is not in use. */
  error(id: OperatorFileId): OperatorFileError | null {
    const { settings } = this.#options;
    const path = operatorFilePaths(settings)[id];
    // SVC_HOST gives the id alone; the rest of host.json still counts.
    if (variablesOf(settings, id).overridden_by !== null && id !== 'host') return null;
    try {
      const text = readExactText(path);
      if (text !== null) this.#check(id, path, text);
      return null;
    } catch (error) {
      return { file: id, path, error: messageOf(error) };
    }
  }

  /** One file's text with its digest (OPF-6, REC-3); throws `invalid_config` for bytes that are no text. */
  read(id: OperatorFileId): ConfigFile {
    const entry = this.entry(id);
    const text = readExactText(entry.path);
    const problem = text === null ? null : problemOf(() => this.#check(id, entry.path, text));
    const isList = id === 'stores' || id === 'projects';
    const entries =
      !isList || problem !== null ? null : text === null ? [] : parsePathList(id, entry.path, text);
    return { ...entry, exists: text !== null, text: text ?? '', digest: digestOf(text), entries, problem };
  }

  /**
   * Plans a write of this text after validating it; a blank text means no file. Throws `conflict`, `validator_refused`
   * with the validator's message, or `cli_unavailable` if the text could not be validated.
   */
  async plan(id: OperatorFileId, text: string, expected_digest?: string): Promise<OperatorChange> {
    const file = operatorFilePaths(this.#options.settings)[id];
    const before = readReplaced(file, expected_digest);
    const after = text.trim() === '' ? null : text;
    // Also what the file has already: it may have been invalid before.
    if (after !== null) await this.#validate(id, file, after);
    return { file, before, after };
  }

  /** Applies a planned change. Only this takes the file's lock, since validation before it may be slow. */
  write({ file, after }: OperatorChange, expected_digest?: string): Promise<OperatorChange> {
    return withOperatorLock(
      file,
      () => {
        const before = readReplaced(file, expected_digest);
        const change = { file, before, after };
        commitChange(change);
        return change;
      },
      this.#options.owner,
    );
  }

  async #validate(id: OperatorFileId, file: string, text: string): Promise<void> {
    const { validateByCli, owner } = this.#options;
    if (validateByCli !== null && isValidatedByCli(id)) {
      await withOperatorLock(file, () => removeLeftCandidates(file), owner);
      return validateByCli(id, file, text);
    }
    try {
      this.#check(id, file, text);
    } catch (error) {
      if (!isCoded(error, 'invalid_config')) throw error;
      throw new CodedError('validator_refused', messageOf(error), { details: error.details, cause: error });
    }
  }

  /** The validators that the commands of `svc` use too; they throw `invalid_config`. */
  #check(id: OperatorFileId, file: string, text: string): void {
    if (id === 'agents') this.#options.checkAgents(file, text);
    else if (id === 'remotes') parseRemotes(file, text);
    else if (id === 'host') {
      const { host } = parseHostFile(file, text);
      if (host !== undefined) checkHostId(host.trim(), `host in ${file}`);
    } else parsePathList(id, file, text);
  }

  /** What lies at the path of one file. */
  entry(id: OperatorFileId): ConfigEntry {
    const { settings } = this.#options;
    const path = operatorFilePaths(settings)[id];
    const stat = lookAt(path);
    return {
      id,
      path,
      exists: stat !== null,
      size: stat?.size ?? null,
      mtime: stat === null ? null : Math.round(stat.mtimeMs),
      ...variablesOf(settings, id),
    };
  }
}

/** What lies at a path; of a link that leads nowhere, the link itself. Null for nothing. */
function lookAt(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  }
}

/** The message of what a check throws for a file that is not valid; null if it throws nothing. */
function problemOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!isCoded(error, 'invalid_config')) throw error;
    return error.message;
  }
}

/** The variable that overrides the file's content, and the one that gives its path. */
function variablesOf(
  settings: Settings,
  id: OperatorFileId,
): Pick<ConfigEntry, 'overridden_by' | 'path_from'> {
  const set = (name: 'stores' | 'projects' | 'host' | 'agents_file' | 'remotes_file' | 'host_config_file') =>
    settings[name] === null ? null : SETTINGS[name].env;
  switch (id) {
    case 'stores':
    case 'projects':
      return { overridden_by: set(id), path_from: null };
    case 'agents':
      return { overridden_by: null, path_from: set('agents_file') };
    case 'remotes':
      return { overridden_by: null, path_from: set('remotes_file') };
    case 'host':
      return { overridden_by: set('host'), path_from: set('host_config_file') };
  }
}
