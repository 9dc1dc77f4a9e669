/** Lines around a change that are shown with it. */
const CONTEXT = 3;
/** Above this many pairs of lines a change is shown as one block instead of line by line. */
const MOST_PAIRS = 4_000_000;

type Line = { kind: ' ' | '-' | '+'; text: string };

/**
 * The unified diff of a text, with `a/<name>` and `b/<name>` as headers; null means that the file does not exist. Empty
 * if nothing changes. A missing final newline is marked as `diff` does.
 */
export function unifiedDiff(name: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const lines = compareLines(splitLines(before ?? ''), splitLines(after ?? ''));
  const head = [
    `--- ${before === null ? '/dev/null' : `a/${name}`}\n`,
    `+++ ${after === null ? '/dev/null' : `b/${name}`}\n`,
  ];
  return [...head, ...hunks(lines).map(printHunk)].join('');
}

/** Lines with their ends, so that a changed line end is a change. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const same = (texts: readonly string[]) => texts.map((text): Line => ({ kind: ' ', text }));
  return [
    ...same(before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ];
}

/** The longest common subsequence of two lists of lines, by dynamic programming. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const lines: Line[] = [];
  if (before.length * after.length > MOST_PAIRS) {
    for (const text of before) lines.push({ kind: '-', text });
    for (const text of after) lines.push({ kind: '+', text });
    return lines;
  }
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ kind: ' ', text: before[i]! });
      i += 1;
      j += 1;
    } else if (
      j >= after.length ||
      (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      lines.push({ kind: '-', text: before[i]! });
      i += 1;
    } else {
      lines.push({ kind: '+', text: after[j]! });
      j += 1;
    }
  }
  return lines;
}

type Hunk = { before: number; after: number; lines: Line[] };

/** Groups changes into hunks with context; close changes share a hunk. */
function hunks(lines: readonly Line[]): Hunk[] {
  const found: Hunk[] = [];
  let before = 0;
  let after = 0;
  let last = Number.NEGATIVE_INFINITY;
  let current: Hunk | null = null;
  lines.forEach((line, at) => {
    if (line.kind !== ' ') {
      if (current === null || at - last > 2 * CONTEXT) {
        closeHunk(current, lines, last);
        const from = Math.max(0, at - CONTEXT, current === null ? 0 : last + 1 + CONTEXT);
        const lead = lines.slice(from, at);
        current = { before: before - lead.length, after: after - lead.length, lines: [...lead] };
        found.push(current);
      } else current.lines.push(...lines.slice(last + 1, at));
      current.lines.push(line);
      last = at;
    }
    if (line.kind !== '+') before += 1;
    if (line.kind !== '-') after += 1;
  });
  closeHunk(current, lines, last);
  return found;
}

function closeHunk(hunk: Hunk | null, lines: readonly Line[], last: number): void {
  hunk?.lines.push(...lines.slice(last + 1, last + 1 + CONTEXT));
}

function printHunk(hunk: Hunk): string {
  const count = (without: Line['kind']) => hunk.lines.filter((line) => line.kind !== without).length;
  const range = (from: number, length: number) =>
    length === 1 ? `${from + 1}` : `${length === 0 ? from : from + 1},${length}`;
  const body = hunk.lines.map(({ kind, text }) =>
    text.endsWith('\n') ? `${kind}${text}` : `${kind}${text}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range(hunk.before, count('+'))} +${range(hunk.after, count('-'))} @@\n${body.join('')}`;
}
