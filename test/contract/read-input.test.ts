import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { flagSchema } from '../../src/contract/http/bounded.ts';
import { lifecycleBodySchema } from '../../src/contract/http/lifecycle.ts';
import { momentQuerySchema } from '../../src/contract/http/moment.ts';
import { searchQuerySchema } from '../../src/contract/http/search.ts';
import { storesFileSchema } from '../../src/contract/operator-files.ts';
import { readInput, sentenceOfFault } from '../../src/contract/read-input.ts';

const schema = z.object({
  fiber_id: z.string().min(1).max(9).optional(),
  mode: z.enum(['call', 'room', 'phone']).optional(),
  version: z.literal(1).optional(),
  force: z.boolean().optional(),
  count: z.int().positive().max(500).optional(),
  share: z.number().multipleOf(0.5).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  svc: z.strictObject({ agent: z.string() }).optional(),
  names: z.record(z.string().regex(/^a/), z.string()).optional(),
  place: z.union([z.literal(false), z.looseObject({ path: z.string() })]).optional(),
  part: z.union([z.string(), z.array(z.string())]).optional(),
  digest: z
    .string()
    .regex(/^[0-9a-f]+$/)
    .optional(),
  host: z
    .string()
    .regex(/^[a-z]+$/, 'must be a host id')
    .optional(),
  url: z.url().optional(),
});

function saidOf(input: unknown, of: z.ZodType = schema): string | null {
  const read = readInput(of, input);
  return read.success ? null : sentenceOfFault(read.faults[0], 'The body');
}

describe('what is wrong with an input', () => {
  it.each([
    [{ fiber_id: 5 }, 'fiber_id must be text, not a number'],
    [{ fiber_id: null }, 'fiber_id must be text, not null'],
    [{ fiber_id: ['a'] }, 'fiber_id must be text, not a list'],
    [{ fiber_id: '' }, 'fiber_id may not be empty'],
    [{ fiber_id: 'long enough' }, 'fiber_id must have at most 9 characters'],
    [{ mode: 'x' }, 'mode must be "call", "room" or "phone", not "x"'],
    [{ mode: {} }, 'mode must be "call", "room" or "phone", not an object'],
    [{ version: 2 }, 'version must be 1, not 2'],
    [{ force: 'yes' }, 'force must be true or false, not text'],
    [{ count: 1.5 }, 'count must be a whole number, not 1.5'],
    [{ count: 0 }, 'count must be more than 0, not 0'],
    [{ count: 501 }, 'count must be at most 500, not 501'],
    [{ share: 0.7 }, 'share must be a multiple of 0.5, not 0.7'],
    [{ tags: [] }, 'tags may not be empty'],
    [{ tags: ['a', 'b', 'c'] }, 'tags must have at most 2 entries'],
    [{ tags: ['a', {}] }, 'tags.1 must be text, not an object'],
    [{ svc: {} }, 'svc.agent must be given'],
    [{ svc: { agent: 'a', size: 1, 'the "b"': 2 } }, 'svc has no field "size", "the \\"b\\""'],
    [{ names: { b: 'x' } }, 'names.b has a key that it may not have'],
    [{ place: { path: 1 } }, 'place.path must be text, not a number'],
    [{ part: 7 }, 'part must be text or a list, not a number'],
    [{ part: false }, 'part must be text or a list, not false'],
    [{ part: [false] }, 'part.0 must be text, not false'],
    [{ digest: 'x' }, 'digest must be of the form /^[0-9a-f]+$/, not "x"'],
    [{ host: 'A' }, 'host must be a host id, not "A"'],
    [{ host: 'A'.repeat(41) }, 'host must be a host id'],
    [{ url: 'x' }, 'url must be of the form url, not "x"'],
    [[], 'The body must be an object, not a list'],
    [null, 'The body must be an object, not null'],
    ['{}', 'The body must be an object, not text'],
  ])('%j: %s', (input, sentence) => {
    expect(saidOf(input)).toBe(sentence);
  });

  it('[RPL-4] of a query that has a number names the bounds and what was given', () => {
    expect(saidOf({ query: 'a', limit: 'x' }, searchQuerySchema)).toBe(
      'limit must be a whole number from 1 to 100, not "x"',
    );
    expect(saidOf({ query: 'a', limit: '101' }, searchQuerySchema)).toBe(
      'limit must be a whole number from 1 to 100, not 101',
    );
    expect(saidOf({}, searchQuerySchema)).toBe('query must be given');
    expect(saidOf({ local: 'yes' }, z.object({ local: flagSchema }))).toBe(
      'local must be true or false, not "yes"',
    );
    expect(saidOf({ session: 'a', at: '' }, momentQuerySchema)).toBe(
      'at must be a whole number of milliseconds since 1970, not ""',
    );
  });

  it('names the forms of a file of which none was meant, and the missing field of the one that was', () => {
    expect(saidOf('x', storesFileSchema)).toBe('The body must be a list or an object, not text');
    expect(saidOf({ stores: [7] }, storesFileSchema)).toBe(
      'stores.0 must be text or an object, not a number',
    );
    expect(saidOf([{}], storesFileSchema)).toBe('0.path must be given');
  });

  it('[WPL-3] names the actions of a union by its field', () => {
    expect(saidOf({ fiber: 'a', action: 'x' }, lifecycleBodySchema)).toMatch(
      /^action must be "install", .* or "[a-z-]+", not "x"$/,
    );
    expect(saidOf({ fiber: 'a' }, lifecycleBodySchema)).toMatch(/^action must be given/);
  });

  it('lists every fault, the first one first', () => {
    const read = readInput(schema, { fiber_id: '', force: 1 });
    expect(read.success ? [] : read.faults).toEqual([
      { path: ['fiber_id'], message: 'may not be empty' },
      { path: ['force'], message: 'must be true or false, not a number' },
    ]);
  });

  it('repeats no text that may be long or secret', () => {
    const secret = 'hunter2hunter2';
    expect(saidOf({ force: secret, svc: secret, tags: secret })).not.toContain(secret);
  });

  it('names the first eight fields that there are not, each by its first forty characters', () => {
    const unknown = (count: number, name: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, 1]));
    expect(saidOf(unknown(8, 'a'), z.strictObject({}))).toMatch(/ "a6", "a7"$/);
    expect(saidOf(unknown(9, 'a'), z.strictObject({}))).toMatch(/ "a6", "a7" and 1 more$/);
    expect(saidOf({ ['b'.repeat(40)]: 1 }, z.strictObject({}))).toBe(
      `The body has no field "${'b'.repeat(40)}"`,
    );
    expect(saidOf({ ['b'.repeat(41)]: 1 }, z.strictObject({}))).toBe(
      `The body has no field "${'b'.repeat(40)}…"`,
    );
  });

  it('is told of a value that is nested too deeply for its schema', () => {
    let deep: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth += 1) deep = { svc: deep };
    const nested: z.ZodType = z.lazy(() => z.union([z.string(), z.object({ svc: nested })]));
    expect(saidOf(deep, nested)).toBe('The body is nested too deeply');
  });

  it('is nothing when the input is right', () => {
    expect(readInput(schema, { count: 3 })).toEqual({ success: true, data: { count: 3 } });
  });
});
