import { isAbsolute } from 'node:path';
import { CodedError } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { DocumentEdit } from '../fibers/edit.ts';

/** The edit of a verb to one document, in one write. A plan of `null` means that nothing has to change. */
export type PlannedEdit = Required<Pick<DocumentEdit, 'set' | 'unset'>>;

/** ISO 8601 in UTC of milliseconds since the Unix epoch. */
export function stamp(now: number): string {
  return new Date(now).toISOString();
}

/** The fields of an active document without a verdict; `editDocument` removes `closed-at`. */
export function armed(edit: PlannedEdit): PlannedEdit {
  return { set: { ...edit.set, status: 'active' }, unset: [...edit.unset, 'tempered'] };
}

/** Throws `no_service` for a fiber without a svc block. */
export function requireService(document: FiberDocument, verb: string): void {
  if (document.svc !== undefined) return;
  throw new CodedError(
    'no_service',
    `"${document.id}" has no svc block, so there is nothing to ${verb}; use "svc install ${document.id}" first`,
  );
}

/** Validates a directory for a document; throws `project_dir_missing` or `invalid_request`. */
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
