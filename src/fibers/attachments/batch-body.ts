import type { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { type InputFault, placeOf, readInput, sentenceOfFault } from '../../contract/read-input.ts';

/** Parses a body with base64 data in it; throws `invalid_json` or `invalid_request`. */
export function parseBatch<S extends z.ZodType>(schema: S, body: Uint8Array): z.output<S> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new CodedError('invalid_json', 'The body is not valid JSON in UTF-8.');
  }
  const read = readInput(schema, json);
  if (read.success) return read.data;
  throw notAcceptable(read.faults);
}

/** The refusal of a body for these faults; the sentence has the first one. */
export function notAcceptable(faults: readonly [InputFault, ...InputFault[]]): CodedError {
  const issues = faults.map(({ path, message }) => ({ path: placeOf(path), message }));
  return new CodedError('invalid_request', `${sentenceOfFault(faults[0], 'The body')}.`, {
    details: { issues },
  });
}

/** Number of bytes that a base64 text decodes to, if it is valid. */
export function decodedLength(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** Decodes base64 with its padding and nothing else in it; null for any other text. */
export function decodeExactly(data: string): Buffer | null {
  const decoded = Buffer.from(data, 'base64');
  return decoded.length === decodedLength(data) && decoded.toString('base64') === data ? decoded : null;
}
