import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HarnessName } from '../../../src/contract/harness-name.ts';
import type { Tokens } from '../../../src/contract/http/spend.ts';
import { HARNESSES } from '../../../src/harness/harnesses.ts';
import { readSpend } from '../../../src/harness/transcripts/session-spend.ts';
import { noUsage, sumUsage } from '../../../src/harness/transcripts/token-usage.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-spend-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const cache = () => join(root, 'cache');
const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** One record of an answer, as Claude Code 2.1 writes it. */
const claude = (id: string, output: number, uuid = `u-${id}-${output}`) => ({
  type: 'assistant',
  uuid,
  timestamp: '2026-11-21T09:22:45.827Z',
  message: {
    id,
    role: 'assistant',
    model: 'claude-sonnet-5',
    content: [],
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: output,
    },
  },
});

/** What Codex 0.169 writes after each answer. */
const codexAnswer = (turn: string, response: string, usage: object) => ({
  type: 'token_usage_record',
  payload: { turn_id: turn, response_id: response, usage, thread_token_usage: usage },
});
const codexTotal = (total: object | null) => ({
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: total === null ? null : { total_token_usage: total },
    rate_limits: {},
  },
});
const codexUsage = (input: number, cached: number, output: number) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  cache_write_input_tokens: 0,
  output_tokens: output,
  total_tokens: input + output,
});

/** One answer as Pi 0.87 writes it. */
const pi = (id: string, output: number) => ({
  type: 'message',
  id,
  timestamp: '2026-11-21T09:23:43.010Z',
  message: {
    role: 'assistant',
    model: 'stub-1',
    content: [],
    usage: { input: 5, output, cacheRead: 7, cacheWrite: 2, totalTokens: 14 + output, cost: { total: 0 } },
  },
});

function told(harness: HarnessName, records: object[]): { tokens: Tokens | null; answers: number } {
  const usage = noUsage();
  for (const record of records) HARNESSES[harness].records.addUsage(usage, record as Record<string, unknown>);
  return sumUsage(usage);
}

describe('the tokens in a transcript', () => {
  it.each<[string, HarnessName, object[], Tokens | null, number]>([
    ['nothing, where no answer came', 'claude', [{ type: 'user', message: { content: 'hi' } }], null, 0],
    [
      'the last count of an answer that was written in several records',
      'claude',
      [claude('a', 1, 'u1'), { type: 'user', message: {} }, claude('b', 4), claude('a', 9, 'u2')],
      { input: 6, cache_read: 200, cache_write: 40, output: 13 },
      2,
    ],
    [
      'nothing for what the harness itself wrote in place of an answer',
      'claude',
      [{ ...claude('a', 5), message: { ...claude('a', 5).message, model: '<synthetic>' } }],
      null,
      0,
    ],
    [
      'each answer of a Codex that counts by answer, without the totals beside it',
      'codex',
      [
        codexAnswer('t1', 'r1', codexUsage(100, 60, 10)),
        codexTotal(codexUsage(100, 60, 10)),
        codexAnswer('t1', 'r2', codexUsage(50, 0, 5)),
        codexTotal(codexUsage(150, 60, 15)),
      ],
      { input: 90, cache_read: 60, cache_write: 0, output: 15 },
      2,
    ],
    [
      'the growth of a total that is told again and again, and begins again',
      'codex',
      [
        codexTotal(null),
        codexTotal(codexUsage(100, 60, 10)),
        codexTotal(codexUsage(100, 60, 10)),
        codexTotal(codexUsage(130, 70, 20)),
        codexTotal(codexUsage(8, 0, 2)),
      ],
      { input: 68, cache_read: 70, cache_write: 0, output: 22 },
      3,
    ],
    [
      'the totals of an older Codex and then the answers of the one that went on',
      'codex',
      [
        codexTotal(codexUsage(100, 0, 10)),
        codexAnswer('t2', 'r1', codexUsage(7, 0, 1)),
        codexTotal(codexUsage(107, 0, 11)),
      ],
      { input: 107, cache_read: 0, cache_write: 0, output: 11 },
      2,
    ],
    [
      'every answer of Pi',
      'pi',
      [pi('a', 1), { type: 'message', id: 'x', message: { role: 'user', content: [] } }, pi('b', 2)],
      { input: 10, cache_read: 14, cache_write: 4, output: 3 },
      2,
    ],
  ])('[P25] is %s', (_title, harness, records, tokens, answers) => {
    expect(told(harness, records)).toEqual({ tokens, answers });
  });
});

