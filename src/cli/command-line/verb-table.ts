import type { Verb } from './verb.ts';

/** Loads one verb, so that a command loads only its own modules. */
export type Load = () => Promise<Verb>;

/** A verb with subcommands, such as `svc daemon start`. */
export type Family = {
  verbs: Readonly<Record<string, Load>>;
  /** The subcommand that runs if none is typed. */
  implied?: string;
  usage?: string;
} & ({ summary: string; alone?: undefined } | { /** Runs without a subcommand. */ alone: Load });

/** Help heading of the verbs that only programs call; the help does not list them. */
export const FOR_PROGRAMS = 'For programs';

/** Every verb under its help heading; headings and verbs are in the order of the help. */
export type VerbTable = Readonly<Record<string, Readonly<Record<string, Load | Family>>>>;

/** One row of the table. */
export type VerbRow = { name: string; group: string; entry: Load | Family };

export function rowsOf(table: VerbTable): VerbRow[] {
  return Object.entries(table).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([name, entry]) => ({ name, group, entry })),
  );
}

/** The summary in the help; only a family without its own verb has one that needs no loading. */
export async function summaryOf(entry: Load | Family): Promise<string> {
  if (typeof entry === 'function') return (await entry()).summary;
  return entry.alone === undefined ? entry.summary : (await entry.alone()).summary;
}
