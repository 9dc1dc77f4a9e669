import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountOf } from '../../../src/harness/account.ts';
import { builtinAgents } from '../../../src/harness/agents/builtin-agents.ts';
import { HARNESSES } from '../../../src/harness/harnesses.ts';
import { parseResetTime } from '../../../src/harness/transcripts/reset-time.ts';
import { MOST_TAIL_BYTES, readTail } from '../../../src/harness/transcripts/transcript-tail.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

const AT = Date.parse('2026-09-18T17:35:33.000Z');
const at = (text: string) => Date.parse(text);

/** Records as Claude Code 2.1 writes them, cut down to what is read. */
const claude = {
  limit: (text: string, more: object = {}) => ({
    type: 'assistant',
    timestamp: '2026-09-18T17:35:33.000Z',
    message: { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] },
    error: 'rate_limit',
    isApiErrorMessage: true,
    apiErrorStatus: 429,
    ...more,
  }),
  said: (text: string, timestamp = '2026-09-18T17:30:00.000Z') => ({
    type: 'assistant',
    timestamp,
    message: { role: 'assistant', model: 'claude-opus', content: [{ type: 'text', text }] },
  }),
  user: (text: string) => ({ type: 'user', message: { role: 'user', content: text } }),
  turn: { type: 'system', subtype: 'turn_duration' },
};
const codex = {
  event: (payload: object) => ({ timestamp: '2026-09-18T17:35:33.000Z', type: 'event_msg', payload }),
  limit: (message: string) =>
    codex.event({
      type: 'task_complete',
      last_agent_message: null,
      error: { message, codex_error_info: 'usage_limit_exceeded' },
    }),
  windows: (primary: object | null, secondary: object | null = null) =>
    codex.event({ type: 'token_count', rate_limits: { limit_id: 'codex', primary, secondary } }),
  none: {
    timestamp: '2026-09-18T17:35:33.000Z',
    type: 'event_msg',
    payload: { type: 'token_count', rate_limits: null },
  },
  said: {
    timestamp: '2026-09-18T17:30:00.000Z',
    type: 'response_item',
    payload: { type: 'message', role: 'assistant', content: [] },
  },
};
const pi = (message: object) => ({
  type: 'message',
  timestamp: '2026-09-18T17:35:33.000Z',
  message: { role: 'assistant', ...message },
});
const HIT = 'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro)';
const sign = (harness: 'claude' | 'codex' | 'pi', ...oldestFirst: object[]) =>
  HARNESSES[harness].records.usageSign(oldestFirst.reverse() as Record<string, unknown>[], 'UTC');
const limited = (more: object) => ({ kind: 'limited', limit: more });

describe('when a usage limit ends', () => {
  it.each<[notice: string, zone: string, ends: string | null]>([
    ["You've hit your session limit · resets 5:40pm (Europe/Madrid)", 'UTC', '2026-09-19T15:40:00Z'],
    ["You've hit your limit · resets 8pm (Europe/Berlin)", 'UTC', '2026-09-18T18:00:00Z'],
    ["You've hit your limit · resets 8pm", 'America/New_York', '2026-09-19T00:00:00Z'],
    ["You've hit your limit · resets 12am (UTC)", 'UTC', '2026-09-19T00:00:00Z'],
    ["You've hit your limit · resets 5:33pm (UTC)", 'UTC', '2026-09-18T17:33:00Z'],
    ["You've hit your weekly limit · resets Sep 21 at 10pm (Europe/Lisbon)", 'UTC', '2026-09-21T21:00:00Z'],
    ["You've hit your limit · resets Jan 18, 11:30am (Asia/Calcutta)", 'UTC', '2027-01-18T06:00:00Z'],
    [
      'Claude usage limit reached. Your limit will reset at 10am (America/Lima).',
      'UTC',
      '2026-09-19T15:00:00Z',
    ],
    ['Claude AI usage limit reached|1790000000', 'UTC', new Date(1_790_000_000_000).toISOString()],
    ["You're out of extra usage · resets 11:59pm (No/Such)", 'UTC', '2026-09-18T23:59:00Z'],
    ['… or try again at 7:58 PM.', 'Europe/Lisbon', '2026-09-18T18:58:00Z'],
    ['… or try again at Sep 21st, 2026 10:59 PM.', 'UTC', '2026-09-21T22:59:00Z'],
    ['… or try again in 2 days 17 hours 14 minutes.', 'UTC', new Date(AT + 234_840_000).toISOString()],
    ["You've hit your session limit", 'UTC', null],
    ['resets 25pm (UTC)', 'UTC', null],
  ])('[P10] is read from “%s” in %s', (notice, zone, ends) => {
    expect(parseResetTime(notice, AT, zone)).toBe(ends === null ? null : at(ends));
  });

  it('[P10] is the next such time on that clock, on any day, across changes of summer time too', () => {
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC');
    const moments = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') });
    fc.assert(
      fc.property(zones, moments, fc.integer({ min: 4, max: 11 }), (zone, now, hour) => {
        const ends = parseResetTime(`resets ${hour}am (${zone})`, now, 'UTC');
        expect(ends).not.toBeNull();
        const shown = new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', minute: '2-digit' });
        expect(shown.format(ends ?? 0)).toMatch(new RegExp(`^${hour}:00\\sAM$`));
        expect((ends ?? 0) - now).toBeGreaterThan(-5 * 60_000 - 1);
        expect((ends ?? 0) - now).toBeLessThanOrEqual(25 * 3_600_000);
      }),
    );
  });
});

