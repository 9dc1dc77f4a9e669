import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendLineSync } from '../../src/ledgers/append-line.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-ledgers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a line that is appended', () => {
  it('creates the file and its folder, readable by the owner only', () => {
    const path = join(dir, 'data', 'deep', 'sessions.jsonl');
    appendLineSync(path, { at: 1 });
    expect(readFileSync(path, 'utf8')).toBe('{"at":1}\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'data')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'data', 'deep')).mode & 0o777).toBe(0o700);
  });

  it('completes the torn last line of a writer that died, and only a torn one', () => {
    const path = join(dir, 'l.jsonl');
    writeFileSync(path, '{"at":1}\n{"at":');
    appendLineSync(path, { at: 2 });
    appendLineSync(path, { text: 'two\nlines' });
    expect(readFileSync(path, 'utf8')).toBe('{"at":1}\n{"at":\n{"at":2}\n{"text":"two\\nlines"}\n');
  });

  it('replaces the file before once it has reached its size, with the line in it, also through a link', () => {
    for (const path of [join(dir, 'l.jsonl'), join(dir, 'link.jsonl')]) {
      if (path.endsWith('link.jsonl')) symlinkSync(join(dir, 'target.jsonl'), path);
      for (let n = 0; n < 3; n += 1) appendLineSync(path, { n }, 12);
      expect(readFileSync(`${path}.1`, 'utf8')).toBe('{"n":0}\n{"n":1}\n');
      expect(readFileSync(path, 'utf8')).toBe('{"n":2}\n');
    }
  });

  it('reports why a file cannot be written', () => {
    appendFileSync(join(dir, 'file'), '');
    expect(() => appendLineSync(join(dir, 'file', 'l.jsonl'), {})).toThrow(/ENOTDIR/);
    expect(() => appendLineSync(dir, {})).toThrow(/EISDIR/);
    expect(() => appendLineSync('/proc/nowhere/deep/l.jsonl', {})).toThrow(/ENOENT|EPERM|EACCES/);
  });

  it('loses and mixes no line when several writers append at once, and leaves at most a blank line', async () => {
    const path = join(dir, 'l.jsonl');
    const source = new URL('../../src/ledgers/append-line.ts', import.meta.url).href;
    const program = `
      const { workerData } = require('node:worker_threads');
      import(${JSON.stringify(source)}).then(async ({ appendLineSync }) => {
        const { path, writer } = workerData;
        for (let n = 0; n < 200; n += 1) appendLineSync(path, { writer, n, fill: 'x'.repeat((n * 37) % 9000) });
      });`;
    await Promise.all(
      [0, 1, 2, 3].map(
        (writer) =>
          new Promise((resolve, reject) => {
            const worker = new Worker(program, { eval: true, workerData: { path, writer } });
            worker.on('error', reject);
            worker.on('exit', resolve);
          }),
      ),
    );
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(800);
    for (const writer of [0, 1, 2, 3])
      expect(lines.filter((line) => line.writer === writer).map((line) => line.n)).toEqual(
        Array.from({ length: 200 }, (_, n) => n),
      );
  });
});
