import type { FiberRow } from './wire.ts';

/** The fibers that another one could be moved below, of those whose id or name holds a text; at most `limit`. */
export function parentsFor(
  row: FiberRow,
  rows: Iterable<FiberRow>,
  text: string,
  limit: number,
): readonly FiberRow[] {
  const wanted = text.trim().toLowerCase();
  const found: FiberRow[] = [];
  for (const one of rows) {
    if (found.length === limit) break;
    if (
      one.origin !== row.origin ||
      one.store !== row.store ||
      one.id === row.id ||
      one.id.startsWith(`${row.id}/`)
    )
      continue;
    if (`${one.id}\n${one.name}`.toLowerCase().includes(wanted)) found.push(one);
  }
  return found;
}
