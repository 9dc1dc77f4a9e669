import { isAbsolute } from 'node:path';
import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { DocumentEdit } from '../fibers/edit.ts';

/** What a verb writes into one document, in one step. `null` from a plan means that nothing has to change. */
export type PlannedEdit = Required<Pick<DocumentEdit, 'set' | 'unset'>>;

/** ISO 8601 in UTC of milliseconds since the Unix epoch. */
export function stamp(now: number): string {
  return new Date(now).toISOString();
}

/** The document becomes active and without verdict; `editDocument` removes `closed-at` with the status. */
export function armed(edit: PlannedEdit): PlannedEdit {
  return { set: { ...edit.set, status: 'active' }, unset: [...edit.unset, 'tempered'] };
}

/** Throws `no_service` for a fiber that no service verb was used on. */
export function requireService(document: FiberDocument, verb: string): void {
  if (document.svc !== undefined) return;
  throw new CodedError(
    'no_service',
    `"${document.id}" has no svc block, so there is nothing to ${verb}; use "svc install ${document.id}" first`,
  );
}

/** A directory as it may stand in a document; throws `project_dir_missing` or `invalid_request`. */
export function requireProjectDir(document: FiberDocument, given: string | undefined): string {
  const path = given ?? document.project_dir;
  if (path === undefined || path === '') {
    throw new CodedError(
      'project_dir_missing',
      `"${document.id}" has no project_dir; name the folder that its worker runs in with --project-dir`,
    );
  }
  if (!isAbsolute(path))
    throw new CodedError('invalid_request', `the project_dir "${path}" is not an absolute path`);
  return path;
}
