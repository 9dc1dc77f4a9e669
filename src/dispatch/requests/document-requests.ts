import { CodedError } from '../../base/errors.ts';
import type { CreateFiber, EditFiber } from '../../contract/http/fibers.ts';
import type { DocumentEdit } from '../../fibers/edit.ts';
import type { NewFiber } from '../../fibers/new-document.ts';
import { requireRoster, rosterEdit } from '../../fibers/roster.ts';

/** Keys that no edit may touch: who a fiber is never changes. */
const FIXED_KEYS = ['id', 'created-at'];

/** The edit that `POST /fiber-edit` asks for; throws `invalid_request` for one that no document may take. */
export function documentEdit(request: EditFiber): DocumentEdit {
  const { fiber_id, origin, dry_run, expected_digest, restores, collaboration, set, unset, body, ...fields } =
    request;
  const named = [...Object.keys(set ?? {}), ...(unset ?? [])].find((path) =>
    /^collaboration(\.|$)/.test(path),
  );
  if (named !== undefined)
    throw new CodedError(
      'invalid_request',
      `"${named}" is part of the roster; send the whole of it as collaboration, without any other change`,
    );
  const others = [...Object.keys(fields), ...Object.keys(set ?? {}), ...(unset ?? [])];
  if (collaboration !== undefined && (others.length > 0 || body !== undefined))
    throw new CodedError(
      'invalid_request',
      'collaboration is an assignment of its own; send it without any other change of the document',
    );
  if (collaboration !== undefined) return rosterEdit(collaboration);
  const fixed = others.find((key) => FIXED_KEYS.includes(key));
  if (fixed !== undefined)
    throw new CodedError('invalid_request', `"${fixed}" is given at creation and never changes`);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    set: { ...Object.fromEntries(given.filter(([, value]) => value !== null)), ...set },
    unset: [...given.filter(([, value]) => value === null).map(([key]) => key), ...(unset ?? [])],
    ...(body === undefined ? {} : { body }),
  };
}

/** The new fiber that `POST /fiber/create` asks for, with its parent as a canonical id. */
export function newFiber(request: CreateFiber, parent: string | undefined): NewFiber {
  const { store, origin, dry_run, parent: _asked, ...fiber } = request;
  if (fiber.collaboration !== undefined) requireRoster(fiber.collaboration);
  return { ...fiber, ...(parent === undefined ? {} : { parent }) };
}

/** The store a new fiber goes to: the one asked for, its parent's, or the only one. */
export function storeForNew(
  roots: readonly string[],
  asked: string | undefined,
  parent_store: string | undefined,
): string {
  if (asked !== undefined) {
    if (roots.includes(asked)) return asked;
    throw new CodedError('store_not_found', `${asked} is not polled by this daemon; it polls ${list(roots)}`);
  }
  if (parent_store !== undefined) return parent_store;
  const [only] = roots;
  if (only !== undefined && roots.length === 1) return only;
  throw new CodedError(
    'invalid_request',
    roots.length === 0
      ? 'this daemon polls no store yet; name one with SVC_STORES or in stores.json'
      : `name the store; this daemon polls ${list(roots)}`,
  );
}

function list(roots: readonly string[]): string {
  return roots.length === 0 ? 'none' : roots.join(', ');
}
