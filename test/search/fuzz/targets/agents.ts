import type { HarnessName } from '../../../../src/contract/harness-name.ts';
import { HARNESSES } from '../../../../src/harness/harnesses.ts';
import {
  commitTold,
  eventLine,
  failedTurnLine,
  sessionStartLine,
  toldAt,
} from '../../../../src/harness/hooks/event-line.ts';
import { phaseLine } from '../../../../src/harness/hooks/phase-line.ts';
import { lastSaid } from '../../../../src/harness/transcripts/last-said.ts';
import { readMoment } from '../../../../src/harness/transcripts/moment.ts';
import { readSpend } from '../../../../src/harness/transcripts/session-spend.ts';
import { readTail } from '../../../../src/harness/transcripts/transcript-tail.ts';
import type { Seeded } from '../../../faults/seeded.ts';
import { JSON_PUMPS, jsonObject, jsonText, jsonValue } from '../grammar/json.ts';
import { damaged, type Pump, pick, pumped, several } from '../grammar/parts.ts';
import type { Generated, Target } from '../target.ts';
import { ownFile, ownPath } from './files.ts';

const NOW = Date.UTC(2026, 0, 2);
const TIMES = ['2026-01-01T23:59:00Z', '2026-01-02T00:00:00.000Z', 'never', null, 5];

/** What a reader of notices and commands looks for, so that rules with backtracking are met where they hurt. */
const TEXT_PUMPS: readonly Pump[] = [
  { name: 'limit', piece: () => 'limit ' },
  { name: 'hit your', piece: () => 'hit your ' },
  { name: 'resets at', piece: () => 'resets at 1' },
  { name: 'try again in', head: 'try again in ', piece: () => '1 day ' },
  { name: 'bars and digits', head: 'limit ', piece: () => '|12345678' },
  { name: 'git', piece: () => 'git ' },
  { name: 'git -C', piece: () => 'git -C ' },
  { name: 'cd', piece: () => ';cd ' },
  { name: 'cd and spaces', head: 'git commit;cd x', piece: () => ' ' },
  { name: 'open quotes', head: 'git commit; git -C "', piece: () => '"a ' },
  { name: 'spaces', piece: () => ' ' },
  { name: 'lines', piece: () => '\n' },
  { name: 'opus', piece: () => 'opus ' },
  { name: 'emoji', piece: () => '\ud83d\ude00' },
  { name: 'lone surrogates', piece: () => '\ud83d' },
];

/** Said in a message or a command; no ledger may keep it. */
const PRIVATE = 'WORDS-OF-A-MESSAGE';

/** The transcripts of one harness, by every reader that there is. */
export const transcripts: readonly Target[] = (['claude', 'codex', 'pi'] as const).map((harness) => ({
  name: `transcript-${harness}`,
  generate: (random, turn) => transcript(random, turn, harness),
  async run(input) {
    const path = ownFile(`${harness}.jsonl`, input);
    const tail = [...(await readTail(path))];
    const cache = ownPath('spend');
    return {
      tail: tail.length,
      end: HARNESSES[harness].records.turnEnd(tail),
      usage: HARNESSES[harness].records.usageSign(tail, 'Europe/Berlin'),
      said: await lastSaid(harness, path),
      moment: readMoment(path, harness, { at: NOW, within_ms: 60_000 }),
      spend: await readSpend([{ session: 's', harness, path }], cache),
      again: await readSpend([{ session: 's', harness, path }], cache),
    };
  },
  judge(_input, answer) {
    const { spend, again, said } = answer as { spend: unknown; again: unknown; said: string | null };
    const problems: string[] = [];
    if (JSON.stringify(spend) !== JSON.stringify(again))
      problems.push('the spend of a transcript that did not change did');
    if (said !== null && said.length > 500) problems.push(`the last words have ${said.length} characters`);
    return problems;
  },
}));

/** What becomes of what a hook left. */
export const hooks: Target = {
  name: 'hook-input',
  generate: hookInput,
  run(input) {
    const value = parsed(input);
    const around = { id: 'id', now: NOW, harness: 'claude', mux_session: null, host: 'h' };
    return {
      at: toldAt(value, NOW),
      event: eventLine(value, around),
      start: sessionStartLine(value, NOW),
      phase: phaseLine(value, NOW),
      failed: failedTurnLine(value, NOW),
      commit: commitTold(value),
    };
  },
  judge(_input, answer) {
    const { event, phase } = answer as { event: unknown; phase: { said: string | null } | null };
    const problems: string[] = [];
    const line = JSON.stringify(event);
    if (line.includes(PRIVATE))
      problems.push(`the events ledger keeps words of a message: ${line.slice(0, 300)}`);
    if (line.length > 2 * 1024 * 1024)
      problems.push(`one line of the events ledger has ${line.length} characters`);
    if (phase?.said != null && phase.said.length > 500)
      problems.push(`a phase keeps ${phase.said.length} characters`);
    return problems;
  },
};

