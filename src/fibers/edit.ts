import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../base/errors.ts';
import { oneLineFault } from '../base/terminal-text.ts';
import { DOCUMENT_LIMITS, WRITE_LIMITS } from '../contract/document-limits.ts';
import { hasBrokenText, oversize } from '../contract/value-limits.ts';
import { isUlid } from './fiber-id.ts';
import { readFields } from './fields.ts';
import { type DocumentParts, readFrontmatter, splitFrontmatter } from './frontmatter.ts';
import { countYamlTokens } from './yaml-document.ts';
import { applySplices, type Splice, spliceYaml } from './yaml-splice.ts';

/** A change to one document: frontmatter paths (`horizon`, `svc.agent`) to plain JSON values, paths to remove, a new body. */
export type DocumentEdit = { set?: Record<string, unknown>; unset?: string[]; body?: string };

/** Keys of texts that lists show within one line. */
const ONE_LINE_KEYS = new Set(['name', 'tags']);

/** Keys that lifecycle verbs and launches write, in addition to `svc.runtime`. */
const OWN_KEYS = new Set(['status', 'tempered', 'closed-at', 'updated-at']);

/**
 * Applies an edit to a document's text and returns the new text. Lines outside the edit keep their bytes: unknown keys,
 * comments, order, quoting, line ends. `updated-at` is stamped always; `closed-at` when the status becomes closed, unless
 * the edit names it, and removed when it is reopened. A map that becomes empty is removed.
 *
 * Throws `invalid_document` if the frontmatter cannot be parsed or cannot take the change, `invalid_request` for a path
 * or value that a fiber cannot have, `body_too_large` for frontmatter over its limits. `now` is in milliseconds since
 * the Unix epoch.
 */
export function editDocument(text: string, edit: DocumentEdit, now: number): string {
  const parts = splitFrontmatter(text);
  if (parts === null) {
    throw invalidDocument('line 1: the frontmatter is opened with "---" but never closed');
  }
  const { data, problem } = readFrontmatter(parts.yaml);
  if (problem !== null) throw invalidDocument(`line ${problem.line + 1}: ${problem.message}`);
  requireRequest(edit);
  const splices = planSplices(data, edit, new Date(now).toISOString());
  const model = requireModel(data, splices);
  const spliced = spliceYaml(parts.yaml, data, model, parts.eol);
  if (spliced.yaml === null) {
    const changed = Object.keys({ ...data, ...model }).filter(
      (key) => !isDeepStrictEqual(data[key], model[key]),
    );
    if (spliced.limit !== null) throw tooLong(spliced.limit);
    throw invalidDocument(
      `${changed.map((key) => `"${key}"`).join(', ')} cannot be changed without rewriting other keys`,
    );
  }
  requireLength(parts.yaml, spliced.yaml, splices);
  return joinParts({ ...parts, yaml: spliced.yaml, body: edit.body ?? parts.body });
}

/** Refuses values that no document can hold, before any other work. */
function requireRequest({ set = {}, unset = [], body = '' }: DocumentEdit): void {
  const most: [string, number, number][] = [
    ['set', Object.keys(set).length, WRITE_LIMITS.set_keys],
    ['unset', unset.length, WRITE_LIMITS.unset_keys],
  ];
  for (const [what, count, limit] of most) {
    if (count > limit)
      throw new CodedError(
        'invalid_request',
        `"${what}" names ${count} keys; a write takes at most ${limit}`,
      );
  }
  for (const [path, value] of Object.entries(set)) {
    const tooMuch = oversize(value, path.split('.').length);
    if (tooMuch !== null) throw new CodedError('invalid_request', `"${path}" has ${tooMuch}; shorten it`);
    if (hasBrokenText(value)) throw brokenText(path);
    const texts = ONE_LINE_KEYS.has(path) ? [value].flat() : [];
    for (const text of texts) {
      const fault = typeof text === 'string' ? oneLineFault(text) : null;
      if (fault !== null) throw new CodedError('invalid_request', `"${path}" ${fault}`);
    }
  }
  if (hasBrokenText(body)) throw brokenText('body');
}