describe('the usage of sessions', () => {
  it('[P25] is unknown, not zero, if a transcript is missing or has no counts', async () => {
    const silent = join(root, 'silent.jsonl');
    writeFileSync(silent, lines([{ type: 'user', message: { content: 'hi' } }]));
    const spends = await readSpend(
      [
        { session: 'nowhere', harness: 'pi', path: null },
        { session: 'gone', harness: 'pi', path: join(root, 'gone.jsonl') },
        { session: 'silent', harness: 'claude', path: silent },
        { session: 'folder', harness: 'claude', path: root },
      ],
      cache(),
    );
    expect(spends.map(({ tokens, unknown }) => [tokens, unknown])).toEqual([
      [null, 'transcript_missing'],
      [null, 'transcript_missing'],
      [null, 'no_counts'],
      [null, 'unreadable'],
    ]);
  });

  it('counts an answer that a fork copied for the session that received it', async () => {
    const parent = join(root, 'parent.jsonl');
    const fork = join(root, 'fork.jsonl');
    writeFileSync(parent, lines([claude('a', 10)]));
    writeFileSync(fork, lines([claude('a', 10), claude('b', 5)]));
    const sessions = [
      { session: 'parent', harness: 'claude' as const, path: parent },
      { session: 'fork', harness: 'claude' as const, path: fork },
    ];
    const outputs = async () => (await readSpend(sessions, cache())).map(({ tokens }) => tokens?.output);
    expect(await outputs()).toEqual([10, 5]);
    // From what was kept it is the same, also when the fork is asked for by itself first.
    expect((await readSpend(sessions.slice(1), cache()))[0]?.tokens?.output).toBe(15);
    expect(await outputs()).toEqual([10, 5]);
  });

  it('includes the sub-agents of a session', async () => {
    const path = join(root, 's1.jsonl');
    writeFileSync(path, lines([claude('a', 10)]));
    mkdirSync(join(root, 's1', 'subagents'), { recursive: true });
    writeFileSync(join(root, 's1', 'subagents', 'agent-1.jsonl'), lines([claude('x', 7)]));
    const [spend] = await readSpend([{ session: 's1', harness: 'claude', path }], cache());
    expect(spend).toMatchObject({ answers: 2, tokens: { output: 17 }, models: ['claude-sonnet-5'] });
  });

  it('is the same for a transcript read in steps, incomplete, replaced or with its cache lost, as read at once', async () => {
    const record = fc.oneof(
      fc
        .tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 50 }))
        .map(([id, output]) => JSON.stringify(claude(`m${id}`, output))),
      fc.constantFrom(
        '',
        'no json',
        '{"type":"user"}',
        '{"usage":1',
        JSON.stringify({ usage: 'x'.repeat(2_000) }),
      ),
    );
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), record }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('tear' as const), record, at: fc.nat(200) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), record }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constantFrom('replace' as const, 'truncate', 'forget'), record }),
      },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        run += 1;
        const path = join(root, `t${run}.jsonl`);
        const session = { session: 's', harness: 'claude' as const, path };
        writeFileSync(path, '');
        for (const one of steps) {
          if (one.kind === 'append') appendFileSync(path, `${one.record}\n`);
          else if (one.kind === 'tear') appendFileSync(path, one.record.slice(0, one.at));
          else if (one.kind === 'ask') await readSpend([session], cache());
          else if (one.kind === 'forget') rmSync(cache(), { recursive: true, force: true });
          else if (one.kind === 'truncate') writeFileSync(path, '');
          else {
            writeFileSync(`${path}.new`, `${one.record}\n`);
            renameSync(`${path}.new`, path);
          }
        }
        const known = await readSpend([session], cache());
        expect(known).toEqual(await readSpend([session], join(root, `fresh-${run}`)));
      }),
      { numRuns: 60 },
    );
  });

  it('reads only what was appended since the last call', async () => {
    const path = join(root, 'long.jsonl');
    const filler = `${JSON.stringify({ type: 'mode', text: 'x'.repeat(2_000) })}\n`;
    writeFileSync(path, filler + lines([claude('a', 10), claude('b', 1)]) + filler);
    const ask = async () =>
      (await readSpend([{ session: 's', harness: 'claude', path }], cache()))[0]?.tokens;
    expect((await ask())?.output).toBe(11);
    // Only the first bytes and the last ones that were read are looked at again, so this rewriting goes unnoticed.
    const text = lines([claude('a', 99)]);
    const file = openSync(path, 'r+');
    writeSync(file, text, filler.length);
    closeSync(file);
    appendFileSync(path, lines([claude('c', 1)]));
    expect((await ask())?.output).toBe(12);
    expect((await readdir(cache())).length).toBe(1);
  });
});