function transcript(random: Seeded, turn: number | null, harness: HarnessName): Generated {
  const { text: words, pump } = spoken(random, turn);
  const line = () => {
    const record = random.chance(0.9)
      ? RECORDS[harness](random, words)
      : jsonValue(random, ['type', 'message', 'payload']);
    return `${jsonText(random, record).replaceAll('\n', ' ')}\n`;
  };
  const text = several(random, 1, 14, line);
  if (pump !== null || turn === null) return { input: damaged(random, text), pump };
  const { name, text: many } = pumped(turn >> 1, JSON_PUMPS);
  return { input: damaged(random, `${text}{"type":"assistant","usage":${many}}\n`), pump: name };
}

function spoken(random: Seeded, turn: number | null): { text: string; pump: string | null } {
  if (turn === null || turn % 2 === 0) {
    const text = pick(random, [
      'Done.',
      "You've hit your limit · resets 3pm",
      'usage limit reached|1770000000',
      'try again in 2 days',
      'limit resets at Jan 5, 3:99pm (Mars/X)',
      '',
    ]);
    return { text, pump: null };
  }
  const { name, text } = pumped(turn >> 1, TEXT_PUMPS);
  return { text, pump: name };
}

type Make = (random: Seeded, words: string) => unknown;
const usage = (random: Seeded) =>
  random.chance(0.5)
    ? { input_tokens: random.whole(0, 9), output_tokens: 1, cache_read_input_tokens: 2 }
    : jsonObject(random, ['input_tokens', 'output_tokens']);

const RECORDS: Readonly<Record<HarnessName, Make>> = {
  claude: (random, words) => ({
    type: pick(random, ['assistant', 'user', 'system', 'summary']),
    timestamp: pick(random, TIMES),
    ...(random.chance(0.3) ? { isApiErrorMessage: true } : {}),
    ...(random.chance(0.2) ? { isSidechain: true } : {}),
    sessionId: 's',
    requestId: pick(random, ['r1', 'r2']),
    message: {
      id: pick(random, ['m1', 'm2']),
      model: 'x',
      content: pick<unknown>(random, [
        words,
        [{ type: 'text', text: words }],
        [{ type: 'tool_use', name: 'Bash', input: { command: words } }],
        null,
      ]),
      usage: usage(random),
    },
  }),
  codex: (random, words) => ({
    type: pick(random, ['event_msg', 'response_item', 'turn_context', 'session_meta']),
    timestamp: pick(random, TIMES),
    payload: pick<unknown>(random, [
      { type: 'task_complete', error: { message: words, codex_error_info: 'usage_limit_exceeded' } },
      {
        type: 'token_count',
        info: { total_token_usage: usage(random), last_token_usage: usage(random) },
        rate_limits: { primary: { used_percent: 100, resets_at: 1 } },
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] },
      { type: 'function_call', name: 'shell', arguments: words },
      jsonObject(random, ['type', 'error', 'content']),
    ]),
  }),
  pi: (random, words) => ({
    type: pick(random, ['message', 'session', 'model_change']),
    timestamp: pick(random, TIMES),
    message: {
      role: pick(random, ['assistant', 'user', 'toolResult']),
      stopReason: pick(random, ['error', 'aborted', 'stop']),
      errorMessage: words,
      content: [{ type: 'text', text: words }],
      usage: usage(random),
    },
  }),
};

const HOOKS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'Stop',
  'StopFailure',
  'Notification',
  'PermissionRequest',
  'Other',
];

function hookInput(random: Seeded, turn: number | null): Generated {
  const { text: words, pump } = spoken(random, turn);
  const value = {
    hook_event_name: pick(random, HOOKS),
    session_id: pick(random, ['s', '', null, 1]),
    cwd: pick(random, ['/a', 'b', null]),
    source: pick(random, ['startup', 'resume']),
    prompt: `${PRIVATE} ${words}`,
    message: `${PRIVATE} ${words}`,
    last_assistant_message: pick(random, [words, `${PRIVATE} ${words}`]),
    notification_type: pick(random, ['permission_prompt', 'idle']),
    tool_name: pick(random, ['Bash', 'Read', 'exec_command', '']),
    tool_input: pick<unknown>(random, [
      { command: `${words} ${PRIVATE}`, file_path: '/a/b' },
      { command: ['git', words], files: Array.from({ length: 100 }, (_, n) => `/f${n}`) },
      { content: PRIVATE, path: 'x'.repeat(5_000) },
      jsonObject(random, ['command', 'path', 'files']),
    ]),
    told_at: pick(random, [NOW - 5, NOW + 5, 'x', 0]),
    ...(random.chance(0.3) ? jsonObject(random, ['session_id', 'tool_name', 'hook_event_name']) : {}),
  };
  return {
    input: damaged(random, jsonText(random, random.chance(0.95) ? value : jsonValue(random, ['a']))),
    pump,
  };
}

function parsed(input: Buffer): unknown {
  try {
    return JSON.parse(input.toString('utf8'));
  } catch {
    return null;
  }
}
