import { z } from 'zod';
import { type FeedState, feedStateSchema } from '../contract/http/fibers.ts';
import { parsedUntilFault } from './first-fault.ts';

/** A row of another host: what orders it, and its text. */
export type ToldRow = { path: string; id: string; store: string; json: string };

/** What a host told of its feed: all of it, or what changed after the tag that it was asked with. */
export type FeedAnswer = {
  host: string;
  state: FeedState;
  generated_at: number;
  /** Names the rows; null where that host gave them no name. */
  tag: string | null;
  rows: ToldRow[];
  /** Paths of rows that are gone; null where `rows` are all there are. */
  removed: string[] | null;
};

/** A tag goes into requests and into the tag of all hosts. */
const MOST_TAG_CHARS = 200;

const headSchema = z.object({
  host: z.string(),
  state: feedStateSchema,
  generated_at: z.number(),
  tag: z.string().max(MOST_TAG_CHARS).nullable().optional(),
});
const wholeSchema = headSchema.extend({ fibers: z.array(z.unknown()) });
const deltaSchema = headSchema.extend({ rows: z.array(z.unknown()), removed: z.array(z.string()) });

/** The fields that every row has in every build; readers check the rest. */
const TEXTS = ['id', 'path', 'store', 'leaf', 'name', 'status', 'digest'] as const;

/** Throws an `Error` with a short reason if the answer is not valid. */
export function readFeedAnswer(value: unknown): FeedAnswer {
  const delta = parsedUntilFault(deltaSchema, value);
  const told = delta ?? parsedUntilFault(wholeSchema, value);
  if (told === undefined) throw new Error('its answer is not a feed of fibers');
  const rows = 'rows' in told ? told.rows : told.fibers;
  const { host, state, generated_at, tag = null } = told;
  return { host, state, generated_at, tag, rows: rows.map(toldRow), removed: delta?.removed ?? null };
}

function toldRow(value: unknown): ToldRow {
  if (!isRow(value)) throw new Error('its feed has a row that lacks required fields');
  return { path: value.path, id: value.id, store: value.store, json: JSON.stringify(value) };
}

function isRow(value: unknown): value is Record<(typeof TEXTS)[number], string> {
  if (typeof value !== 'object' || value === null) return false;
  const row = value as Record<string, unknown>;
  const { tags } = row;
  return (
    TEXTS.every((name) => typeof row[name] === 'string') &&
    Array.isArray(tags) &&
    tags.every((tag) => typeof tag === 'string')
  );
}
