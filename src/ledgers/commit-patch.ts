import type { Patch, PatchFile, PatchHunk } from '../contract/http/commit-patch.ts';

/** Characters of one line; the rest of a longer one is left out. */
const MOST_LINE = 2_000;

/** What `git show` prints before the files. Its fields and the names of files end in NUL, which neither can contain. */
export const PATCH_FORMAT = '--format=%an%x00%ae%x00%ct%x00%B';
/** Names and counts of all files come before the text of any, so that a capped output still names them. */
export const FILES_OPTIONS = [
  ...['-z', '--raw', '--numstat', '--find-renames', '--submodule=short', '--no-relative'],
] as const;
export const LINES_OPTIONS = ['--patch', '--unified=3'] as const;
export const PATCH_OPTIONS = [
  ...[...FILES_OPTIONS, ...LINES_OPTIONS],
  ...['--encoding=UTF-8', '--diff-merges=first-parent'],
] as const;

const CHANGES: Readonly<Record<string, PatchFile['change']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};
const RAW = /^:\d+ \d+ \S+ \S+ ([A-Z])\d*$/;
const COUNTS = /^(\d+|-)\t(\d+|-)\t(.*)$/s;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const FILE = 'diff --git ';

type Listed = Pick<PatchFile, 'path' | 'old_path' | 'change'> & {
  /** A file that became a link or back is printed as two: one deleted, one added. One in conflict has no text. */
  sections: 0 | 1 | 2;
};
type Section = { hunks: PatchHunk[]; complete: boolean };

/**
 * Reads what `git show` printed with `PATCH_FORMAT` and `PATCH_OPTIONS`, or the beginning of it; null if not even its
 * head is there. `capped`: the output was cut.
 */
export function parsePatch(printed: string, capped: boolean): Patch | null {
  const fields = new Fields(printed);
  const [name, email, seconds, message] = [fields.next(), fields.next(), fields.next(), fields.next()];
  if (name === null || email === null || seconds === null || message === null) return null;
  const head = { message: message.trimEnd(), author: { name, email }, committed_at: Number(seconds) * 1_000 };
  if (!/^\d+$/.test(seconds)) return null;
  fields.skip('\n');
  return { ...head, ...filesOf(fields, capped) };
}

/** Reads what `git diff` printed with `FILES_OPTIONS`, with or without `LINES_OPTIONS`, or the beginning of it. */
export function parseFiles(
  printed: string,
  { capped, patch }: { capped: boolean; patch: boolean },
): Pick<Patch, 'files' | 'truncated'> {
  const { files, truncated } = filesOf(new Fields(printed), capped);
  return { files, truncated: patch ? truncated : capped };
}

function filesOf(fields: Fields, capped: boolean): Pick<Patch, 'files' | 'truncated'> {
  const listed = listedFiles(fields);
  const counts = countsOf(fields);
  fields.skip('\0');
  const sections = capped && counts.length < listed.length ? [] : sectionsOf(fields.rest());
  let next = 0;
  const files = listed.map(({ sections: own, ...file }, index): PatchFile => {
    const [additions, deletions] = counts[index] ?? [null, null];
    const hunks = sections.slice(next, next + own).flatMap((section) => section.hunks);
    next += own;
    const binary = index < counts.length && additions === null;
    return { ...file, additions, deletions, binary, hunks };
  });
  const truncated = capped || sections.length < next || sections.some(({ complete }) => !complete);
  return { files, truncated };
}

/** What an output holds one after another, each ended by NUL. */
class Fields {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Null if its end is missing. */
  next(): string | null {
    const end = this.#text.indexOf('\0', this.#at);
    if (end < 0) return null;
    const field = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return field;
  }

  peek(): string {
    return this.#text[this.#at] ?? '';
  }

  skip(character: string): void {
    if (this.peek() === character) this.#at += 1;
  }

  rest(): string {
    return this.#text.slice(this.#at);
  }
}

function listedFiles(fields: Fields): Listed[] {
  const files: Listed[] = [];
  while (fields.peek() === ':') {
    const change = RAW.exec(fields.next() ?? '')?.[1];
    const first = fields.next();
    if (change === undefined || first === null) return files;
    const moved = change === 'R' || change === 'C';
    const second = moved ? fields.next() : null;
    if (moved && second === null) return files;
    files.push({
      path: second ?? first,
      old_path: moved ? first : null,
      change: CHANGES[change] ?? 'modified',
      sections: change === 'T' ? 2 : change === 'U' ? 0 : 1,
    });
  }
  return files;
}

/** Lines added and deleted, in the order of the files; null of a binary one. */
function countsOf(fields: Fields): [number | null, number | null][] {
  const counts: [number | null, number | null][] = [];
  while (/[\d-]/.test(fields.peek())) {
    const found = COUNTS.exec(fields.next() ?? '');
    if (found === null) break;
    const [, additions = '-', deletions = '-', path] = found;
    // Both names of a renamed file follow in fields of their own.
    if (path === '' && (fields.next() === null || fields.next() === null)) break;
    counts.push(additions === '-' ? [null, null] : [Number(additions), Number(deletions)]);
  }
  return counts;
}

function sectionsOf(text: string): Section[] {
  const lines = text.split('\n');
  // The last line of a cut output may be a part of one; that of a whole output is empty.
  lines.pop();
  const sections: Section[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    at += 1;
    if (line.startsWith(FILE)) sections.push({ hunks: [], complete: true });
    const section = sections.at(-1);
    const found = HUNK.exec(line);
    if (section === undefined || found === null) continue;
    const hunk = hunkOf(found);
    let [old_left, new_left] = [Number(found[2] ?? 1), Number(found[4] ?? 1)];
    for (; at < lines.length; at += 1) {
      // An empty line stands for an empty one that did not change.
      const content = lines[at] || ' ';
      const sign = content[0];
      if (sign !== '\\' && old_left <= 0 && new_left <= 0) break;
      if (sign === '-' || sign === ' ') old_left -= 1;
      if (sign === '+' || sign === ' ') new_left -= 1;
      hunk.lines.push(clipped(content));
    }
    section.hunks.push(hunk);
    section.complete &&= old_left <= 0 && new_left <= 0;
  }
  return sections;
}

function hunkOf([, old_start, , new_start, , heading = '']: RegExpExecArray): PatchHunk {
  return { old_start: Number(old_start), new_start: Number(new_start), heading: clipped(heading), lines: [] };
}

function clipped(line: string): string {
  return line.length <= MOST_LINE ? line : `${line.slice(0, MOST_LINE - 1).toWellFormed()}…`;
}
