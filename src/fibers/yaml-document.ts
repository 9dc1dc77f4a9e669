import {
  type Document,
  type DocumentOptions,
  isMap,
  isScalar,
  isSeq,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
  YAMLParseError,
} from 'yaml';

type Options = ParseOptions & DocumentOptions & SchemaOptions;

/**
 * Parses YAML text in time that grows with its length: the library compares every key of a map with every
 * other, which takes minutes for some ten thousand keys, so equal keys are looked for here. The first of them
 * is the error that the library would give.
 */
export function parseYamlDocument(text: string, options: Options = {}): Document.Parsed {
  const document = parseDocument(text, {
    prettyErrors: false,
    logLevel: 'error',
    ...options,
    uniqueKeys: false,
  });
  const repeated = repeatedKey(document);
  if (repeated !== null)
    document.errors.push(new YAMLParseError(repeated, 'DUPLICATE_KEY', 'Map keys must be unique'));
  return document;
}

/** Where the first key stands that its map has already, in any depth. */
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
