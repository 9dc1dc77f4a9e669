import { alternatives } from '../base/alternatives.ts';
import { didYouMean } from '../base/nearest-words.ts';
import { isUlid, leafOf } from './fiber-id.ts';

/** Most fibers that an ambiguous reference names. */
const MOST_NAMED = 5;

/** What of a fiber a reference is compared with. */
export type Named = { id: string; uid: string | null };

/**
 * The fibers that a person may mean: those that are called so, else those whose id, or its last part, begins so. The id of
 * a fiber below one of them begins so too, and it is meant only where its last part does.
 */
export function fibersMeant<R extends Named>(reference: string, fibers: Iterable<R>): R[] {
  const all = [...fibers];
  const called = fibersCalled(reference, all);
  if (called.length > 0) return called;
  const begun = all.filter(({ id }) => beginsWith(id, reference));
  const ids = new Set(begun.map(({ id }) => id));
  return begun.filter(
    ({ id }) => leafOf(id).startsWith(reference) || !ancestorsOf(id).some((one) => ids.has(one)),
  );
}

/** The ids of the fibers that one is below. */
function ancestorsOf(id: string): string[] {
  const parts = id.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** The fibers with this canonical id, else uid, else last part of the id. */
export function fibersCalled<R extends Named>(reference: string, fibers: Iterable<R>): R[] {
  const all = [...fibers];
  const uid = isUlid(reference) ? reference.toUpperCase() : null;
  // Keyboards compose accents, and some file systems and editors take them apart.
  const name = reference.normalize('NFC');
  const searches: ((fiber: R) => boolean)[] = [
    ({ id }) => id === reference,
    (fiber) => uid !== null && fiber.uid?.toUpperCase() === uid,
    ({ id }) => id.normalize('NFC') === name,
    ({ id }) => leafOf(id).normalize('NFC') === name,
  ];
  for (const search of searches) {
    const found = all.filter(search);
    if (found.length > 0) return found;
  }
  return [];
}

/** Says that a reference names no fiber of `ids`; asks whether another one was meant, else says where to look. */
export function noFiberCalled(reference: string, ids: Iterable<string>): string {
  const isWhole = reference.includes('/');
  const question = didYouMean(
    reference,
    [...ids].map((id) => (isWhole ? id : leafOf(id))),
  );
  const said = `no fiber is called ${reference}`;
  return question === '' ? `${said}; svc fiber ls lists them` : `${said}.${question}`;
}

/** Says that a reference names several, each as in `names`. */
export function severalCalled(reference: string, names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const more = names.length > shown.length ? [`${names.length - shown.length} more`] : [];
  return `${reference} may be ${alternatives([...shown, ...more])}; give more of the id, or the ULID`;
}

/** A fiber that shares its name or its ULID with another one. */
export type Twin = Named & { path: string };

/** The paths of several fibers, in words. */
export function namePaths(fibers: readonly Pick<Twin, 'path'>[]): string {
  const paths = fibers.slice(0, MOST_NAMED).map(({ path }) => path);
  const more = fibers.length > paths.length ? [`${fibers.length - paths.length} more`] : [];
  return [...paths, ...more].join(' and ');
}

/** What a person does about several fibers that one reference names. */
export function tellApart(fibers: readonly Twin[]): string {
  const uids = fibers.flatMap(({ uid }) => (uid === null ? [] : [uid.toUpperCase()]));
  const [first] = fibers;
  const have_one_id = fibers.every(({ id }) => id === first?.id);
  if (new Set(uids).size < uids.length) {
    const mend = 'give the copy one of its own with: svc fiber new-id, and its path';
    // Two paths to one store show every document twice, and its only line must stay.
    return have_one_id
      ? `they have one ULID: if \`svc doctor\` says that their stores are the same, take one of the two out of the list of stores; else ${mend}`
      : `they have one ULID: ${mend}`;
  }
  if (uids.length < fibers.length) return 'give the uid; `svc fiber check` names those without one';
  return have_one_id ? 'give the uid' : 'give the uid or the whole id';
}

function beginsWith(id: string, start: string): boolean {
  return id.startsWith(start) || leafOf(id).startsWith(start);
}
