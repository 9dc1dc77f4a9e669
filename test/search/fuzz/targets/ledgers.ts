import { isDeepStrictEqual } from 'node:util';
import { silentLogger } from '../../../../src/base/logger.ts';
import { commitLineSchema, EVENT_TYPES, sessionLineSchema } from '../../../../src/contract/ledger.ts';
import { CommitsLedger } from '../../../../src/ledgers/commits-ledger.ts';
import { EventsIndex } from '../../../../src/ledgers/events-index.ts';
import { SessionsLedger } from '../../../../src/ledgers/sessions-ledger.ts';
import type { Seeded } from '../../../faults/seeded.ts';
import { readPlainly, sorted } from '../../../ledgers/plain-reading.ts';
import { JSON_PUMPS, jsonObject, jsonText, jsonValue } from '../grammar/json.ts';
import { damaged, type Pump, pick, pumped, several } from '../grammar/parts.ts';
import type { Target } from '../target.ts';
import { ownFile } from './files.ts';

/** Beyond the latest time that a line may bear. */
const EVER = 8.64e13 + 60_000;
const AT = Date.UTC(2026, 0, 2);

const LINE_PUMPS: readonly Pump[] = [
  { name: 'blank lines', piece: () => '\n' },
  { name: 'braces', piece: () => '{' },
  {
    name: 'tool calls far apart',
    piece: (n) => `{"timestamp":${n * 6e8},"type":"${n % 2 ? 'post' : 'pre'}_tool_use"}\n`,
  },
  {
    name: 'sessions',
    piece: (n) => `{"timestamp":${AT + n},"type":"stop","sessionId":"s${n}","cwd":"/c${n}"}\n`,
  },
  { name: 'torn lines', piece: () => '{"timestamp":1,"ty\n' },
];

export const events: Target = {
  name: 'ledger-events',
  generate: (random, turn) => lines(random, turn, event),
  async run(input) {
    const path = ownFile('events.jsonl', input);
    const index = new EventsIndex({ path, checkpoint: null, logger: silentLogger });
    return index.read(() => ({
      buckets: sorted(index.buckets(0, EVER)),
      sent: index.sent(),
      lines: index.counts.lines,
      malformed: index.counts.malformed,
      last: index.lastEvents().size,
    }));
  },
  judge(input, answer) {
    const { last: _last, ...read } = answer as ReturnType<typeof readPlainly> & { last: number };
    const plain = readPlainly(ownFile('events.jsonl', input));
    return isDeepStrictEqual(read, plain) ? [] : [`read ${brief(read)}, line by line it is ${brief(plain)}`];
  },
};

export const sessions: Target = {
  name: 'ledger-sessions',
  generate: (random, turn) => lines(random, turn, session),
  async run(input) {
    const ledger = new SessionsLedger({ path: ownFile('sessions.jsonl', input) });
    await ledger.refresh();
    return { entries: ledger.sessions(), malformed: ledger.counts.malformed };
  },
  judge: (input, answer) => compare(input, answer, (value) => sessionLineSchema.safeParse(value).data),
};

export const commits: Target = {
  name: 'ledger-commits',
  generate: (random, turn) => lines(random, turn, commit),
  async run(input) {
    const ledger = new CommitsLedger({ path: ownFile('commits.jsonl', input) });
    await ledger.refresh();
    return { entries: ledger.commits(), malformed: ledger.counts.malformed };
  },
  judge: (input, answer) =>
    compare(
      input,
      answer,
      (value) => commitLineSchema.safeParse(value).data,
      ({ sha }) => String(sha),
    ),
};

function lines(random: Seeded, turn: number | null, make: (random: Seeded) => unknown) {
  const one = () =>
    `${jsonText(random, random.chance(0.9) ? make(random) : jsonValue(random, ['at', 'type']))}\n`;
  const text = several(random, 0, 12, one);
  if (turn === null) return { input: damaged(random, text), pump: null };
  const { name, text: many } = pumped(turn, [...LINE_PUMPS, ...JSON_PUMPS]);
  const inside = random.chance(0.5) ? `{"timestamp":1,"type":"stop","x":${many}}\n` : `${many}\n`;
  return { input: damaged(random, text + inside + one()), pump: name };
}

function event(random: Seeded): unknown {
  return {
    timestamp: pick(random, [AT, AT + random.whole(0, 1e8), 0, -1, 8.64e13, 1.5, '1']),
    type: pick(random, [...EVENT_TYPES, 'other', '']),
    sessionId: pick(random, ['s1', 's2', null, '', 'ü']),
    cwd: pick(random, ['/a', null, 'b']),
    ...(random.chance(0.4)
      ? { tool: pick(random, ['Bash', 'SendUserFile', 'x"y']), toolInput: { files: ['a', '/b', 1] } }
      : {}),
    ...(random.chance(0.2) ? { machine: pick(random, [true, false, 1]) } : {}),
    ...(random.chance(0.3) ? jsonObject(random, ['x', 'harness', 'tmuxSession', 'type']) : {}),
  };
}

function session(random: Seeded): unknown {
  const name = () => pick(random, ['a', 'b', null, 'work/loader', 1]);
  return {
    fiber: name(),
    uid: name(),
    session: name(),
    thread_id: null,
    harness: 'claude',
    host: 'h',
    mux: name(),
    at: random.whole(0, 1e12),
    kind: pick(random, ['dispatch', 'ended', 'claim', 'other']),
    ...(random.chance(0.3) ? jsonObject(random, ['reason', 'run_id', 'resumed', 'agent']) : {}),
  };
}

function commit(random: Seeded): unknown {
  return {
    at: 1,
    kind: 'commit',
    sha: pick(random, ['a', 'b', '0']).repeat(random.whole(39, 41)),
    subject: pick(random, ['x', '']),
    repo: '/r',
    files: random.whole(0, 2),
    insertions: 1,
    deletions: pick(random, [0, 0.5]),
    session: null,
    mux: null,
    cwd: '/',
  };
}

type Entries = { entries: Record<string, unknown>[]; malformed: number };

function compare(
  input: Buffer,
  answer: unknown,
  parse: (value: unknown) => Record<string, unknown> | undefined,
  key?: (entry: Record<string, unknown>) => string,
): string[] {
  const plain: Entries = { entries: [], malformed: 0 };
  const seen = new Set<string>();
  for (const line of input.toString('utf8').split('\n').slice(0, -1)) {
    if (line.trim() === '') continue;
    const entry = entryOf(line, parse);
    if (entry === undefined) plain.malformed += 1;
    else if (key === undefined || !seen.has(key(entry))) {
      plain.entries.push(entry);
      if (key !== undefined) seen.add(key(entry));
    }
  }
  return isDeepStrictEqual(answer, plain)
    ? []
    : [`read ${brief(answer)}, line by line it is ${brief(plain)}`];
}

function entryOf(line: string, parse: (value: unknown) => Record<string, unknown> | undefined) {
  try {
    return parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function brief(value: unknown): string {
  return JSON.stringify(value).slice(0, 400);
}
