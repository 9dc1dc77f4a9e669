import { messageOf } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { isSafeId, unsafeId } from './fiber-id.ts';
import { requireDue, requireSchedule, requireZone } from './field-values.ts';
import type { Listing } from './store.ts';

/** A problem in a store that a person should fix. */
export type StoreProblem = { path: string; message: string };

/** All problems of the documents of some stores, in path order. A uid is one fiber's among all of them. */
export function checkListings(listings: readonly Listing[]): StoreProblem[] {
  const documents = listings.flatMap((listing) => listing.documents);
  const problems = [
    ...listings.flatMap(checkListing),
    ...shared(documents, (row) => row.uid?.toUpperCase() ?? null, 'the uid'),
    ...listings.flatMap((listing) => shared(listing.documents, (row) => row.id, 'the id')),
  ];
  return problems.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function checkListing(listing: Listing): StoreProblem[] {
  const problems: StoreProblem[] = [...listing.errors];
  const reported = new Set(problems.map((problem) => problem.path));
  for (const row of listing.documents) {
    if (!isSafeId(row.id)) problems.push({ path: row.path, message: unsafeId(row.id).message });
    if (row.error !== undefined && !reported.has(row.path))
      problems.push({ path: row.path, message: row.error });
    else if (row.error === undefined && row.uid === null) {
      problems.push({ path: row.path, message: 'it has no ULID "id"; without one it cannot be dispatched' });
    }
    if (row.error === undefined && row.svc?.kind === 'standing' && row.svc.schedule === undefined) {
      problems.push({
        path: row.path,
        message: 'a standing role needs "svc.schedule"; set it with "svc repeat"',
      });
    }
    if (row.error === undefined)
      for (const message of badValues(row)) problems.push({ path: row.path, message });
  }
  return problems;
}

/** Values that a write would have refused. */
function badValues({ due, svc }: FiberDocument): string[] {
  const checks = [
    () => due !== undefined && requireDue(due),
    () => svc?.schedule !== undefined && requireSchedule(svc.schedule),
    () => svc?.tz !== undefined && requireZone(svc.tz),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return [messageOf(error)];
    }
  });
}

function shared(
  rows: FiberDocument[],
  keyOf: (row: FiberDocument) => string | null,
  what: string,
): StoreProblem[] {
  const groups = new Map<string, FiberDocument[]>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups].flatMap(([key, group]) =>
    group.length < 2
      ? []
      : group.map((row) => ({
          path: row.path,
          message: `${what} ${key} is also that of ${group
            .filter((other) => other !== row)
            .map((other) => other.path)
            .join(', ')}`,
        })),
  );
}
