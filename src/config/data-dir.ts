import { realpathSync } from 'node:fs';
import { CodedError, messageOf } from '../base/errors.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { closeEntries, ensurePrivateFolder } from '../platform/private-folder.ts';
import type { Settings } from './settings.ts';

/**
 * Creates the data folder if it is missing and removes the permissions of other users on it and its content, since it
 * holds prompts, conversations and ledgers. Throws `invalid_config`, also for a folder of another user or one that all
 * users share.
 */
export function makeDataDir({ data_dir }: Pick<Settings, 'data_dir'>): void {
  try {
    makeFolder(data_dir);
  } catch (error) {
    const message = `the data folder ${data_dir} cannot be made (${messageOf(error)}); set SVC_DATA_DIR to a folder of yours`;
    throw new CodedError('invalid_config', message, { cause: error });
  }
  const folder = realpathSync(data_dir);
  ensurePrivateFolder(folder, { tighten: true });
  closeEntries(folder);
}
