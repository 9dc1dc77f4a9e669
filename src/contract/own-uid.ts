import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from './fiber.ts';

/** Throws `ambiguous_fiber` for a document whose ULID others have: what is known by that may be theirs. */
export function requireOwnUid({ id, path, twins }: Pick<FiberDocument, 'id' | 'path' | 'twins'>): void {
  if (twins === undefined) return;
  throw new CodedError(
    'ambiguous_fiber',
    `the past of ${id} cannot be told from that of another fiber: ${[path, ...twins].join(' and ')} have one ULID; give the copy one of its own with: svc fiber new-id, and its path`,
  );
}
