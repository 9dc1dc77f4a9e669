import { join } from 'node:path';
import type { FiberDocument } from '../../contract/fiber.ts';
import { FIBERS_FOLDER, isSafeId } from '../../fibers/fiber-id.ts';
import type { World } from '../world/world.ts';

/** Folder, in a store or beside its documents, with one document for each role. */
const ROLES = 'roles';

/**
 * The folder that describes a role of the fiber's roster (PRM-6): the `role_store` of `host.json`, itself a folder of
 * documents or a store, else `roles` in the fiber's own store. Null where no role of the roster has a document there.
 */
export async function findRoleStore(
  world: Pick<World, 'lookAtDirectory' | 'role_store'>,
  { collaboration = {}, store }: Pick<FiberDocument, 'collaboration' | 'store'>,
): Promise<string | null> {
  const roles = Object.keys(collaboration).filter((role) => isSafeId(role) && !role.includes('/'));
  const { role_store } = world;
  const folders =
    role_store === null
      ? [join(store, FIBERS_FOLDER, ROLES), join(store, ROLES)]
      : [role_store, join(role_store, FIBERS_FOLDER)];
  for (const folder of folders)
    for (const role of roles)
      for (const document of [`${role}.md`, join(role, `${role}.md`)])
        if ((await world.lookAtDirectory(join(folder, document))).kind === 'not_directory') return folder;
  return null;
}
