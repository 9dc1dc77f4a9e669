import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unifiedDiff } from '../../src/fibers/text-diff.ts';

/** Applies a unified diff as `patch` does, strictly: every context and every removed line has to be there. */
function apply(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out: string[] = [];
  let at = 0;
  let expected = { before: 0, after: 0 };
  const rows = diff.split('\n').slice(2, -1);
  rows.forEach((row, place) => {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(row);
    if (head !== null) {
      expect(expected).toEqual({ before: 0, after: 0 });
      const from = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      out.push(...lines.slice(at, from));
      at = from;
      expect(out.length).toBe(Number(head[3]) - (head[4] === '0' ? 0 : 1));
      expected = { before: Number(head[2] ?? 1), after: Number(head[4] ?? 1) };
      return;
    }
    if (row.startsWith('\\')) return;
    const text = row.slice(1) + (rows[place + 1]?.startsWith('\\') ? '' : '\n');
    if (row[0] !== '+') {
      expect(lines[at]).toBe(text);
      at += 1;
      expected.before -= 1;
    }
    if (row[0] !== '-') {
      out.push(text);
      expected.after -= 1;
    }
  });
  return out.concat(lines.slice(at)).join('');
}

const text = fc
  .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '---\n', '+x\n', 'é \n'), { maxLength: 40 })
  .chain((lines) => fc.constantFrom('', 'end').map((end) => lines.join('') + end));

it('turns one text into the other, whatever they are', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(apply(before, unifiedDiff('doc.md', before, after))).toBe(after);
    }),
    { numRuns: 500 },
  );
});

it('shows the changed line of a document with three lines around it', () => {
  const lines = ['---', 'a: 1', 'b: 2', 'c: 3', 'status: open', 'd: 4', 'e: 5', 'f: 6', 'g: 7', ''];
  const before = lines.join('\n');
  expect(unifiedDiff('work/x.md', before, before.replace('open', 'active'))).toBe(
    '--- a/work/x.md\n+++ b/work/x.md\n@@ -2,7 +2,7 @@\n a: 1\n b: 2\n c: 3\n-status: open\n+status: active\n d: 4\n e: 5\n f: 6\n',
  );
});

it('is empty for an unchanged text, and names /dev/null for a new or removed one', () => {
  expect(unifiedDiff('x', 'a\n', 'a\n')).toBe('');
  expect(unifiedDiff('x', null, 'a\n')).toBe('--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n');
  expect(unifiedDiff('x', 'a', null)).toContain('+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline');
});

it('shows a change of very many lines as one block', () => {
  const before = Array.from({ length: 3_000 }, (_, at) => `old ${at}\n`).join('');
  const after = Array.from({ length: 3_000 }, (_, at) => `new ${at}\n`).join('');
  expect(apply(before, unifiedDiff('x', before, after))).toBe(after);
});

it('is accepted by git apply', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-diff-'));
  try {
    writeFileSync(join(folder, 'x.md'), 'a\nb\nc\n');
    const input = unifiedDiff('x.md', 'a\nb\nc\n', 'a\nB\nc\nd');
    execFileSync('git', ['apply', '-'], { cwd: folder, input });
    expect(readFileSync(join(folder, 'x.md'), 'utf8')).toBe('a\nB\nc\nd');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
