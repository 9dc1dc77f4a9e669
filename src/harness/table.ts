/** A JSON or TOML mapping with unchecked values. */
export type Table = Record<string, unknown>;

/** The value if it is a mapping, else an empty table. */
export function asTable(value: unknown): Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Table) : {};
}
