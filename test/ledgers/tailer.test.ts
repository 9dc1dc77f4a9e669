import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Tailer } from '../../src/ledgers/tailer.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-tailer-'));
  path = join(dir, 'events.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** An entry is an object with a number `n`. */
function parse(value: unknown): number | null {
  return typeof value === 'object' && value !== null && 'n' in value && typeof value.n === 'number'
    ? value.n
    : null;
}

function follow(options: { max_line_bytes?: number } = {}) {
  const held: number[] = [];
  let resets = 0;
  const tailer = new Tailer<number>({ path, parse, ...options });
  const read = async (): Promise<number[]> => {
    await tailer.read({
      reset() {
        resets += 1;
        held.length = 0;
      },
      line: (n) => held.push(n),
    });
    return [...held];
  };
  return { tailer, read, resets: () => resets };
}

/** What a full read of the file gives. */
function fullRead(): { entries: number[]; malformed: number } {
  const entries: number[] = [];
  let malformed = 0;
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []) {
    if (line.trim() === '') continue;
    let entry: number | null = null;
    try {
      entry = parse(JSON.parse(line));
    } catch {
      entry = null;
    }
    if (entry === null) malformed += 1;
    else entries.push(entry);
  }
  return { entries, malformed };
}

describe('a tailer', () => {
  it('is empty while there is no file, and complete once there is one', async () => {
    const { read } = follow();
    expect(await read()).toEqual([]);
    writeFileSync(path, '{"n":1}\n{"n":2}\n');
    expect(await read()).toEqual([1, 2]);
  });

  it('reads only what was appended, without restarting', async () => {
    const { read, resets, tailer } = follow();
    writeFileSync(path, '{"n":1}\n');
    await read();
    const before = resets();
    for (let n = 2; n < 50; n += 1) {
      appendFileSync(path, `{"n":${n}}\n`);
      expect((await read()).at(-1)).toBe(n);
    }
    expect(resets()).toBe(before);
    expect(tailer.bytes).toBe(readFileSync(path).length);
  });

  it('leaves a torn last line until it is complete', async () => {
    const { read, tailer } = follow();
    writeFileSync(path, '{"n":1}\n{"n":2');
    expect(await read()).toEqual([1]);
    appendFileSync(path, '3');
    expect(await read()).toEqual([1]);
    appendFileSync(path, '}\n');
    expect(await read()).toEqual([1, 23]);
    expect(tailer.malformed).toBe(0);
  });

  it('decodes a character that was written in two parts', async () => {
    const { tailer, read } = follow();
    const bytes = Buffer.from('{"n":1,"name":"Ünï"}\n');
    writeFileSync(path, bytes.subarray(0, 16));
    await read();
    appendFileSync(path, bytes.subarray(16));
    expect(await read()).toEqual([1]);
    expect(tailer.malformed).toBe(0);
  });

  it('counts and skips malformed lines, but not blank ones', async () => {
    const { read, tailer } = follow();
    writeFileSync(path, '{"n":1}\nrubbish\n\n[]\n{"m":1}\n  \n{"n":2}\n');
    expect(await read()).toEqual([1, 2]);
    expect(tailer.malformed).toBe(3);
  });

  it('skips a line that is too long to hold, however it arrives', async () => {
    const { read, tailer } = follow({ max_line_bytes: 300_000 });
    const long = `{"n":1,"x":"${'x'.repeat(700_000)}"}`;
    writeFileSync(path, `{"n":0}\n${long.slice(0, 400_000)}`);
    expect(await read()).toEqual([0]);
    appendFileSync(path, `${long.slice(400_000)}\n{"n":2}\n`);
    expect(await read()).toEqual([0, 2]);
    expect(tailer.malformed).toBe(1);
  });

  it('lets other work of the thread run while it reads a long file', async () => {
    const line = `{"n":1,"x":"${'x'.repeat(1_000)}"}\n`;
    writeFileSync(path, line.repeat(8_000));
    const { read } = follow();
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    expect(await read()).toHaveLength(8_000);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(3);
  });

  it('restarts when the file was truncated, replaced, or rewritten in place to a greater length', async () => {
    const { read } = follow();
    const lines = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, index) => `{"n":${from + index}}\n`).join('');
    writeFileSync(path, lines(100, 200));
    await read();
    truncateSync(path, 0);
    appendFileSync(path, lines(200, 203));
    expect(await read()).toEqual([200, 201, 202]);
    writeFileSync(`${path}.new`, lines(300, 400));
    renameSync(`${path}.new`, path);
    expect(await read()).toHaveLength(100);
    writeFileSync(path, lines(500, 700));
    expect(await read()).toHaveLength(200);
    const kept = readFileSync(path);
    writeFileSync(path, Buffer.concat([kept.subarray(0, 900), Buffer.from(lines(700, 900))]));
    expect(await read()).toHaveLength(290);
    unlinkSync(path);
    expect(await read()).toEqual([]);
  });

  it('equals a full read after any mix of appends, torn writes, truncations, rotations and replacements', async () => {
    type Step = {
      do:
        | 'append'
        | 'torn'
        | 'rest'
        | 'rubbish'
        | 'truncate'
        | 'cut'
        | 'rotate'
        | 'replace'
        | 'remove'
        | 'read';
    };
    const step = fc.record({
      do: fc.constantFrom<Step['do']>(
        'append',
        'append',
        'append',
        'torn',
        'rest',
        'rubbish',
        'truncate',
        'cut',
        'rotate',
        'replace',
        'remove',
        'read',
        'read',
      ),
    });
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
        const { tailer, read } = follow();
        const check = async (): Promise<void> => {
          const entries = await read();
          expect({ entries, malformed: tailer.malformed }).toEqual(fullRead());
        };
        for (const { do: what } of steps) {
          n += 1;
          const present = existsSync(path);
          if (what === 'append') appendFileSync(path, `{"n":${n}}\n`);
          if (what === 'torn') appendFileSync(path, `{"n":${n}`);
          if (what === 'rest') appendFileSync(path, '}\n');
          if (what === 'rubbish') appendFileSync(path, '\n]nonsense\n\n');
          if (what === 'truncate' && present) truncateSync(path, 0);
          if (what === 'cut' && present) truncateSync(path, Math.floor(readFileSync(path).length / 2));
          if (what === 'rotate' && present) renameSync(path, `${path}.1`);
          if (what === 'replace') {
            writeFileSync(`${path}.new`, `{"n":${n}}\n`);
            renameSync(`${path}.new`, path);
          }
          if (what === 'remove') rmSync(path, { force: true });
          if (what === 'read') await check();
        }
        await check();
      }),
      { numRuns: 300 },
    );
  });
});
