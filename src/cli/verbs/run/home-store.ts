import { homedir } from 'node:os';
import { join } from 'node:path';
import { changePathList, readStores } from '../../../config/path-lists.ts';
import { readSettings } from '../../../config/settings.ts';
import { initStore, Store } from '../../../fibers/store.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { followedStores, openAnswering, openOneStore, storeAround } from '../../find-fiber.ts';

/** The folder of the store that is made where a person has none yet. */
const FIRST_STORE = 'fibers';

/** The store for a task; `missing`: what of it must be made first. */
export type ChosenStore = { root: string; missing: { folder: boolean; listing: boolean } };

/** Where a task goes: into `only`, else the one listed store, else the one around this folder, else a new one at home. */
export async function chooseStore(context: CliContext, only: string | undefined): Promise<ChosenStore> {
  const { paths } = readStores(readSettings(context.env));
  if (only !== undefined || paths.length > 0) {
    const { root } = await openOneStore(context, only);
    return { root, missing: { folder: false, listing: !paths.includes(root) } };
  }
  const around = storeAround(context.cwd);
  if (around !== null) return { root: around, missing: { folder: false, listing: true } };
  const root = join(context.env.HOME || homedir(), FIRST_STORE);
  return { root, missing: { folder: storeAt(root) === null, listing: true } };
}

/** Makes what is missing of the store; afterwards a daemon works on it. */
export async function makeStore(context: CliContext, { root, missing }: ChosenStore): Promise<Store> {
  if (missing.folder) initStore(root);
  const settings = readSettings(context.env);
  if (missing.listing) await changePathList(settings, 'stores', { add: root });
  return openAnswering(context, root, followedStores(settings).includes(root));
}

/** The store as it is, or as it would be once it is made. */
export function plannedStore(context: CliContext, { root }: ChosenStore): Store {
  return new Store(root, { clock: context.clock });
}

function storeAt(root: string): string | null {
  return storeAround(root) === root ? root : null;
}
