import { LineCounter } from 'yaml';
import { messageOf } from '../base/errors.ts';
import { oversize } from '../contract/value-limits.ts';
import { parsePlainYaml } from './plain-yaml.ts';
import { parseYamlDocument } from './yaml-document.ts';

/** A document's text split at its fences; the five strings joined are the text. */
export type DocumentParts = {
  /** Byte order marks, as many as there are; or nothing. */
  mark: string;
  /** The opening fence line with its line end; empty when there is no frontmatter. */
  opening: string;
  /** The lines between the fences; ends with a line end unless it is empty. */
  yaml: string;
  /** The closing fence line with its line end; empty when there is no frontmatter. */
  closing: string;
  body: string;
  /** The line ending of the document, used for new lines too. */
  eol: '\n' | '\r\n';
};

/** Splits a text at its fences; `null` if an opening fence is never closed. */
export function splitFrontmatter(text: string): DocumentParts | null {
  const mark = /^\uFEFF*/.exec(text)![0];
  const start = mark.length;
  const firstEnd = text.indexOf('\n', start);
  const eol = firstEnd > start && text[firstEnd - 1] === '\r' ? '\r\n' : '\n';
  const firstLine = firstEnd === -1 ? text.slice(start) : text.slice(start, firstEnd);
  if (!isFence(firstLine)) return { mark, opening: '', yaml: '', closing: '', body: text.slice(start), eol };
  if (firstEnd === -1) return null;
  const yamlStart = firstEnd + 1;
  let lineStart = yamlStart;
  while (lineStart < text.length) {
    const newline = text.indexOf('\n', lineStart);
    const lineEnd = newline === -1 ? text.length : newline;
    if (text.startsWith('---', lineStart) && isFence(text.slice(lineStart, lineEnd))) {
      const bodyStart = newline === -1 ? text.length : newline + 1;
      return {
        mark,
        opening: text.slice(start, yamlStart),
        yaml: text.slice(yamlStart, lineStart),
        closing: text.slice(lineStart, bodyStart),
        body: text.slice(bodyStart),
        eol,
      };
    }
    lineStart = lineEnd + 1;
  }
  return null;
}

/** True for a line, without its line feed, that opens or closes frontmatter. */
export function isFence(line: string): boolean {
  return /^---[ \t]*\r?$/.test(line);
}

/** The parsed frontmatter. */
export type FrontmatterReading = {
  /** Best effort when `problem` is set. */
  data: Record<string, unknown>;
  /**
   * The first error, as one sentence; `line` counts from 1 within `yaml`. `limit`: the YAML is valid but exceeds a
   * limit of documents.
   */
  problem: { message: string; line: number; limit?: true } | null;
};

/** Parses frontmatter lines as YAML 1.2 core (a bare timestamp is text); never throws. */
export function readFrontmatter(yaml: string): FrontmatterReading {
  const plain = readPlainFrontmatter(yaml);
  if (plain !== null) return plain;
  const lineCounter = new LineCounter();
  let document: ReturnType<typeof parseYamlDocument>;
  let value: unknown;
  try {
    document = parseYamlDocument(yaml, { lineCounter });
    // Aliases share their values here; `oversize` counts the expanded values.
    value = document.toJS({ maxAliasCount: -1 });
  } catch (error) {
    return { data: {}, problem: { message: sentence(messageOf(error)), line: 1 } };
  }
  const first = document.errors[0];
  const problem =
    first === undefined
      ? null
      : (unfinishedMerge(yaml) ?? {
          message: first.code === 'DUPLICATE_KEY' ? keyTwice(yaml, first.pos[0]) : sentence(first.message),
          line: lineCounter.linePos(first.pos[0]).line,
          ...(first.code === 'RESOURCE_EXHAUSTION' ? { limit: true as const } : {}),
        });
  const tooMuch = oversize(value);
  if (tooMuch !== null)
    return {
      data: {},
      problem: problem ?? { message: `with its aliases it has ${tooMuch}`, line: 1, limit: true },
    };
  if (value === null || value === undefined) return { data: {}, problem };
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { data: {}, problem: problem ?? { message: 'the frontmatter is not a map of keys', line: 1 } };
  }
  return { data: value as Record<string, unknown>, problem };
}

/** `readFrontmatter` for the plain subset of YAML; null for anything else, valid or not. */
export function readPlainFrontmatter(yaml: string): FrontmatterReading | null {
  const data = parsePlainYaml(yaml);
  return data === undefined ? null : { data, problem: null };
}

/** A line that Git writes around the two versions of a conflict. */
const MERGE_MARK = /^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?\r?$/m;

/** Names the first mark of an unfinished merge, and its line; null without one. */
export function unfinishedMerge(text: string): { message: string; line: number } | null {
  const mark = MERGE_MARK.exec(text);
  if (mark === null) return null;
  const message = `"${mark[0].slice(0, 7)}" is left of a merge that is not finished; keep one of its two versions, and remove the lines with <<<<<<<, ======= and >>>>>>>`;
  return { message, line: text.slice(0, mark.index).split('\n').length };
}

function keyTwice(yaml: string, at: number): string {
  const [key = ''] = /^[^:\n]{0,80}/.exec(yaml.slice(at, at + 100)) ?? [];
  return `the key ${key.trim()} is there twice; remove one of the two`;
}

function sentence(message: string): string {
  return message.split('\n')[0]!.replace(/[:.\s]+$/, '');
}
