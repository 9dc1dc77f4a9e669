import { CodedError, isCoded } from '../base/errors.ts';
import { requireSafeId } from './fiber-id.ts';
import { fibersMeant, namePaths, noFiberCalled, severalCalled, tellApart } from './fiber-reference.ts';
import type { Store } from './store.ts';

/** A resolved fiber and the store that holds it. */
export type FoundFiber = { store: Store; id: string };

/**
 * Resolves a canonical id, a uid, a leaf that only one fiber has, or the beginning of one id or leaf, in that order, over
 * several stores. Throws `ambiguous_fiber` naming every match, `fiber_not_found`, or `store_unavailable` if nothing was
 * found and a store could not be searched completely.
 */
export function findFiber(stores: readonly Store[], reference: string): FoundFiber {
  requireSafeId(reference);
  const ref = reference.trim();
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
  const matches = fibersMeant(
    ref,
    rows.map(({ store, row: { id, uid } }) => ({ store, id, uid })),
  );
  if (matches.length > 0) return only(ref, matches);
  if (problems.length > 0) {
    throw new CodedError(
      'store_unavailable',
      `"${ref}" was not found, but not everything could be read: ${problems[0]}`,
    );
  }
  throw new CodedError(
    'fiber_not_found',
    noFiberCalled(
      ref,
      rows.map(({ row }) => row.id),
    ),
  );
}

function only(reference: string, matches: readonly FoundFiber[]): FoundFiber {
  const [first, ...others] = matches;
  if (first !== undefined && others.length === 0) return { store: first.store, id: first.id };
  if (others.length > 0 && others.every(({ id }) => id === first?.id)) throw sharedId(reference, matches);
  const isOneStore = matches.every(({ store }) => store === first?.store);
  const names = matches.map(({ id, store }) => (isOneStore ? id : `${id} in ${store.root}`));
  throw new CodedError('ambiguous_fiber', severalCalled(reference, names), {
    details: { matches: matches.map((match) => ({ id: match.id, store: match.store.root })) },
  });
}

/** Several stores have a fiber of this canonical id: only its uid or its store tells which one is meant. */
function sharedId(reference: string, matches: readonly FoundFiber[]): CodedError {
  const twins = matches.map(({ store, id }) => {
    const path = store.locate(id) ?? store.root;
    try {
      return { id, path, uid: store.read(id).uid };
    } catch {
      return { id, path, uid: null };
    }
  });
  return new CodedError('ambiguous_fiber', `${reference} names ${namePaths(twins)}; ${tellApart(twins)}`, {
    details: { matches: matches.map(({ store, id }) => ({ id, store: store.root })) },
  });
}
