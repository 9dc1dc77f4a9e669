import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '../base/errors.ts';
import { isUlid } from './fiber-id.ts';
import { readFields } from './fields.ts';
import { type DocumentParts, readFrontmatter, splitFrontmatter } from './frontmatter.ts';
import { applyToModel, type Splice, spliceYaml } from './yaml-splice.ts';

/** A change to one document: frontmatter paths (`horizon`, `svc.agent`) to plain JSON values, paths to remove, a new body. */
export type DocumentEdit = { set?: Record<string, unknown>; unset?: string[]; body?: string };

/**
 * Applies an edit to a document's text and answers the new text. Every line that the edit does not concern keeps
 * its bytes: unknown keys, comments, order, quoting, line ends. `updated-at` is stamped always; `closed-at` when
 * the status becomes closed, and removed when it is reopened. A map that loses its last key goes too.
 *
 * Throws `invalid_document` when the frontmatter cannot be read or cannot carry the change, `invalid_request`
 * for a path or value that a fiber cannot have. `now` is in milliseconds since the Unix epoch.
 */
export function editDocument(text: string, edit: DocumentEdit, now: number): string {
  const parts = splitFrontmatter(text);
  if (parts === null) {
    throw invalidDocument('line 1: the frontmatter is opened with "---" but never closed');
  }
  const { data, problem } = readFrontmatter(parts.yaml);
  if (problem !== null) throw invalidDocument(`line ${problem.line + 1}: ${problem.message}`);
  const splices = planSplices(data, edit, new Date(now).toISOString());
  requireFields(data, splices);
  let yaml = parts.yaml;
  for (const splice of splices) {
    const next = spliceYaml(yaml, splice, parts.eol);
    if (next === null) {
      throw invalidDocument(`"${splice.path.join('.')}" cannot be changed without rewriting other keys`);
    }
    yaml = next;
  }
  return joinParts({ ...parts, yaml, body: edit.body ?? parts.body });
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
    if (!stamped && !Object.hasOwn(set, 'closed-at')) set['closed-at'] = now;
  } else if (after !== data.status && !Object.hasOwn(set, 'closed-at')) unset.push('closed-at');
  set['updated-at'] = now;
  return [
    ...unset.map((path): Splice => ({ path: parsePath(path), remove: true })),
    ...Object.entries(set).map(([path, value]): Splice => ({ path: parsePath(path), value })),
  ];
}

/** Refuses an edit that would give a field a value it cannot have, or change a minted id (FIB-2). */
function requireFields(data: Record<string, unknown>, splices: Splice[]): void {
  let model = data;
  for (const splice of splices) {
    const next = applyToModel(model, splice);
    if (next === null) {
      throw new CodedError(
        'invalid_request',
        `"${splice.path.join('.')}" runs through a value that is not a map; set the key above it first`,
      );
    }
    model = next;
  }
  if (typeof data.id === 'string' && isUlid(data.id) && model.id !== data.id) {
    throw new CodedError('invalid_request', 'the id of a fiber is minted once and never changed');
  }
  const before = readFields(data, '').problem;
  const after = readFields(model, '').problem;
  if (after !== null && !isDeepStrictEqual(before, after)) {
    throw new CodedError('invalid_request', after.message);
  }
}

function parsePath(path: string): string[] {
  const keys = path.split('.');
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
  return new CodedError('invalid_document', `the document is not changed: ${problem}; mend it in an editor`);
}