describe('the last usage sign of a transcript', () => {
  it('[P10] of claude is a limit with its end, although unrelated records follow it', () => {
    const notice = "You've hit your session limit · resets 8pm (UTC)";
    const found = sign(
      'claude',
      claude.said('working'),
      claude.limit(notice),
      claude.turn,
      claude.user('go on'),
    );
    expect(found).toEqual(limited({ notice, at: AT, resets_at: at('2026-09-18T20:00:00Z'), family: null }));
  });

  it.each<[title: string, records: object[], kind: string]>([
    [
      'work after a limit',
      [claude.limit("You've hit your limit · resets 8pm"), claude.said('on')],
      'working',
    ],
    ['words about a limit', [claude.said("You've hit your session limit · resets 8pm (UTC)")], 'working'],
    ['a user who quotes one', [claude.user("You've hit your session limit · resets 8pm (UTC)")], 'none'],
    ['another error', [claude.limit('API Error: 500 overloaded', { error: 'unknown' })], 'none'],
    ['a burst that passes', [claude.limit('API Error: Rate limit reached')], 'none'],
    ['a limit of fast answers', [claude.limit("You've hit your fast limit · resets in 5m")], 'none'],
    [
      'the form of older versions',
      [claude.limit('Claude AI usage limit reached|1790000000', { error: undefined })],
      'limited',
    ],
    ['credits that are used up', [claude.limit("You're out of usage credits.")], 'limited'],
  ])('[P10] of claude: %s', (_, records, kind) => {
    expect(sign('claude', ...records).kind).toBe(kind);
  });

  it('[P10] of claude names the models that the limit is for', () => {
    expect(
      sign('claude', claude.limit("You've hit your Opus limit · resets Sep 21 at 10pm (UTC)")),
    ).toMatchObject(limited({ family: 'opus' }));
    expect(sign('claude', claude.limit("You've hit your weekly limit · resets 8pm (UTC)"))).toMatchObject(
      limited({ family: null }),
    );
  });

  it.each<[title: string, records: object[], resets_at: number | null]>([
    [
      'the window that is used up',
      [
        codex.windows(
          { used_percent: 100, resets_at: 1_790_000_000 },
          { used_percent: 80, resets_at: 1_790_900_000 },
        ),
        codex.none,
        codex.limit(HIT),
      ],
      1_790_000_000_000,
    ],
    [
      'the longer one where both are, told afterwards',
      [
        codex.limit(HIT),
        codex.windows(
          { used_percent: 100, resets_at: 1_790_000_000 },
          { used_percent: 100, resets_at: 1_790_900_000 },
        ),
      ],
      1_790_900_000_000,
    ],
    [
      'seconds from then, as older versions tell',
      [codex.windows({ used_percent: 100, resets_in_seconds: 60 }), codex.limit(HIT)],
      AT + 60_000,
    ],
    [
      'the sentence where no window is told',
      [codex.limit(`${HIT} or try again at 7:58 PM.`)],
      at('2026-09-18T19:58:00Z'),
    ],
    ['nothing', [codex.said, codex.limit(HIT)], null],
    [
      'the event of its own that older versions write',
      [
        codex.event({
          type: 'error',
          message: `${HIT} or try again in 1 hour.`,
          codex_error_info: 'usage_limit_exceeded',
        }),
      ],
      AT + 3_600_000,
    ],
  ])('[P10] of codex is a limit whose end comes from %s', (_, records, resets_at) => {
    expect(sign('codex', ...records)).toMatchObject(limited({ at: AT, resets_at }));
  });

  it('[P10] of codex is no limit if it answered again, nor if another error ended the turn', () => {
    expect(sign('codex', codex.limit(HIT), codex.said)).toEqual({
      kind: 'working',
      at: at('2026-09-18T17:30:00Z'),
    });
    const other = codex.event({
      type: 'task_complete',
      error: { message: HIT, codex_error_info: 'network' },
    });
    expect(sign('codex', other)).toEqual({ kind: 'none' });
    const done = codex.event({ type: 'task_complete', last_agent_message: HIT });
    expect(sign('codex', done).kind).toBe('working');
  });

  it('[P10] of pi is a limit of its provider, with its end', () => {
    const errorMessage =
      'Codex error: {"type":"error","error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1790000000}}';
    expect(sign('pi', pi({ stopReason: 'stop' }), pi({ stopReason: 'error', errorMessage }))).toMatchObject(
      limited({ resets_at: 1_790_000_000_000 }),
    );
    expect(sign('pi', pi({ stopReason: 'error', errorMessage: 'connection reset' })).kind).toBe('none');
    expect(sign('pi', pi({ stopReason: 'error', errorMessage }), pi({ stopReason: 'stop' })).kind).toBe(
      'working',
    );
  });

  it('[P10] is read from a notice of megabytes in which every word may start a match', () => {
    expect(sign('claude', claude.limit('limit '.repeat(500_000))).kind).toBe('none');
    expect(sign('claude', claude.limit('hit your '.repeat(300_000))).kind).toBe('none');
  });

  it('[P10] is read from any transcript without failing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('claude', 'codex', 'pi' as const),
        fc.array(
          fc.dictionary(
            fc.constantFrom('type', 'message', 'payload', 'timestamp', 'isApiErrorMessage'),
            fc.jsonValue(),
          ),
        ),
        (harness, records) => {
          expect(['limited', 'working', 'none']).toContain(
            HARNESSES[harness as 'pi'].records.usageSign(records, 'UTC').kind,
          );
        },
      ),
    );
  });
});

