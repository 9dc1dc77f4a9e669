import { DOCUMENT_LIMITS } from '../contract/document-limits.ts';

const TOKENS_OF_LINE = 18;
const TOKENS_OF_COMMA = 9;
const UNUSUAL =
  /[\t\u0000-\u0009\u000b-\u001f\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;
const KEY_LINE = /^ *[A-Za-z_][A-Za-z0-9_-]*:(?: |$)/;
const FLOW_PAIR = /^([A-Za-z_][A-Za-z0-9_-]*): +(.+)$/;
const FLOW_LIST = /^\[([^\][{}"'#&*!|>%@`?]*)\](?: +#.*| *)$/;
const FLOW_MAP = /^\{([^\][{}"'#&*!|>%@`?]*)\}(?: +#.*| *)$/;
const DOUBLE_QUOTED = /^"([^"\\]*)"(?: +#.*| *)$/;
const SINGLE_QUOTED = /^'([^']*)'(?: +#.*| *)$/;
const PLAIN_START = /^(?:[A-Za-z0-9_/.+~()<$^;\u00a1-\ud7ff\ue000-\ufefe]|-[^ ])/;
const WORD_KEY = /^(?:null|true|false|__proto__)$/i;
const NULL_WORD = /^(?:~|null|Null|NULL)$/;
const TRUE_WORD = /^(?:true|True|TRUE)$/;
const FALSE_WORD = /^(?:false|False|FALSE)$/;
const SIMPLE_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;
const OTHER_NUMBER =
  /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** Thrown and caught inside this file: the text is outside the plain subset. */
const OUTSIDE = Symbol('outside the plain subset');

/**
 * Reads the plain subset of YAML 1.2 core that nearly all frontmatter is written in: block maps, block lists of
 * scalars, one-line flow lists and maps of scalars, one-line scalars, comments. Returns `undefined` for anything else,
 * valid or not, which is left to the YAML library. Its results equal those of the library.
 */
export function parsePlainYaml(text: string): Record<string, unknown> | undefined {
  if (mostTokens(text) > DOCUMENT_LIMITS.yaml_tokens) return undefined;
  const unix = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  if (UNUSUAL.test(unix)) return undefined;
  const lines = new Lines(unix);
  try {
    const data = readMap(lines, 0, 1);
    return lines.next() === null ? data : undefined;
  } catch (error) {
    if (error === OUTSIDE) return undefined;
    throw error;
  }
}

/** A plain line has at most eighteen YAML tokens; each comma of a flow collection can add nine. */
function mostTokens(text: string): number {
  let tokens = TOKENS_OF_LINE;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) tokens += TOKENS_OF_LINE;
  for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) tokens += TOKENS_OF_COMMA;
  return tokens;
}

type Line = { text: string; indent: number };

/** Iterates over lines with content; skips blank lines and comment lines. */
class Lines {
  #rows: string[];
  #at = 0;
  #line: Line | null = null;

  constructor(text: string) {
    this.#rows = text.split('\n');
  }

  next(): Line | null {
    if (this.#line !== null) return this.#line;
    while (this.#at < this.#rows.length) {
      const text = this.#rows[this.#at]!;
      let indent = 0;
      while (text.charCodeAt(indent) === 32) indent += 1;
      if (indent < text.length && text.charCodeAt(indent) !== 35) {
        this.#line = { text, indent };
        return this.#line;
      }
      this.#at += 1;
    }
    return null;
  }

  take(): void {
    this.#line = null;
    this.#at += 1;
  }
}

function readMap(lines: Lines, indent: number, depth: number): Record<string, unknown> {
  if (depth >= DOCUMENT_LIMITS.depth - 1) throw OUTSIDE;
  const map: Record<string, unknown> = {};
  for (;;) {
    const line = lines.next();
    if (line === null || line.indent < indent) return map;
    if (line.indent > indent) throw OUTSIDE;
    // A match with its groups would be a fifth of all that a listing allocates.
    if (!KEY_LINE.test(line.text)) throw OUTSIDE;
    const colon = line.text.indexOf(':', indent);
    const key = line.text.slice(indent, colon);
    if (WORD_KEY.test(key) || Object.hasOwn(map, key)) throw OUTSIDE;
    lines.take();
    const rest = line.text.slice(colon + 1).trim();
    if (rest === '' || rest.startsWith('#')) map[key] = readBlockValue(lines, indent, depth);
    else {
      map[key] = readInline(rest);
      refuseContinuation(lines, indent);
    }
  }
}

function readBlockValue(lines: Lines, indent: number, depth: number): unknown {
  const line = lines.next();
  if (line === null || line.indent < indent) return null;
  const isItem = line.text.startsWith('- ', line.indent) || line.text.length === line.indent + 1;
  if (line.indent === indent) return isItem ? readList(lines, indent) : null;
  return isItem ? readList(lines, line.indent) : readMap(lines, line.indent, depth + 1);
}

function readList(lines: Lines, indent: number): unknown[] {
  const list: unknown[] = [];
  for (;;) {
    const line = lines.next();
    if (line === null || line.indent < indent) return list;
    if (line.indent > indent) throw OUTSIDE;
    if (!line.text.startsWith('- ', indent)) return list;
    lines.take();
    list.push(readInline(line.text.slice(indent + 2).trim()));
    refuseContinuation(lines, indent);
  }
}

/** A deeper line after a complete value would continue or break it. */
function refuseContinuation(lines: Lines, indent: number): void {
  const line = lines.next();
  if (line !== null && line.indent > indent) throw OUTSIDE;
}

function readInline(text: string): unknown {
  switch (text[0]) {
    case '"':
      return (DOUBLE_QUOTED.exec(text) ?? outside())[1];
    case "'":
      return (SINGLE_QUOTED.exec(text) ?? outside())[1];
    case '[': {
      const inner = (FLOW_LIST.exec(text) ?? outside())[1]!;
      return inner.trim() === '' ? [] : inner.split(',').map((item) => readPlainScalar(item.trim()));
    }
    case '{': {
      const inner = (FLOW_MAP.exec(text) ?? outside())[1]!;
      return inner.trim() === '' ? {} : readFlowMap(inner);
    }
    default: {
      const comment = text.indexOf(' #');
      const scalar = comment === -1 ? text : text.slice(0, comment).trimEnd();
      return readPlainScalar(scalar);
    }
  }
}

function readFlowMap(inner: string): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  for (const item of inner.split(',')) {
    const pair = FLOW_PAIR.exec(item.trim()) ?? outside();
    const key = pair[1]!;
    if (WORD_KEY.test(key) || Object.hasOwn(map, key)) throw OUTSIDE;
    map[key] = readPlainScalar(pair[2]!);
  }
  return map;
}

function readPlainScalar(text: string): unknown {
  if (!PLAIN_START.test(text) || text.includes(': ') || text.endsWith(':')) throw OUTSIDE;
  if (NULL_WORD.test(text)) return null;
  if (TRUE_WORD.test(text)) return true;
  if (FALSE_WORD.test(text)) return false;
  if (SIMPLE_INTEGER.test(text)) return Number(text);
  if (OTHER_NUMBER.test(text)) throw OUTSIDE;
  return text;
}

function outside(): never {
  throw OUTSIDE;
}
