import { CodedError } from '../base/errors.ts';
import { type Roster, rosterSchema } from '../contract/fiber.ts';
import { isUlid } from './fiber-id.ts';

const READABLE = /^[a-z0-9][a-z0-9._-]{0,79}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Validates a collaboration roster for a document (FIB-13): role slugs, each with collaborator slugs, readable names
 * only. Throws `invalid_request` naming the invalid one.
 */
export function requireRoster(value: unknown): Roster {
  const parsed = rosterSchema.safeParse(value);
  if (!parsed.success)
    throw new CodedError(
      'invalid_request',
      'a roster is a map of roles to lists of collaborators, such as {"reviewer": ["ada"], "editor": []}',
    );
  for (const [role, collaborators] of Object.entries(parsed.data)) {
    requireName('role', role);
    for (const name of collaborators) requireName('collaborator', name);
    if (new Set(collaborators).size < collaborators.length)
      throw new CodedError('invalid_request', `the role "${role}" names a collaborator twice`);
  }
  return parsed.data;
}

/** The edit that replaces the whole roster; an empty one removes it. */
export function rosterEdit(roster: Roster): { set: Record<string, unknown>; unset: string[] } {
  const checked = requireRoster(roster);
  return Object.keys(checked).length === 0
    ? { set: {}, unset: ['collaboration'] }
    : { set: { collaboration: checked }, unset: [] };
}

function requireName(what: 'role' | 'collaborator', name: string): void {
  if (READABLE.test(name) && !isUlid(name) && !UUID.test(name)) return;
  throw new CodedError(
    'invalid_request',
    `"${name}" cannot be a ${what}; use a readable name of lower-case letters, digits, "-", "_" and ".", not an id`,
  );
}
