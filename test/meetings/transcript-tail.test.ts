import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spokenLines } from '../../src/contract/spoken-lines.ts';
import { transcriptTail } from '../../src/meetings/transcript-tail.ts';

describe('the tail of a transcript [MTR-2] [LIM-11]', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tail-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('has the last 30 spoken lines, oldest first, without comments', () => {
    const lines = Array.from({ length: 40 }, (_, n) => `10:00:${n}-10:00:${n} S1 line ${n}\n# mark ${n}\n`);
    const tail = spokenLines({ text: lines.join(''), cut: false });
    expect(tail).toHaveLength(30);
    expect(tail[0]).toContain('line 10');
    expect(tail.at(-1)).toContain('line 39');
  });

  it('leaves out a line that is still being written, and one whose beginning was not read', () => {
    expect(spokenLines({ text: 'ne 1\nline 2\nline 3 is not who', cut: true })).toEqual(['line 2']);
  });

  it('reads a file from its end, so that a long one costs no more', async () => {
    const file = join(dir, 'long.txt');
    writeFileSync(file, `${'x'.repeat(200_000)}\n10:00:00-10:00:02 S1 the last words — naïve\n`);
    expect(await transcriptTail(file)).toEqual(['10:00:00-10:00:02 S1 the last words — naïve']);
  });

  it('is empty for a file that is not there, is no file, or is empty', async () => {
    writeFileSync(join(dir, 'empty.txt'), '');
    expect(await transcriptTail(join(dir, 'none.txt'))).toEqual([]);
    expect(await transcriptTail(dir)).toEqual([]);
    expect(await transcriptTail(join(dir, 'empty.txt'))).toEqual([]);
  });
});
