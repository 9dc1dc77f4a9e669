import type { z } from 'zod';
import type { Destinations } from './destinations.ts';
import { refusal } from './error-reply.ts';
import { parseJsonBody } from './request-body.ts';
import type { Call } from './request-call.ts';
import type { Row } from './row.ts';
import { parseInput } from './schema-issues.ts';
import { parseQuery } from './url-query.ts';

/** Reads the query and the body of a request, and checks them against its row unless another daemon answers. */
export class RequestInput {
  readonly #destinations: Destinations;

  constructor(destinations: Destinations) {
    this.#destinations = destinations;
  }

  /** Undefined where the row has none, or where the request is passed on. */
  query(call: Call, row: Row): unknown {
    return row.query === undefined ? undefined : this.#parsed(call, row, row.query);
  }

  #parsed(call: Call, row: Row, schema: z.ZodType): unknown {
    const { query: text } = call.head;
    const last = lastQueries.get(row);
    if (last?.text === text) {
      this.#destinations.settle(call, row, last.values);
      return last.value;
    }
    const parsed = parseQuery(text);
    if (!parsed.ok) throw refusal('invalid_request', parsed.message, { issues: [] });
    const { values } = parsed;
    this.#destinations.settle(call, row, values);
    if (call.forward !== null) return undefined;
    const value = Object.freeze(parseInput(schema, values, 'query'));
    lastQueries.set(row, { text, values, value });
    return value;
  }

  /** The bytes as they came where the row takes bytes, or where the request is passed on. */
  body(call: Call, row: Row, bytes: Uint8Array, content_type: string | undefined): unknown {
    if (row.body === 'bytes') return bytes;
    const json = parseJsonBody(bytes, content_type);
    this.#destinations.settle(call, row, json);
    if (call.forward !== null) return bytes;
    return row.body === undefined ? undefined : parseInput(row.body, json, 'body');
  }
}

/** What each row's last acceptable query meant: a client that polls sends the same one again and again. */
const lastQueries = new WeakMap<Row, { text: string; values: Record<string, string>; value: unknown }>();