/** The frontmatter after the edit; refuses invalid field values and a changed minted id (FIB-2). */
function requireModel(data: Record<string, unknown>, splices: readonly Splice[]): Record<string, unknown> {
  const { model, blocked } = applySplices(data, splices);
  if (model === null) {
    throw new CodedError(
      'invalid_request',
      `"${blocked.path.join('.')}" runs through a value that is not a map; set the key above it first`,
    );
  }
  if (typeof data.id === 'string' && isUlid(data.id) && model.id !== data.id) {
    throw new CodedError('invalid_request', 'the id of a fiber is minted once and never changed');
  }
  const before = readFields(data, '').problem;
  const after = readFields(model, '').problem;
  if (after !== null && !isDeepStrictEqual(before, after)) {
    throw new CodedError('invalid_request', after.message);
  }
  const tooMuch = oversize(model);
  if (tooMuch !== null) throw tooLong(`it would have ${tooMuch}`);
  return model;
}

/**
 * Refuses frontmatter that grows over its limit. The last part of the limit is reserved for keys that the daemon must
 * always be able to write, so that no document gets stuck at the limit.
 */
function requireLength(before: string, after: string, splices: readonly Splice[]): void {
  const own = splices.every(({ path }) => isOwnKey(path));
  const chars = own ? DOCUMENT_LIMITS.frontmatter_chars : DOCUMENT_LIMITS.written_frontmatter_chars;
  if (after.length > chars && after.length > before.length)
    throw tooLong(`it would have ${after.length} characters, and may have ${chars}`);
  const tokens = own ? DOCUMENT_LIMITS.yaml_tokens : DOCUMENT_LIMITS.written_yaml_tokens;
  // A character is at most two tokens.
  if (after.length * 2 <= tokens) return;
  const count = countYamlTokens(after);
  if (count > tokens && count > countYamlTokens(before))
    throw tooLong(`it would have ${count} YAML tokens, and may have ${tokens}`);
}

function isOwnKey(path: readonly string[]): boolean {
  return OWN_KEYS.has(path[0]!) || (path[0] === 'svc' && path[1] === 'runtime');
}

function planSplices(data: Record<string, unknown>, edit: DocumentEdit, now: string): Splice[] {
  const set = { ...edit.set };
  const unset = [...(edit.unset ?? [])];
  const after = Object.hasOwn(set, 'status')
    ? set.status
    : unset.includes('status')
      ? undefined
      : data.status;
  if (after === 'closed') {
    const stamped = data.status === 'closed' && data['closed-at'] != null;
    if (!stamped && !Object.hasOwn(set, 'closed-at') && !unset.includes('closed-at')) set['closed-at'] = now;
  } else if (after !== data.status && !Object.hasOwn(set, 'closed-at')) unset.push('closed-at');
  set['updated-at'] = now;
  return [
    ...unset.map((path): Splice => ({ path: parsePath(path), remove: true })),
    ...Object.entries(set).map(([path, value]): Splice => ({ path: parsePath(path), value })),
  ];
}

function parsePath(path: string): string[] {
  const keys = path.split('.');
  if (path.length > WRITE_LIMITS.path_chars || !path.isWellFormed())
    throw new CodedError(
      'invalid_request',
      `a path of keys is well-formed text of at most ${WRITE_LIMITS.path_chars} characters`,
    );
  if (keys.some((key) => key === '' || key === '__proto__' || /[\u0000-\u001f]/.test(key))) {
    throw new CodedError('invalid_request', `"${path}" is not a path of keys such as outcome or svc.agent`);
  }
  return keys;
}

function joinParts(parts: DocumentParts): string {
  const opening = parts.opening === '' ? `---${parts.eol}` : parts.opening;
  let closing = parts.closing === '' ? `---${parts.eol}` : parts.closing;
  if (parts.body !== '' && !closing.endsWith('\n')) closing += parts.eol;
  return parts.mark + opening + parts.yaml + closing + parts.body;
}

function invalidDocument(problem: string): CodedError {
  return new CodedError('invalid_document', `the document is not changed: ${problem}; fix it in an editor`);
}

function brokenText(what: string): CodedError {
  return new CodedError(
    'invalid_request',
    `"${what}" has half of a surrogate pair, which UTF-8 cannot write`,
  );
}

function tooLong(problem: string): CodedError {
  return new CodedError(
    'body_too_large',
    `the frontmatter is not changed: ${problem}; move text into the body`,
  );
}
