import type { Verb } from './verb.ts';

/** Loads one verb, so that each command pays only for its own modules. */
export type Load = () => Promise<Verb>;

/** A verb with second words, as `svc daemon start`. */
export type Family = {
  verbs: Readonly<Record<string, Load>>;
  /** The second word that is meant where none is typed. */
  implied?: string;
  usage?: string;
} & ({ summary: string; alone?: undefined } | { /** What the first word does alone. */ alone: Load });

/** Heading of the help for the verbs that only programs call; they are not listed. */
export const FOR_PROGRAMS = 'For programs';

/** Every verb under the heading of the help where it stands; headings and verbs in the order of the help. */
export type VerbTable = Readonly<Record<string, Readonly<Record<string, Load | Family>>>>;

/** One row of the table. */
export type VerbRow = { name: string; group: string; entry: Load | Family };

export function rowsOf(table: VerbTable): VerbRow[] {
  return Object.entries(table).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([name, entry]) => ({ name, group, entry })),
  );
}

/** The line of the help; only a family without a verb of its own has one that needs no loading. */
export async function summaryOf(entry: Load | Family): Promise<string> {
  if (typeof entry === 'function') return (await entry()).summary;
  return entry.alone === undefined ? entry.summary : (await entry.alone()).summary;
}
