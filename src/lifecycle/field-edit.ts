import type { FiberDocument } from '../contract/fiber.ts';
import type { DocumentEdit } from '../fibers/edit.ts';
import { served } from './rearm.ts';

/** True for an edit of fields that arms a closed service. */
export function armsClosed(document: Pick<FiberDocument, 'status' | 'svc'>, edit: DocumentEdit): boolean {
  return document.status === 'closed' && document.svc !== undefined && edit.set?.status === 'active';
}

/**
 * An edit of fields, with the marks that a verb leaves where it arms a closed service: its conversation is over, and a
 * standing role counts from now (RES-8, LIF-6). `now` is in milliseconds since the Unix epoch.
 */
export function planFieldEdit(
  document: FiberDocument,
  edit: DocumentEdit,
  { running }: { running: boolean },
  now: number,
): DocumentEdit {
  if (!armsClosed(document, edit)) return edit;
  const { set = {}, unset = [] } = edit;
  return { ...edit, set: { ...set, ...served(document, { set, unset }, running, now) } };
}
