/** A mapping as JSON and TOML have them, of which nothing else is known. */
export type Table = Record<string, unknown>;

/** A value as a table; anything that is not one is an empty table. */
export function asTable(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};
}
