import { z } from 'zod';

/** Longest name of a session in a query, in characters. */
const MOST_SESSION_CHARS = 240;

export const terminalQuerySchema = z.object({
  session: z.string().min(1).max(MOST_SESSION_CHARS),
  /** The host of the worker. */
  origin: z.string().optional(),
});

/** One of the 256 colours of a terminal, of which each reader chooses the first 16; or `#rrggbb`. */
const colourSchema = z.union([z.number().int().min(0).max(255), z.string().regex(/^#[0-9a-f]{6}$/)]);

const on = z.literal(true).optional();
/** A piece of a line: its text alone, or with its attributes. */
const styledSchema = z.strictObject({
  text: z.string(),
  fg: colourSchema.optional(),
  bg: colourSchema.optional(),
  bold: on,
  dim: on,
  italic: on,
  underline: on,
  reverse: on,
  hidden: on,
  strike: on,
});

const runSchema = z.union([z.string(), styledSchema]);
export type TerminalRun = z.infer<typeof runSchema>;

/**
 * What the lines from `first` up to `end`, which is not one of them, are now. Each line has a number that it keeps when
 * it scrolls. Those that are not in `lines` are as they were told before; a line that was never told is empty.
 */
const screenMessageSchema = z.object({
  state: z.literal('screen'),
  first: z.number().int(),
  /** The first line of the visible screen; lines before it are history. */
  top: z.number().int(),
  end: z.number().int(),
  columns: z.number().int(),
  /** Why the lines may be out of date; null while they are those of the terminal. */
  stale: z.string().nullable(),
  lines: z.array(z.object({ n: z.number().int(), runs: z.array(runSchema) })),
});
export type ScreenMessage = z.infer<typeof screenMessageSchema>;

/** One message of `GET /terminal`. After the last two the socket is closed: with 4404, and with 4410. */
export const terminalMessageSchema = z.discriminatedUnion('state', [
  screenMessageSchema,
  z.object({ state: z.literal('refused'), reason: z.string() }),
  z.object({ state: z.literal('ended'), reason: z.string() }),
]);
export type TerminalMessage = z.infer<typeof terminalMessageSchema>;
