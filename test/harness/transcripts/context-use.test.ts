import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContextUse } from '../../../src/contract/fiber.ts';
import type { HarnessName } from '../../../src/contract/harness-name.ts';
import { HARNESSES } from '../../../src/harness/harnesses.ts';
import { coarseUse } from '../../../src/harness/transcripts/context-use.ts';

const claude = (input: number, over: object = {}) => ({
  type: 'assistant',
  message: {
    model: 'claude-sonnet-5',
    usage: {
      ...{ input_tokens: input, cache_creation_input_tokens: 20, cache_read_input_tokens: 100 },
      output_tokens: 9,
    },
  },
  ...over,
});
const codexUsage = (input: number) => ({ input_tokens: input, cached_input_tokens: 60, output_tokens: 10 });
/** As Codex writes it after each answer; older ones write only the first record. */
const codexCount = (input: number, window?: number) => ({
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: {
      ...{ total_token_usage: codexUsage(9_999), last_token_usage: codexUsage(input) },
      ...(window !== undefined && { model_context_window: window }),
    },
  },
});
const codexAnswer = (input: number) => ({
  type: 'token_usage_record',
  payload: { usage: codexUsage(input) },
});
const codexBegun = (model_context_window: number) => ({
  type: 'event_msg',
  payload: { type: 'task_started', model_context_window },
});
const pi = (input: number, stopReason = 'stop') => ({
  type: 'message',
  message: { role: 'assistant', stopReason, usage: { input, cacheRead: 7, cacheWrite: 2, output: 1 } },
});
const said = { type: 'user', message: { content: 'hi' } };

/** `records` as they were written, oldest first. */
const use = (harness: HarnessName, records: object[]) =>
  HARNESSES[harness].records.contextUse(records.toReversed() as Record<string, unknown>[]);

describe('how full a context is, from a transcript', () => {
  it.each<[string, HarnessName, object[], ContextUse | null]>([
    ['not known before an answer', 'claude', [said], null],
    [
      'what the last answer read and wrote',
      'claude',
      [claude(3), claude(5), said],
      { tokens: 134, most: null },
    ],
    [
      'not that of a sub-agent',
      'claude',
      [claude(3), claude(900, { isSidechain: true })],
      { tokens: 132, most: null },
    ],
    [
      'not what the program wrote in place of an answer',
      'claude',
      [
        claude(3),
        claude(0, { message: { model: '<synthetic>', usage: { input_tokens: 0, output_tokens: 0 } } }),
      ],
      { tokens: 132, most: null },
    ],
    [
      'not known after it was compacted',
      'claude',
      [claude(3), { type: 'system', subtype: 'compact_boundary' }],
      null,
    ],
    ['not the total of a session', 'codex', [codexCount(100, 258_400)], { tokens: 110, most: 258_400 }],
    [
      'the last count, with the window of another record',
      'codex',
      [
        codexBegun(258_400),
        codexCount(50),
        codexAnswer(100),
        { type: 'event_msg', payload: { type: 'token_count', info: null } },
      ],
      { tokens: 110, most: 258_400 },
    ],
    ['without a window that no record tells', 'codex', [codexAnswer(100)], { tokens: 110, most: null }],
    [
      'not known after it was compacted',
      'codex',
      [codexCount(100, 9), { type: 'compacted', payload: {} }],
      null,
    ],
    ['not known where a turn only began', 'codex', [codexBegun(258_400)], null],
    ['what the last answer read and wrote', 'pi', [pi(3), pi(5)], { tokens: 15, most: null }],
    ['not that of an aborted answer', 'pi', [pi(3), pi(0, 'aborted')], { tokens: 13, most: null }],
    ['not known after it was compacted', 'pi', [pi(3), { type: 'compaction', summary: 's' }], null],
  ])('is %s (%s)', (_, harness, records, expected) => {
    expect(use(harness, records)).toEqual(expected);
  });

  it.each(['claude', 'codex', 'pi'] as const)(
    'is never a fault of %s, whatever its records hold',
    (harness) => {
      const value = fc.oneof(
        fc.anything(),
        fc.constantFrom('assistant', 'message', 'event_msg', 'token_usage_record'),
      );
      const record = fc.dictionary(fc.constantFrom('type', 'message', 'payload', 'subtype'), value);
      fc.assert(
        fc.property(fc.array(record), (records) => {
          const found = use(harness, records);
          expect(found === null || Number.isInteger(found.tokens)).toBe(true);
        }),
      );
    },
  );
});

describe('a count that is told', () => {
  it.each([
    [{ tokens: 122_499, most: null }, 122_000],
    [{ tokens: 400, most: 8_000 }, 0],
    [{ tokens: 155_900, most: 258_400 }, 156_000],
    [{ tokens: 333_333, most: 1_000_000 }, 330_000],
  ])('of %o is %d', (use, tokens) => expect(coarseUse(use)).toEqual({ tokens, most: use.most }));

  it('moves at most a hundred times while a window is filled', () => {
    for (const most of [128_000, 200_000, 1_000_000]) {
      const told = Array.from({ length: 2_000 }, (_, nth) =>
        coarseUse({ tokens: (most * nth) / 2_000, most }),
      );
      expect(new Set(told.map(({ tokens }) => tokens)).size).toBeLessThanOrEqual(130);
    }
  });
});
