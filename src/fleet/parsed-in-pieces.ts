import { z } from 'zod';
import { jsonOf } from '../base/json-text.ts';
import { elementOf, outputOf, parsedUntilFault } from './first-fault.ts';

/** Far more than the rows of any ledger: each one is an object. */
const MOST_CONTAINERS = 1_000_000;
const MOST_DEPTH = 32;
/** Bytes of elements that are parsed at once, where none of them is larger. */
const PIECE_BYTES = 16 * 1024;
/** Most bytes of one element, and of an answer without the elements of its lists. */
const MOST_PIECE_BYTES = 1024 * 1024;
/** How long this thread works on one answer before it looks for anything else to do, in milliseconds. */
const TURN_MS = 4;

/** A list of the object that an answer is: where the bytes of its elements lie, cut between elements. */
type List = { from: number; to: number }[];
/** `rest` is the text of the object with the number of each list in its place: `[0]`, `[1]` and so on. */
type Cut = { rest: string; lists: List[] };

/**
 * What a schema makes of the bytes of an answer; undefined for what is none in UTF-8, and for what would take a multiple of
 * its size in memory as values. Lists of the object are parsed piece by piece, and others have their turn in between: the
 * answer of one host may have 32 MB, which would keep this thread from all other hosts for seconds.
 */
export async function parsedInPieces<S extends z.ZodObject>(
  schema: S,
  bytes: Uint8Array,
): Promise<z.output<S> | undefined> {
  const turns = new Turns();
  const cut = await cutAtLists(bytes, turns);
  const rest = cut === null ? undefined : z.record(z.string(), z.unknown()).safeParse(jsonOf(cut.rest)).data;
  if (cut === null || rest === undefined) return undefined;
  const lists: Record<string, unknown[]> = {};
  const read = new Set<number>();
  for (const [key, value] of Object.entries(rest)) {
    if (!Array.isArray(value)) continue;
    const number = Number(value[0]);
    const element = elementOf(schema.shape[key]);
    const elements = await elementsOf(bytes, cut.lists[number]!, element, turns);
    if (elements === undefined) return undefined;
    read.add(number);
    rest[key] = element === null ? elements : [];
    if (element !== null) lists[key] = elements;
  }
  // Of a key that stands twice the last value counts, and the first has to be JSON all the same.
  for (const [number, list] of cut.lists.entries())
    if (!read.has(number) && (await elementsOf(bytes, list, null, turns)) === undefined) return undefined;
  const head = parsedUntilFault(schema, rest);
  return head === undefined ? undefined : { ...head, ...lists };
}

async function elementsOf(
  bytes: Uint8Array,
  list: List,
  schema: z.core.$ZodType | null,
  turns: Turns,
): Promise<unknown[] | undefined> {
  const elements: unknown[] = [];
  for (const { from, to } of list) {
    const text = textOf(bytes.subarray(from, to));
    const values = text === null ? undefined : jsonOf(`[${text}]`);
    // Only a list without elements has a piece without any.
    if (!Array.isArray(values) || (values.length === 0 && list.length > 1)) return undefined;
    for (const value of values) {
      const element = schema === null ? value : outputOf(schema, value);
      if (element === undefined) return undefined;
      elements.push(element);
    }
    await turns.next();
  }
  return elements;
}

const [QUOTE, BACKSLASH, LIST, LIST_END, MAP, MAP_END, COMMA] = Buffer.from('"\\[]{},');

/** Null for what has too many or too deep containers, or too large a piece; what is no JSON is left to the parser. */
async function cutAtLists(bytes: Uint8Array, turns: Turns): Promise<Cut | null> {
  const lists: List[] = [];
  const rest: Uint8Array[] = [];
  let [containers, depth, from, rest_bytes, look_at] = [0, 0, 0, 0, 0];
  let [is_quoted, is_in_list] = [false, false];
  const keep = (to: number, number = '') => {
    rest.push(bytes.subarray(from, to), Buffer.from(number));
    rest_bytes += to - from + number.length;
    from = to;
  };
  for (let at = 0; at < bytes.length; at += 1) {
    if (at >= look_at) {
      look_at = at + PIECE_BYTES;
      if (at - from > MOST_PIECE_BYTES) return null;
      await turns.next();
    }
    const byte = bytes[at];
    if (byte === QUOTE) is_quoted = !is_quoted;
    else if (is_quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === LIST || byte === MAP) {
      containers += 1;
      depth += 1;
      if (containers > MOST_CONTAINERS || depth > MOST_DEPTH || rest_bytes > MOST_PIECE_BYTES) return null;
      if (byte !== LIST || depth !== 2) continue;
      is_in_list = true;
      keep(at + 1, String(lists.length));
      lists.push([]);
    } else if (byte === LIST_END || byte === MAP_END || byte === COMMA) {
      const ends = byte !== COMMA;
      if (ends) depth -= 1;
      if (!is_in_list || depth !== (ends ? 1 : 2) || (!ends && at - from < PIECE_BYTES)) continue;
      if (at - from > MOST_PIECE_BYTES) return null;
      lists.at(-1)!.push({ from, to: at });
      from = ends ? at : at + 1;
      is_in_list = !ends;
    }
  }
  if (is_in_list || bytes.length - from > MOST_PIECE_BYTES) return null;
  keep(bytes.length);
  const text = rest_bytes > MOST_PIECE_BYTES ? null : textOf(Buffer.concat(rest));
  return text === null ? null : { rest: text, lists };
}

/** False for what would take a multiple of its size in memory as values: lists in lists, and empty maps by the million. */
export function isParsable(bytes: Uint8Array, most_depth = MOST_DEPTH): boolean {
  let [containers, depth, quoted] = [0, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (quoted) at += byte === BACKSLASH ? 1 : 0;
    else if (byte === LIST || byte === MAP) {
      containers += 1;
      depth += 1;
      if (containers > MOST_CONTAINERS || depth > most_depth) return false;
    } else if (byte === LIST_END || byte === MAP_END) depth -= 1;
  }
  return true;
}

/** Null for what is not UTF-8. A mark of the byte order stays: it is no JSON, and would be one in the middle of another text. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Gives others their turn while an answer is read. */
class Turns {
  #since = performance.now();

  async next(): Promise<void> {
    if (performance.now() - this.#since < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
