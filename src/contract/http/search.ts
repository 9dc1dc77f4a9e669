import { z } from 'zod';
import { fiberStatusSchema } from '../fiber.ts';
import { wholeNumber } from './bounded.ts';

/** Longest query, in UTF-16 units. */
const MOST_QUERY_CHARS = 500;

/**
 * `GET /search?query=&limit=&tag=&status=` (RPL-4). Every word must occur, as the beginning of a word; a "quoted
 * text" must occur as it is. Case, accents and width make no difference.
 */
export const searchQuerySchema = z.object({
  query: z.string().trim().min(1, { error: 'must contain a word to search for' }).max(MOST_QUERY_CHARS),
  limit: wholeNumber(1, 100).optional(),
  tag: z.string().min(1).optional(),
  status: fiberStatusSchema.optional(),
});

/** A parsed search. */
export const searchWishSchema = z.object({
  query: z.string(),
  limit: z.number().int(),
  tag: z.string().optional(),
  status: fiberStatusSchema.optional(),
});
export type SearchWish = z.infer<typeof searchWishSchema>;

/** `[start, end)` of a match, in UTF-16 units of its text. */
const matchSchema = z
  .tuple([z.number().int(), z.number().int()])
  // Readers of OpenAPI ask for `items` of every array, also beside the `prefixItems` that zod makes of a tuple.
  .meta({ items: { type: 'integer' }, minItems: 2, maxItems: 2 });

/** A text with its matches. */
const markedTextSchema = z.object({ text: z.string(), matches: z.array(matchSchema) });

const searchHitSchema = z.object({
  id: z.string(),
  uid: z.string().nullable(),
  store: z.string(),
  path: z.string(),
  status: fiberStatusSchema,
  tags: z.array(z.string()),
  /** Higher is better; comparable within one answer only. */
  score: z.number(),
  name: markedTextSchema,
  outcome: markedTextSchema.nullable(),
  /** Pieces of the body, in the order of the body; `line` counts the lines of the body from 1. */
  snippets: z.array(markedTextSchema.extend({ line: z.number().int() })),
});
export type SearchHit = z.infer<typeof searchHitSchema>;

/** `GET /search`: the best hits first. */
export const searchReplySchema = z.object({
  query: z.string(),
  /** The normalised words and quoted texts of the query. */
  terms: z.array(z.string()),
  /** Number of matching fibers; `hits` are the best of them. */
  total: z.number().int(),
  hits: z.array(searchHitSchema),
  /** False: some bodies have not been read yet; repeat the request. */
  complete: z.boolean(),
});
export type SearchReply = z.infer<typeof searchReplySchema>;
