import { realpathSync } from 'node:fs';
import { CodedError, messageOf } from '../base/errors.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { closeEntries, ensurePrivateFolder } from '../platform/private-folder.ts';
import type { Settings } from './settings.ts';

/**
 * Makes the data folder where it is missing, and closes it and what lies in it to other users: prompts, conversations
 * and the ledgers are in it. Throws `invalid_config` with the mend, also for a folder of another user and for one that
 * all users share.
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
