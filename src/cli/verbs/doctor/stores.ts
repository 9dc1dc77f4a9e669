import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { isCoded, systemCode } from '../../../base/errors.ts';
import { readStores } from '../../../config/path-lists.ts';
import { identifyStore } from '../../../fibers/identify-store.ts';
import { storeAway, storeFault } from '../../../fibers/store-away.ts';
import { type Check, type DoctorContext, type Finding, fail, lack, ok } from './check.ts';
import { isDiskFull } from './full-disk.ts';

/** Whether the configured stores exist and can be read and written (DSP-7). */
export const checkStores: Check = async ({ settings, disks }) => {
  try {
    const { paths, followed, source } = readStores(settings);
    if (paths.length > 0) {
      const seen = new Map<string, string>();
      const found = await Promise.all(paths.map((root) => store(root, followed.includes(root), disks)));
      return found.map((finding, at) => {
        const root = paths[at]!;
        const alias = finding.level === 'ok' ? aliasOf(root, seen) : null;
        return alias === null
          ? finding
          : fail('store', `${root} is the same store as ${alias}`, `take ${root} out of the list of stores`);
      });
    }
    const mend =
      source === 'environment' ? 'name one in SVC_STORES: /path/to/project' : 'svc fiber init ~/fibers';
    return [lack('store', 'no store', mend)];
  } catch (error) {
    // The check of the operator files reports a fault of the file.
    if (isCoded(error, 'invalid_config')) return [];
    throw error;
  }
};

/** The path under which a store was seen before; null for a first one, which is noted. */
function aliasOf(root: string, seen: Map<string, string>): string | null {
  const identity = identifyStore(root);
  const before = seen.get(identity);
  seen.set(identity, before ?? root);
  return before ?? null;
}

async function store(root: string, follow: boolean, disks: DoctorContext['disks']): Promise<Finding> {
  const folder = join(root, '.fibers');
  if ((await disks.prove(folder)) !== 'answers')
    return fail(
      'store',
      `the disk of ${root} does not answer`,
      'mount it again; the other stores still work',
    );
  const away = storeAway(root);
  if (away !== null) {
    const { said, mend } = storeFault(root, away);
    return fail('store', said, mend);
  }
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (isDiskFull(folder))
      return fail('store', `no space is left on the disk of ${root}`, 'free space there');
    return ok('store', follow ? `${root} (documents may be links out of it)` : root);
  } catch (error) {
    const code = systemCode(error);
    return fail(
      'store',
      `${folder} cannot be written (${code ?? 'unknown error'})`,
      code === 'EROFS' ? 'remount its file system writable' : 'give yourself access to it',
    );
  }
}
