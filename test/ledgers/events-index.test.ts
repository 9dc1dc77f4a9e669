import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createLogger, silentLogger } from '../../src/base/logger.ts';
import { type Bucket, type EncodedPiece, EventsIndex } from '../../src/ledgers/events-index.ts';
import type { Prompts } from '../../src/ledgers/fiber-life.ts';

import { readPlainly, sorted } from './plain-reading.ts';

let dir: string;
let path: string;
let checkpoint: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-index-'));
  path = join(dir, 'events.jsonl');
  checkpoint = join(dir, 'events.index');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const EVER = 8.64e13 + 60_000;
const open = (more: Partial<ConstructorParameters<typeof EventsIndex>[0]> = {}) =>
  new EventsIndex({ path, checkpoint, logger: silentLogger, ...more });

const joined = (pieces: EncodedPiece[]) =>
  Buffer.concat(pieces.map(({ bytes }) => bytes ?? Buffer.from('missing')))
    .toString()
    .slice(1);

const inOrder = (prompts: Prompts[]) => prompts.sort((a, b) => a.m - b.m || (a.s < b.s ? -1 : 1));

/** What people typed, of all folders. */
function promptsOf(buckets: Bucket[]): Prompts[] {
  const prompts: Prompts[] = [];
  for (const { m, s, k, n } of buckets) {
    if (k !== 'attention' || s === null) continue;
    const known = prompts.find((one) => one.m === m && one.s === s);
    if (known === undefined) prompts.push({ m, s, n });
    else known.n += n;
  }
  return inOrder(prompts);
}

async function reading(index: EventsIndex) {
  return index.read(() => {
    const { lines, malformed } = index.counts;
    const encoded = JSON.parse(`[${joined(index.encodeBuckets(0, EVER))}]`);
    const buckets = sorted(index.buckets(0, EVER));
    return {
      buckets,
      prompts: inOrder(index.prompts(new Set(buckets.flatMap(({ s }) => s ?? [])))),
      encoded: sorted(encoded),
      sent: index.sent(),
      lines,
      malformed,
    };
  });
}

const plain = () => {
  const told = readPlainly(path);
  return { ...told, encoded: told.buckets, prompts: promptsOf(told.buckets) };
};

let serial = 0;
const MINUTE = 60_000;
const text = fc.oneof(
  fc.constantFrom('s-1', 's-2', '/srv/dev', '/srv/ü', 'a"b\\c', 'line\nbreak', '\u0000', '\ud800', ''),
  fc.string({ maxLength: 12 }),
);
const event = fc
  .record({
    timestamp: fc.oneof(
      fc.integer({ min: 0, max: 90 * MINUTE }),
      fc.constantFrom(-1, 0.5, 1e300, 8.64e13, 1.5e3, 99_999_999_999),
    ),
    type: fc.constantFrom(
      'session_start',
      'user_prompt_submit',
      'pre_tool_use',
      'post_tool_use',
      'stop',
      'stop_failure',
      'subagent_stop',
      'notification',
      'session_end',
      'something_new',
      '',
    ),
    sessionId: fc.option(text),
    cwd: fc.option(text),
    machine: fc.constantFrom(undefined, true, false, 'true'),
    tool: fc.constantFrom(undefined, 'Bash', 'SendUserFile', 3),
    toolInput: fc.oneof(
      fc.constantFrom({ files: ['out/a.png', '/b.png'] }, { files: [] }, { files: ['é', 4, ''] }),
      fc.jsonValue({ maxDepth: 3 }),
    ),
    extra: fc.jsonValue({ maxDepth: 3 }),
  })
  .map((line) => ({ id: `id-${serial++}`, ...line }));
