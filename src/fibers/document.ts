import { isUtf8 } from 'node:buffer';
import { sha256Of } from '../base/digest.ts';
import { DOCUMENT_LIMITS } from '../contract/document-limits.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import { idOfPath, leafOf } from './fiber-id.ts';
import { type FieldProblem, readFields } from './fields.ts';
import {
  type FrontmatterReading,
  isFence,
  readFrontmatter,
  readPlainFrontmatter,
  splitFrontmatter,
  unfinishedMerge,
} from './frontmatter.ts';

const DASH = 0x2d;
const LESS_THAN = 0x3c;
/** The first line of a document that is one of the two versions of a merge. */
const MERGE_MARK = '<<<<<<< ';

/** A document larger than this is listed with an error and is not edited. */
export const MAX_DOCUMENT_BYTES = DOCUMENT_LIMITS.bytes;

/** The location of a document. */
export type DocumentPlace = {
  /** Root of the store. */
  store: string;
  /** Absolute path of the file. */
  path: string;
  /** The same path below the store's `.fibers`, with `/` between components. */
  relativePath: string;
};
export type DocumentWithBody = FiberDocument & { body: string };
/** `fault` is set if the frontmatter could not be parsed: such a document is never written. */
export type ParsedDocument = DocumentWithBody & { fault?: string };

/**
 * Reads one document; never throws. `error` describes a problem in one sentence with its line; the other fields are
 * then best effort, and the dispatcher must not act on them.
 */
export function parseDocument(bytes: Buffer, place: DocumentPlace): ParsedDocument {
  return withBody(parseText(bytes, textOf(bytes), place, readFrontmatter));
}

/** `parseDocument` without the YAML library; null for a document that needs the library. */
export function parsePlainDocument(bytes: Buffer, place: DocumentPlace): ParsedDocument | null {
  let plain = true;
  const parsed = parseText(bytes, textOf(bytes), place, (yaml) => {
    const reading = readPlainFrontmatter(yaml);
    plain = reading !== null;
    return reading ?? { data: {}, problem: null };
  });
  return plain ? withBody(parsed) : null;
}

/** A document with no content but the reason why it is not parsed. */
export function unparsedDocument(bytes: Buffer, place: DocumentPlace, fault: string): ParsedDocument {
  const body = splitFrontmatter(textOf(bytes))?.body ?? '';
  return { ...unreadableDocument(place, fault), digest: sha256Of(bytes), fault, body };
}

function textOf(bytes: Buffer): string {
  return bytes.length > MAX_DOCUMENT_BYTES ? '' : bytes.toString('utf8');
}

/** `parseDocument` without the body, which is not decoded. */
export function parseRow(bytes: Buffer, place: DocumentPlace): FiberDocument {
  return parseText(bytes, headText(bytes), place, readFrontmatter).row;
}

type ParsedText = { row: FiberDocument; body: string; fault?: string };

function withBody({ row, body, fault }: ParsedText): ParsedDocument {
  return { ...row, ...(fault === undefined ? {} : { fault }), body };
}

function parseText(
  bytes: Buffer,
  text: string,
  place: DocumentPlace,
  read: (yaml: string) => FrontmatterReading,
): ParsedText {
  const id = idOfPath(place.relativePath);
  const leaf = leafOf(id);
  const digest = sha256Of(bytes);
  const where = { id, leaf, store: place.store, path: place.path, digest };
  const faulty = (fault: string, fields = readFields({}, leaf).fields, body = ''): ParsedText => ({
    row: { ...where, ...fields, error: fault },
    body,
    fault,
  });
  if (bytes.length > MAX_DOCUMENT_BYTES) return faulty(tooLarge(bytes.length));
  const parts = splitFrontmatter(text);
  if (parts === null) return faulty('line 1: the frontmatter is opened with "---" but never closed');
  if (parts.yaml.length > DOCUMENT_LIMITS.frontmatter_chars) {
    return faulty(
      `line 1: the frontmatter is longer than ${DOCUMENT_LIMITS.frontmatter_chars / 1024} KiB`,
      undefined,
      parts.body,
    );
  }
  const merge =
    parts.opening === '' && parts.body.startsWith('<')
      ? unfinishedMerge(parts.body.slice(0, MERGE_MARK.length))
      : null;
  if (merge !== null) return faulty(`line 1: ${merge.message}`, undefined, parts.body);
  const { data, problem } = read(parts.yaml);
  const { fields, problem: fieldProblem } = readFields(data, leaf);
  if (problem !== null) return faulty(`line ${problem.line + 1}: ${problem.message}`, fields, parts.body);
  if (!isUtf8(bytes)) {
    return faulty(`line ${firstBadLine(bytes)}: the bytes are not UTF-8 text`, fields, parts.body);
  }
  const row: FiberDocument = { ...where, ...fields };
  if (fieldProblem !== null)
    row.error = `line ${lineOfKey(parts.yaml, fieldProblem)}: ${fieldProblem.message}`;
  return { row, body: parts.body };
}

/** The row of a file that could not be read at all. */
export function unreadableDocument(place: DocumentPlace, error: string): FiberDocument {
  const id = idOfPath(place.relativePath);
  const leaf = leafOf(id);
  return {
    id,
    leaf,
    store: place.store,
    path: place.path,
    digest: '',
    ...readFields({}, leaf).fields,
    error,
  };
}

/** The error sentence of a document over the size limit. */
export function tooLarge(bytes: number): string {
  return `line 1: the document has ${bytes} bytes; a fiber may have at most ${MAX_DOCUMENT_BYTES}`;
}

/**
 * The text up to the closing fence of the frontmatter; the whole text if it is never closed, empty if there is no
 * frontmatter.
 */
function headText(bytes: Buffer): string {
  let start = 0;
  while (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
  if (bytes[start] === LESS_THAN) return bytes.toString('latin1', start, start + MERGE_MARK.length);
  for (let at = start; at < start + 3; at += 1) if (bytes[at] !== DASH) return '';
  for (let at = bytes.indexOf('\n---', start); at !== -1; at = bytes.indexOf('\n---', at + 1)) {
    const newline = bytes.indexOf(10, at + 1);
    const end = newline === -1 ? bytes.length : newline + 1;
    if (isFence(bytes.toString('latin1', at + 1, newline === -1 ? end : newline)))
      return bytes.toString('utf8', 0, end);
  }
  return bytes.toString('utf8');
}

/** Line of a frontmatter key in the file, counted from 1; line 1 is the opening fence. */
function lineOfKey(yaml: string, problem: FieldProblem): number {
  const leaf = problem.key.slice(problem.key.lastIndexOf('.') + 1);
  const lines = yaml.split('\n');
  const top = problem.key.split('.')[0]!;
  const from = Math.max(
    0,
    lines.findIndex((line) => line.startsWith(`${top}:`)),
  );
  const at = lines.findIndex((line, index) => index >= from && line.includes(`${leaf}:`));
  return (at === -1 ? from : at) + 2;
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    if (newline === -1) return line;
    start = newline + 1;
    line += 1;
  }
}
