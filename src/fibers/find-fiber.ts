import { CodedError, isCoded } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { isSafeId, isUlid } from './fiber-id.ts';
import type { Store } from './store.ts';

/** A resolved fiber and the store that holds it. */
export type FoundFiber = { store: Store; id: string };

/**
 * Resolves a canonical id, a uid or a leaf that only one fiber has, in that order, over several stores. Throws
 * `ambiguous_fiber` naming every match, `fiber_not_found`, or `store_unavailable` if nothing was found and a store
 * could not be searched completely.
 */
export function findFiber(stores: readonly Store[], reference: string): FoundFiber {
  const ref = reference.trim();
  if (!isSafeId(ref)) throw new CodedError('invalid_request', `"${reference}" cannot be the id of a fiber`);
  const byId = stores.filter((store) => store.locate(ref) !== null);
  if (byId.length > 0)
    return only(
      ref,
      byId.map((store) => ({ store, id: ref })),
    );
  const problems: string[] = [];
  const rows = stores.flatMap((store) => {
    try {
      const listing = store.list();
      problems.push(...listing.errors.map((error) => `${error.path}: ${error.message}`));
      return listing.documents.map((row) => ({ store, row }));
    } catch (error) {
      if (!isCoded(error, 'store_unavailable')) throw error;
      problems.push(error.message);
      return [];
    }
  });
  const named = (test: (row: FiberDocument) => boolean) =>
    rows.filter(({ row }) => test(row)).map(({ store, row }) => ({ store, id: row.id }));
  const byUid = isUlid(ref) ? named((row) => row.uid?.toUpperCase() === ref.toUpperCase()) : [];
  const matches = byUid.length > 0 ? byUid : named((row) => row.leaf === ref);
  if (matches.length > 0) return only(ref, matches);
  if (problems.length > 0) {
    throw new CodedError(
      'store_unavailable',
      `"${ref}" was not found, but not everything could be read: ${problems[0]}`,
    );
  }
  const searched = stores.map((store) => store.root).join(', ');
  throw new CodedError(
    'fiber_not_found',
    `no fiber "${ref}" in ${searched || 'any store'}; "svc fiber ls" lists them`,
  );
}

function only(reference: string, matches: FoundFiber[]): FoundFiber {
  if (matches.length === 1) return matches[0]!;
  const names = matches.map((match) => `${match.id} in ${match.store.root}`);
  throw new CodedError(
    'ambiguous_fiber',
    `"${reference}" names ${names.join(' and ')}; give the uid or the whole id`,
    {
      details: { matches: matches.map((match) => ({ id: match.id, store: match.store.root })) },
    },
  );
}
