import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import { expandHome } from '../../config/settings.ts';
import { storesFileSchema } from '../../contract/operator-files.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';
import { operatorFilePath, readOperatorFile } from './operator-file.ts';

/** Whether the configured stores are there and can be read and written (DSP-7). */
export const checkStores: Check = ({ settings }) => {
  const { stores, source } = configuredStores(settings);
  if (stores.length === 0)
    return [
      warn(
        'stores',
        'no store is configured, so there is nothing to dispatch',
        `name one in ${source}: {"version": 1, "stores": ["/path/to/project"]}`,
      ),
    ];
  return stores.map(store);
};

function configuredStores(settings: Settings): { stores: string[]; source: string } {
  if (settings.stores !== null) return { stores: settings.stores, source: 'SVC_STORES' };
  const source = operatorFilePath(settings, 'stores');
  const file = readOperatorFile(source, storesFileSchema);
  return { stores: file.kind === 'valid' ? file.value.stores.map(expandHome) : [], source };
}

function store(root: string): Finding {
  const folder = join(root, '.fibers');
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok('store', root);
  } catch (error) {
    const code = systemCode(error);
    return code === 'ENOENT'
      ? fail('store', `${folder} does not exist`, `make it with: mkdir -p ${folder}`)
      : fail(
          'store',
          `${folder} cannot be read and written (${code ?? 'unknown error'})`,
          'give yourself access to it',
        );
  }
}
