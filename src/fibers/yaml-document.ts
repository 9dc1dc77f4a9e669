import {
  Composer,
  type CST,
  Document,
  type DocumentOptions,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  YAMLParseError,
} from 'yaml';
import { type ScreenRefusal, YamlScreen } from './yaml-screen.ts';

type Options = ParseOptions & DocumentOptions & SchemaOptions & { lineCounter?: LineCounter };

/**
 * Parses YAML text in linear time, as the values of JSON: a `!!timestamp` is its text, a `!!set` a map. A text that
 * `YamlScreen` refuses gives an empty document with that error. Duplicate keys are detected here, because the library's
 * check is quadratic; the first one gives the same error as the library.
 */
export function parseYamlDocument(text: string, options: Options = {}): Document.Parsed {
  const document = compose(text, {
    prettyErrors: false,
    logLevel: 'error',
    ...options,
    uniqueKeys: false,
    // A date, a set, a map or a buffer has no place in JSON, and a write could not put it back.
    resolveKnownTags: false,
  });
  const repeated = repeatedKey(document);
  if (repeated !== null)
    document.errors.push(new YAMLParseError(repeated, 'DUPLICATE_KEY', 'Map keys must be unique'));
  return document;
}

/** Does the work of the library's `parseDocument`, but checks each token between lexer and parser. */
function compose(text: string, options: Options): Document.Parsed {
  const screen = new YamlScreen();
  const tokens: string[] = [];
  for (const token of new Lexer().lex(text)) {
    const refused = screen.take(token);
    if (refused !== null) return refusedDocument(text, refused, options);
    tokens.push(token);
  }
  const composer = new Composer(options);
  let first: Document.Parsed | null = null;
  for (const document of composer.compose(parsed(tokens, options.lineCounter), true, text.length)) {
    if (first === null) first = document;
    else {
      const at: [number, number] = [document.range[0], document.range[1]];
      first.errors.push(new YAMLParseError(at, 'MULTIPLE_DOCS', 'Source contains multiple documents'));
      break;
    }
  }
  return first!;
}

/** Parses a YAML value that a person typed; throws an `Error` that describes the problem. */
export function parseYamlValue(text: string): unknown {
  const document = parseYamlDocument(text);
  const [first] = document.errors;
  if (first !== undefined) throw new Error(first.message);
  return document.toJS({ maxAliasCount: -1 });
}

/** Number of lexer tokens of a text. */
export function countYamlTokens(text: string): number {
  let count = 0;
  for (const _ of new Lexer().lex(text)) count += 1;
  return count;
}

function* parsed(tokens: readonly string[], lines: LineCounter | undefined): Generator<CST.Token> {
  const parser = new Parser(lines?.addNewLine);
  lines?.addNewLine(0);
  for (const token of tokens) yield* parser.next(token);
  yield* parser.end();
}

function refusedDocument(
  text: string,
  { offset, message }: ScreenRefusal,
  { lineCounter, ...options }: Options,
): Document.Parsed {
  lineCounter?.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    lineCounter?.addNewLine(at + 1);
  const document = new Document(undefined, options) as unknown as Document.Parsed;
  document.errors.push(new YAMLParseError([offset, offset + 1], 'RESOURCE_EXHAUSTION', message));
  return document;
}

/** The position of the first duplicate key, at any depth. */
function repeatedKey(document: Document.Parsed): [number, number] | null {
  let first: [number, number] | null = null;
  const left: unknown[] = [document.contents];
  while (left.length > 0) {
    const node = left.pop();
    if (isSeq(node)) for (const item of node.items) left.push(item);
    if (!isMap(node)) continue;
    const seen = new Set<unknown>();
    for (const { key, value } of node.items) {
      left.push(key, value);
      if (!isScalar(key)) continue;
      const at = key.range?.[0] ?? 0;
      if (seen.has(key.value) && (first === null || at < first[0])) first = [at, at + 1];
      seen.add(key.value);
    }
  }
  return first;
}
