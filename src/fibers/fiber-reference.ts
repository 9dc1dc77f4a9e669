import { alternatives } from '../base/alternatives.ts';
import { didYouMean } from '../base/nearest-words.ts';
import { isUlid, leafOf } from './fiber-id.ts';

/** Fewest characters of an id in a hint: fewer would seldom stay unique. */
const FEWEST = 4;

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
    const mend =
      'take the line "id" out of the copy, and `svc install` with its id and --store writes another';
    // Two paths to one store show every document twice, and its only line must stay.
    return have_one_id
      ? `they have one ULID: if \`svc doctor\` says that their stores are the same, take one of the two out of the list of stores; else ${mend}`
      : `they have one ULID: ${mend}`;
  }
  if (uids.length < fibers.length) return 'give the uid; `svc fiber check` names those without one';
  return have_one_id ? 'give the uid' : 'give the uid or the whole id';
}

/**
 * The shortest beginning of an id that a person can type for it, for a hint: it ends with a word, and means no other of
 * `ids`. The id itself where there is none.
 */
export function shortestReference(id: string, ids: Iterable<string>): string {
  const others = [...ids].filter((other) => other !== id);
  return beginningsOf(id).find((start) => !others.some((other) => beginsWith(other, start))) ?? id;
}

/** An id of at most so many characters is read as quickly as its beginning. */
const READ_AT_ONCE = 24;

/**
 * What a person types for each of these fibers, for hints on a page of many of them: its id, or where that has parts or
 * is long, its last part, which a daemon knows too; of a long one its beginning. Another host may have a fiber that is called
 * as such a beginning, so that it is only given for fibers that are `alone`, without those of other hosts.
 */
export function hintsAmong(
  fibers: readonly Pick<Named, 'id'>[],
  { alone }: { alone: boolean },
): (id: string) => string {
  let known: { names: readonly Name[]; leaves: ReadonlyMap<string, number> } | null = null;
  return (id) => {
    const leaf = leafOf(id);
    if (leaf === id && id.length <= READ_AT_ONCE) return id;
    known ??= { names: namesOf(fibers), leaves: countLeaves(fibers) };
    const { names, leaves } = known;
    const is_only = leaves.get(leaf) === 1 && !isUlid(leaf);
    if (is_only && leaf !== id && leaf.length <= READ_AT_ONCE) return leaf;
    if (id.length <= READ_AT_ONCE) return id;
    const start = alone
      ? beginningsOf(id).find((one) => one.length < id.length && beginsOnly(names, one, id))
      : undefined;
    return start ?? (is_only ? leaf : id);
  };
}

/** Beginnings of the last part of an id, then of the id, that end with a word; shortest first. */
function beginningsOf(id: string): string[] {
  const leaf = leafOf(id);
  return (leaf === id ? [id] : [leaf, id]).flatMap((whole) => {
    const ends = [...whole.matchAll(/(?<=[\p{L}\p{N}])(?=[-_/])/gu)].map(({ index }) => index);
    return [...ends, whole.length]
      .map((end) => whole.slice(0, end))
      .filter((start) => [...start].length >= FEWEST && !isUlid(start));
  });
}

/** An id or its last part, and the id. */
type Name = { text: string; id: string };

/** In order of their texts. */
function namesOf(fibers: readonly Pick<Named, 'id'>[]): Name[] {
  const names = fibers.flatMap(({ id }) => {
    const leaf = leafOf(id);
    return leaf === id
      ? [{ text: id, id }]
      : [
          { text: id, id },
          { text: leaf, id },
        ];
  });
  return names.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}

function countLeaves(fibers: readonly Pick<Named, 'id'>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of fibers) counts.set(leafOf(id), (counts.get(leafOf(id)) ?? 0) + 1);
  return counts;
}

/** Whether all names that begin so are of this fiber, which has one or two. */
function beginsOnly(names: readonly Name[], start: string, id: string): boolean {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle]!.text < start) low = middle + 1;
    else high = middle;
  }
  const found = names.slice(low, low + 3).filter(({ text }) => text.startsWith(start));
  return found.length < 3 && found.every((name) => name.id === id);
}

function beginsWith(id: string, start: string): boolean {
  return id.startsWith(start) || leafOf(id).startsWith(start);
}
