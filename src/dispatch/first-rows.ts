import type { FiberDocument } from '../contract/fiber.ts';

/** Rows of each column that a board reads before it reads all: several screens of it. */
export const MOST_IN_COLUMN = 100;

/** Rows of a host that a board reads as a whole at once. */
export const MOST_WHOLE_ROWS = 500;

type Column = 'drafts' | 'in_flight' | 'review';
type Standing = {
  document: Pick<FiberDocument, 'status' | 'tempered' | 'closed_at' | 'created_at' | 'due'>;
  given: { runtime?: { started_at: number }; blocked?: unknown; held?: unknown };
};
/** What stands further up has a lower class, and a later time. */
type Rank = { class: number; at: number };

/**
 * The rows that a board shows first: the upper ones of each of its columns, in the order of `rows`. What was judged is
 * in none of them.
 */
export function firstRows<Row extends Standing>(rows: readonly Row[], now: number): Row[] {
  const columns: Record<Column, { row: Row; rank: Rank }[]> = { drafts: [], in_flight: [], review: [] };
  for (const row of rows) {
    const column = columnOf(row);
    if (column !== null) columns[column].push({ row, rank: rankOf(row, column, now) });
  }
  const upper = Object.values(columns).flatMap((of) => of.sort(byRank).slice(0, MOST_IN_COLUMN));
  const first = new Set(upper.map(({ row }) => row));
  return rows.filter((row) => first.has(row));
}

function columnOf({ document, given }: Standing): Column | null {
  if (document.status === 'closed') return document.tempered === undefined ? 'review' : null;
  return document.status === 'open' && given.runtime === undefined ? 'drafts' : 'in_flight';
}

function rankOf({ document, given }: Standing, column: Column, now: number): Rank {
  if (column === 'review') return { class: 0, at: timeOf(document.closed_at) };
  if (given.runtime !== undefined) return { class: 0, at: given.runtime.started_at };
  const due = timeOf(document.due);
  if (due > 0 && due <= now) return { class: 1, at: -due };
  const stopped = given.blocked !== undefined || given.held !== undefined;
  return { class: stopped ? 2 : 3, at: timeOf(document.created_at) };
}

function byRank({ rank: a }: { rank: Rank }, { rank: b }: { rank: Rank }): number {
  return a.class - b.class || b.at - a.at;
}

function timeOf(text: string | undefined): number {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}