const lineText = fc.oneof(
  { weight: 8, arbitrary: event.map((line) => JSON.stringify(line)) },
  { weight: 1, arbitrary: event.map((line) => JSON.stringify(line, null, ' ').replaceAll('\n', ' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '  ',
      '{}',
      'null',
      '[]',
      '{"timestamp":1,"type":"stop"',
      '{"timestamp":1,"type":"stop"}}',
      '{"timestamp":01,"type":"stop"}',
      '{"timestamp":-0,"type":"stop"}',
      '{"timestamp":1,"type":"stop","x":{"a":[1,2,{"b":null}],"c":false}}',
      '{"timestamp":1,"type":"stop","x":[1,]}',
      '{"timestamp":1,"type":"stop","x":"\t"}',
      '{"timestamp":1,"type":"stop","x":"\\u00e9\\x"}',
      '{"timestamp":1,"timestamp":120000,"type":"stop","type":"notification"}',
      '{"timestamp":1,"type":"stop","sess\\u0069onId":"s-1"}',
      '{"timestamp":1,"type":"stop","sessionId":"s-1","sessionId":null}',
      '{"timestamp":1,"type":"stop","sessionId":5}',
    ),
  },
);
const action = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant('append' as const), lines: fc.array(lineText, { maxLength: 6 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('tear' as const),
      line: lineText,
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rotate' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('truncate' as const),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      lines: fc.array(lineText, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart' as const), saves: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('damage' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
);

describe('the index of events', () => {
  it('[EVT-5] [P7] always equals a full read of both files, whatever happens to them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { maxLength: 25 }),
        fc.constantFrom(60, 16 * 1024 * 1024),
        async (actions, checkpoint_every_bytes) => {
          for (const file of [path, `${path}.1`, checkpoint]) rmSync(file, { force: true });
          let index = open({ checkpoint_every_bytes });
          for (const step of [...actions, { do: 'look' as const }]) {
            switch (step.do) {
              case 'append':
                for (const one of step.lines) appendFileSync(path, `${one}\n`);
                break;
              case 'tear':
                appendFileSync(
                  path,
                  Buffer.from(step.line).subarray(0, Math.floor(step.part * step.line.length)),
                );
                break;
              case 'rotate':
                if (existsSync(path)) renameSync(path, `${path}.1`);
                break;
              case 'truncate':
                if (existsSync(path)) truncateSync(path, Math.floor(step.part * statSync(path).size));
                break;
              case 'replace':
                writeFileSync(`${path}.new`, step.lines.map((one) => `${one}\n`).join(''));
                renameSync(`${path}.new`, path);
                break;
              case 'remove':
                if (existsSync(path)) unlinkSync(path);
                break;
              case 'restart':
                if (step.saves) await index.save();
                index = open({ checkpoint_every_bytes });
                break;
              case 'damage':
                if (existsSync(checkpoint)) appendFileSync(checkpoint, 'x');
                break;
              case 'look':
                expect(await reading(index)).toEqual(plain());
            }
          }
          expect(await reading(open({ checkpoint: null }))).toEqual(plain());
        },
      ),
      { numRuns: 150 },
    );
  });

  const line = (at: number, type: string, more: object = {}) =>
    `${JSON.stringify({ id: `i-${serial++}`, timestamp: at * MINUTE, type, sessionId: 's', cwd: '/w', ...more })}\n`;
  const counted = async (index = open()) =>
    (await index.read(() => index.buckets(0, EVER))).map(({ m, k, n }) => [m / MINUTE, k, n]);

  it('counts people, machines, the first notice of a wait, replies, and every minute of a tool call up to 30', async () => {
    writeFileSync(
      path,
      [
        line(1, 'user_prompt_submit'),
        line(2, 'user_prompt_submit', { machine: true }),
        line(3, 'pre_tool_use', { tool: 'Bash' }),
        line(6, 'post_tool_use', { tool: 'Bash' }),
        line(7, 'notification'),
        line(8, 'notification'),
        line(9, 'stop'),
        line(10, 'notification'),
        line(100, 'pre_tool_use', { tool: 'Bash' }),
        line(200, 'post_tool_use', { tool: 'Bash' }),
      ].join(''),
    );
    const all = await counted();
    expect(all.slice(0, 9)).toEqual([
      [1, 'attention', 1],
      [2, 'agent', 1],
      [3, 'agent', 1],
      [6, 'agent', 1],
      [4, 'agent', 1],
      [5, 'agent', 1],
      [7, 'notify', 1],
      [9, 'agent', 1],
      [9, 'reply', 1],
    ]);
    expect(all.filter(([minute]) => Number(minute) > 100 && Number(minute) < 200)).toHaveLength(30);
  });

  it('[TMP-1] returns the buckets of a window and no others', async () => {
    writeFileSync(path, [1, 2, 3].map((minute) => line(minute, 'stop_failure')).join(''));
    const index = open();
    const buckets = await index.read(() => index.buckets(2 * MINUTE, 3 * MINUTE));
    expect(buckets).toEqual([{ m: 2 * MINUTE, s: 's', cwd: '/w', k: 'agent', n: 1 }]);
  });

  it('[TMP-1] includes the size and time of both files in its tag', async () => {
    writeFileSync(`${path}.1`, line(1, 'stop'));
    writeFileSync(path, line(2, 'stop'));
    const index = open();
    const stamp = () => index.read(() => index.stamp);
    const seen = [await stamp()];
    expect(await stamp()).toBe(seen[0]);
    appendFileSync(path, line(3, 'stop'));
    seen.push(await stamp());
    appendFileSync(`${path}.1`, line(3, 'stop'));
    seen.push(await stamp());
    utimesSync(`${path}.1`, 1, 1);
    seen.push(await stamp());
    utimesSync(path, 1, 1);
    seen.push(await stamp());
    expect(new Set(seen).size).toBe(5);
  });

  it('merges a minute that begins in the rotated file', async () => {
    writeFileSync(`${path}.1`, line(1, 'session_start') + line(2, 'session_start'));
    writeFileSync(path, line(2, 'session_start') + line(3, 'session_start'));
    expect(await counted()).toEqual([
      [1, 'agent', 1],
      [2, 'agent', 2],
      [3, 'agent', 1],
    ]);
  });

  it('[EVT-5] reads after a restart only what was added since the checkpoint', async () => {
    writeFileSync(path, line(1, 'session_start').repeat(500));
    const first = open();
    await reading(first);
    await first.save();
    // Changed in the middle, where nothing looks: who reads it again would count it.
    const bytes = readFileSync(path);
    bytes.fill(0x78, 5_000, 5_100);
    writeFileSync(path, bytes);
    appendFileSync(path, line(2, 'session_start'));
    const second = open();
    expect(await counted(second)).toEqual([
      [1, 'agent', 500],
      [2, 'agent', 1],
    ]);
    expect(await reading(open({ checkpoint: null }))).toEqual(plain());
  });

  it('answers while its checkpoint cannot be written, says so once, and writes it after as much again', async () => {
    const blocked = join(dir, 'blocked');
    writeFileSync(blocked, 'a file where a folder belongs');
    const logged: string[] = [];
    const logger = createLogger({
      ...{ component: 'ledgers', level: 'warn' },
      destination: { write: (text: string) => void logged.push(text) },
    });
    checkpoint = join(blocked, 'events.index');
    const one = line(1, 'stop_failure');
    const index = open({ checkpoint_every_bytes: 10 * one.length, logger });
    const grow = async (lines: number, of: number) => {
      appendFileSync(path, one.repeat(lines));
      expect(await counted(index)).toEqual([[1, 'agent', of]]);
    };
    await grow(10, 10);
    await grow(1, 11);
    await grow(10, 21);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('the checkpoint of the events index cannot be written');
    unlinkSync(blocked);
    await grow(1, 22);
    expect(existsSync(checkpoint)).toBe(false);
    await grow(10, 32);
    expect(existsSync(checkpoint)).toBe(true);
    expect(logged).toHaveLength(1);
  });

  it('merges the oldest buckets into hours and days, and never holds more than its limit', async () => {
    const bounds = { buckets: 100, sessions: 5, sent: 3 };
    const send = { tool: 'SendUserFile', toolInput: { files: ['a'] } };
    for (let minute = 0; minute < 3_000; minute += 1)
      appendFileSync(path, line(minute, 'pre_tool_use', { ...send, sessionId: `s-${minute % 11}` }));
    const index = open({ bounds });
    const told = await index.read(() => ({
      buckets: index.buckets(0, EVER),
      sent: index.sent(),
      last: index.lastEvents(),
    }));
    expect(told.buckets.length).toBeLessThanOrEqual(100);
    expect(told.buckets.at(-1)).toMatchObject({ m: 2_999 * MINUTE, n: 1 });
    expect(told.sent.map(({ at }) => at / MINUTE)).toEqual([2_997, 2_998, 2_999]);
    expect(told.last.size).toBe(5);
    await index.save();
    const again = open({ bounds });
    expect(await again.read(() => again.buckets(0, EVER))).toEqual(told.buckets);
  });

  it('counts by hour, and later by day, what was counted by minute, and the newest still by minute', async () => {
    const folded = async (buckets: number) => {
      const index = open({ checkpoint: null, bounds: { buckets, sessions: 5, sent: 3 } });
      return index.read(() => index.buckets(0, EVER));
    };
    writeFileSync(path, '');
    for (let minute = 0; minute < 3 * 1_440; minute += 10) appendFileSync(path, line(minute, 'stop_failure'));
    const sum = (buckets: { n: number }[]) => buckets.reduce((all, { n }) => all + n, 0);
    const [all, hours, days] = [await folded(1_000), await folded(300), await folded(60)];
    expect([all.length, sum(all)]).toEqual([432, 432]);
    for (const [few, step, most] of [
      [hours, 60, 300],
      [days, 1_440, 60],
    ] as const) {
      expect(few.length).toBeLessThanOrEqual(most);
      expect(sum(few)).toBe(432);
      const coarse = few.filter(({ n }) => n > 1);
      expect(coarse.length).toBeGreaterThan(0);
      expect(coarse.filter(({ m }) => m % (60 * MINUTE) !== 0)).toEqual([]);
      expect(coarse.some(({ m, n }) => m % (step * MINUTE) === 0 && n >= step / 20)).toBe(true);
      expect(few.at(-1)).toMatchObject({ m: 4_310 * MINUTE, n: 1 });
    }
  });

  it('counts a line that is too long to hold as malformed', async () => {
    writeFileSync(path, `${line(1, 'stop', { x: 'y'.repeat(3_000_000) })}${line(2, 'session_start')}`);
    const index = open({ longest_line_bytes: 1_000 });
    expect(await counted(index)).toEqual([[2, 'agent', 1]]);
    expect(index.counts).toMatchObject({ lines: 1, malformed: 1 });
  });

  it('yields to other work while it reads a long file', async () => {
    writeFileSync(path, line(1, 'stop').repeat(80_000));
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 0);
    await reading(open());
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
  });

  it('[P16] keeps the newest events of each session, for its phase', async () => {
    writeFileSync(`${path}.1`, line(1, 'user_prompt_submit') + line(2, 'pre_tool_use'));
    writeFileSync(path, line(3, 'notification'));
    const index = open();
    expect(await index.read(() => index.lastEvents().get('s'))).toEqual({
      type: 'notification',
      at: 3 * MINUTE,
      prompt_at: MINUTE,
      tool_at: 2 * MINUTE,
      stop_at: 0,
      notification_at: 3 * MINUTE,
      end_at: 0,
    });
  });
});