describe('the end of a transcript', () => {
  let folder: ScratchFolder;
  beforeEach(() => {
    folder = scratchFolder();
  });
  afterEach(() => folder.remove());

  it('[P20] is read newest first and up to its limit, whatever the size', async () => {
    const path = join(folder.path, 't.jsonl');
    const line = `${JSON.stringify({ n: 'x'.repeat(1000) })}\n`;
    writeFileSync(path, `${line.repeat(2_000)}{"n":1}\n{"n":2}\n{"torn":`);
    const records = [...(await readTail(path))];
    expect(records.slice(0, 2)).toEqual([{ n: 2 }, { n: 1 }]);
    expect(records.length).toBeLessThan(MOST_TAIL_BYTES / 1000);
  });

  it('[P20] is empty if there is no file, and an error if it cannot be read', async () => {
    expect([...(await readTail(join(folder.path, 'none')))]).toEqual([]);
    mkdirSync(join(folder.path, 'dir'));
    await expect(readTail(join(folder.path, 'dir'))).rejects.toThrow();
  });
});

describe('the account of an agent', () => {
  const agent = builtinAgents().find((one) => one.harness === 'claude')!;
  const env = { HOME: '/home/me', ANTHROPIC_API_KEY: 'sk-secret' };

  it('[P10] is the same for agents that share a login, and different for another login', () => {
    const own = accountOf(agent, env);
    expect(accountOf({ ...agent, id: 'other', model: 'opus' }, env)).toBe(own);
    expect(accountOf({ ...agent, env: { CLAUDE_CONFIG_DIR: '/work' } }, env)).not.toBe(own);
    expect(accountOf({ ...agent, env: { ANTHROPIC_API_KEY: 'sk-other' } }, env)).not.toBe(own);
    expect(accountOf({ ...agent, harness: 'codex' }, env)).not.toBe(own);
    expect(own).not.toContain('secret');
  });

  it('[P10] of pi is one for each provider', () => {
    const pi = { ...agent, harness: 'pi' as const, model: 'anthropic/opus' };
    expect(accountOf(pi, env)).toBe(accountOf({ ...pi, model: 'anthropic/sonnet' }, env));
    expect(accountOf(pi, env)).not.toBe(accountOf({ ...pi, model: 'openai/gpt' }, env));
  });
});
