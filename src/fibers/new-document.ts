import type { FiberStatus, Roster, SvcBlock } from '../contract/fiber.ts';
import { editDocument } from './edit.ts';

/** The initial content of a new fiber; everything but the name is optional. */
export type NewFiber = {
  name: string;
  /** Leaf of the new id; default: derived from the name. */
  slug?: string;
  /** Canonical id of the parent fiber. */
  parent?: string;
  body?: string;
  outcome?: string;
  tags?: string[];
  status?: FiberStatus;
  due?: string;
  svc?: SvcBlock;
  collaboration?: Roster;
};

/** The text of a new document. `now` is in milliseconds since the Unix epoch. */
export function newDocumentText(uid: string, fiber: NewFiber, now: number): string {
  const optional = Object.entries({
    outcome: fiber.outcome,
    due: fiber.due,
    collaboration: fiber.collaboration,
    svc: fiber.svc,
  }).filter(([, value]) => value !== undefined);
  const set = {
    id: uid,
    name: fiber.name,
    status: fiber.status ?? 'open',
    tags: fiber.tags ?? [],
    'created-at': new Date(now).toISOString(),
    ...Object.fromEntries(optional),
  };
  const body = fiber.body ?? '';
  return editDocument('', { set, body: body === '' || body.endsWith('\n') ? body : `${body}\n` }, now);
}
