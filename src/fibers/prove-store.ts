import { join } from 'node:path';
import type { Disks, Proof } from '../platform/disks.ts';
import { foreignMountsOf } from '../platform/foreign-mounts.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';

export type StoreDisks = Pick<Disks, 'prove' | 'answering'>;

/**
 * Whether the disk of a store answers. It also asks the mounts of other machines on which documents of the store may lie, so
 * that `answering` tells from then on which of them may be entered.
 */
export async function proveStore(
  disks: StoreDisks,
  root: string,
  { follow }: { follow: boolean },
): Promise<Proof> {
  const base = join(root, FIBERS_FOLDER);
  const proof = await disks.prove(base);
  if (proof !== 'answers') return proof;
  const mounts = foreignMountsOf([root, base], { anywhere: follow, answering: disks.answering() });
  await Promise.all(mounts.map((mount) => disks.prove(mount)));
  return proof;
}
