import { CodedError, messageOf } from '../base/errors.ts';
import { makeFolder } from '../platform/make-folder.ts';
import type { Settings } from './settings.ts';

/** Makes the data folder where it is missing; throws `invalid_config` with the mend. */
export function makeDataDir({ data_dir }: Pick<Settings, 'data_dir'>): void {
  try {
    makeFolder(data_dir);
  } catch (error) {
    const message = `the data folder ${data_dir} cannot be made (${messageOf(error)}); set SVC_DATA_DIR to a folder of yours`;
    throw new CodedError('invalid_config', message, { cause: error });
  }
}
