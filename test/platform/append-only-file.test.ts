import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AppendOnlyFile, type LineLimits, type ReadPosition } from '../../src/platform/append-only-file.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-append-only-'));
  path = join(dir, 'lines.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Read = { lines: (string | null)[]; starts: number[]; position: ReadPosition; knew: boolean };

/** Reads on from a position as a caller does: from the start if the file no longer is the one that was read. */
function read(before: ReadPosition | null, limits: LineLimits = { longest: 1_000 }): Read {
  const file = AppendOnlyFile.open(path);
  try {
    const knew = before !== null && file.knows(before);
    const position = knew ? { ...before } : file.at();
    const lines: (string | null)[] = [];
    const starts: number[] = [];
    const sink = {
      take(bytes: Buffer, start: number, at: number) {
        const end = bytes.indexOf('\n', start);
        lines.push(bytes.toString('utf8', start, end));
        starts.push(at);
        return end;
      },
      skip: () => void lines.push(null),
    };
    for (const _ of file.readLines(position, limits, sink));
    return { lines, starts, position, knew };
  } finally {
    file.close();
  }
}

describe('a file that others append to', () => {
  it('gives each complete line once, and leaves one without its end for the next time', () => {
    writeFileSync(path, 'a\n\nb');
    const first = read(null);
    expect(first.lines).toEqual(['a', '']);
    expect(first.position.offset).toBe(3);
    appendFileSync(path, 'c\nd\n');
    const second = read(first.position);
    expect([second.knew, second.lines, second.starts]).toEqual([true, ['bc', 'd'], [3, 6]]);
  });

  it('gives the same lines however the file was cut into reads and into slices', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '漢', '🙂', '\n', '\n', '\r', ' '.repeat(9)), {
      maxLength: 60,
    });
    const cuts = fc.array(fc.nat({ max: 30 }), { maxLength: 12 });
    fc.assert(
      fc.property(text, cuts, fc.integer({ min: 1, max: 20 }), (parts, sizes, slice) => {
        const bytes = Buffer.from(parts.join(''));
        writeFileSync(path, '');
        const lines: (string | null)[] = [];
        const starts: number[] = [];
        let position: ReadPosition | null = null;
        let written = 0;
        for (const size of [...sizes, bytes.length]) {
          appendFileSync(path, bytes.subarray(written, written + size));
          written = Math.min(bytes.length, written + size);
          const { knew, ...got }: Read = read(position, { longest: 12, slice });
          expect(knew).toBe(position !== null);
          position = got.position;
          lines.push(...got.lines);
          starts.push(...got.starts);
        }
        const whole = bytes.toString().split('\n').slice(0, -1);
        expect(lines).toEqual(whole.map((line) => (Buffer.byteLength(line) > 12 ? null : line)));
        for (const start of starts) expect(start === 0 || bytes[start - 1] === 0x0a).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('passes over a line that is too long as soon as it is, and holds none of it', () => {
    writeFileSync(path, `a\n${'x'.repeat(5_000)}`);
    const first = read(null, { longest: 100, slice: 64 });
    expect([first.lines, first.position.skipping, first.position.offset]).toEqual([['a'], true, 5_002]);
    appendFileSync(path, 'more\nb\n');
    const second = read(first.position, { longest: 100, slice: 64 });
    expect([second.knew, second.lines]).toEqual([true, [null, 'b']]);
  });

  it.each<[string, () => void]>([
    ['was truncated', () => truncateSync(path, 4)],
    [
      'was truncated and grew again',
      () => {
        truncateSync(path, 0);
        appendFileSync(path, 'other\n'.repeat(40));
      },
    ],
    [
      'was rewritten in place with the same first lines',
      () => {
        writeFileSync(path, `first\n${'other\n'.repeat(40)}`);
      },
    ],
    [
      'was rotated, and a new one has begun like it',
      () => {
        renameSync(path, `${path}.1`);
        writeFileSync(path, `first\n${'line\n'.repeat(40)}`);
      },
    ],
    [
      'was replaced',
      () => {
        writeFileSync(`${path}.new`, 'first\n');
        renameSync(`${path}.new`, path);
      },
    ],
  ])('knows that it is not the file that was read when that %s', (_title, change) => {
    writeFileSync(path, `first\n${'line\n'.repeat(20)}`);
    const { position } = read(null);
    change();
    expect(read(position).knew).toBe(false);
  });

  it('is known again under another name', () => {
    writeFileSync(path, 'a\n');
    const { position } = read(null);
    renameSync(path, `${path}.1`);
    const file = AppendOnlyFile.openIfThere(`${path}.1`);
    expect(file?.knows(position)).toBe(true);
    file?.close();
    expect(AppendOnlyFile.openIfThere(path)).toBeNull();
    expect(AppendOnlyFile.openIfThere(join(`${path}.1`, 'below'))).toBeNull();
  });

  it('ends where it ended when it was opened', () => {
    writeFileSync(path, 'a\n');
    const file = AppendOnlyFile.open(path);
    appendFileSync(path, 'b\n');
    const position = file.at();
    const sink = { take: (bytes: Buffer, start: number) => bytes.indexOf('\n', start), skip() {} };
    for (const _ of file.readLines(position, { longest: 10 }, sink));
    file.close();
    expect(position.offset).toBe(2);
    expect(read(position).lines).toEqual(['b']);
  });
});
