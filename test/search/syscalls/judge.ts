import { storageFault } from '../../../src/platform/storage-error.ts';
import { type Files, ulidsIn } from './files.ts';

/** What one run of a verb did, and what it did without a fault. */
export type Judged = {
  before: Files;
  /** After the same verb without a fault. */
  reference: Files;
  after: Files;
  ran: { code: number | null; signal: string | null; stdout: string; stderr: string };
  /** What the verb printed without a fault. */
  printed: string;
};

/** Everything that a run under a fault did wrong, one sentence each. */
export function problemsOf(judged: Judged, kind: 'writes' | 'reads' | 'hook'): string[] {
  const { after, before, reference, ran } = judged;
  const killed = ran.signal === 'SIGKILL' || ran.code === 137;
  const problems = damagesOf(judged, kind === 'hook');
  if (killed) return problems;
  if (ran.signal !== null || ran.code === null) return [...problems, `it was ended by ${ran.signal}`];
  if (kind === 'hook') {
    if (ran.code !== 0) problems.push(`a hook ended with ${ran.code}`);
    if (ran.stderr !== '') problems.push(`a hook printed ${quote(ran.stderr)}`);
    return problems;
  }
  if (ran.code !== 0) problems.push(...unclear(ran.stderr));
  if (kind === 'reads') {
    if (ran.code === 0) problems.push(...unnamed(judged));
    return problems;
  }
  const took = isEqual(after, reference) && !isEqual(before, reference);
  if (ran.code === 0 && !isEqual(after, reference))
    problems.push(`it ended with 0 without its effect: ${difference(after, reference)}`);
  if (
    ran.code !== 0 &&
    took &&
    !/\b(?:written|was removed|took effect|in place|was made|is made)\b/i.test(ran.stderr)
  )
    problems.push(`it took effect, and its error does not say so: ${quote(ran.stderr)}`);
  return problems;
}

/** What the same verb did wrong when it was run once more without a fault. */
export function problemsOfRetry(
  first: Files,
  { before, reference, after, ran }: Judged,
  kind: 'writes' | 'reads' | 'hook',
): string[] {
  const problems: string[] = [];
  if (/\block(?:ed)?\b/i.test(ran.stderr)) problems.push(`the next run met a lock: ${quote(ran.stderr)}`);
  const lost = [...ulidsIn(before)].filter(
    (ulid) => ulidsIn(reference).has(ulid) && !ulidsIn(after).has(ulid),
  );
  if (lost.length > 0) problems.push(`the next run lost ${lost.join(', ')}`);
  if (kind === 'hook' || !isEqual(first, before)) return problems;
  // A move that was cut short is finished first, and then there is nothing left to do or to find.
  if (!isEqual(after, reference))
    problems.push(
      ran.code === 0
        ? `the next run did not do the same: ${difference(after, reference)}`
        : `the next run was refused: ${quote(ran.stderr)}`,
    );
  else if (after.leftovers.length > 0)
    problems.push(
      `the next run left ${after.leftovers.map((name) => name.replace(/\d{2,}|[0-9a-f]{12,}/g, '…')).join(', ')}`,
    );
  return problems;
}

/** Files that are neither old nor new, and documents that are gone. */
function damagesOf({ before, reference, after }: Judged, appends: boolean): string[] {
  const problems: string[] = [];
  for (const path of new Set([
    ...before.contents.keys(),
    ...reference.contents.keys(),
    ...after.contents.keys(),
  ])) {
    const now = after.contents.get(path);
    if (now === before.contents.get(path) || now === reference.contents.get(path)) continue;
    if (appends && isPrefix(before.contents.get(path) ?? '', now)) continue;
    if (now === undefined) problems.push(`${path} is gone`);
    else problems.push(`${path} is neither old nor new: ${quote(now)}`);
  }
  const left = ulidsIn(after);
  for (const ulid of ulidsIn(before))
    if (ulidsIn(reference).has(ulid) && !left.has(ulid)) problems.push(`the document ${ulid} is lost`);
  return problems;
}

function isPrefix(start: string, text: string | undefined): boolean {
  return text?.startsWith(start) === true;
}

/** How the product says in words what the system said of a disk. */
const DISK_WORDS = [
  'ENOSPC',
  'EIO',
  'EACCES',
  'EROFS',
  'EDQUOT',
  'EPERM',
  'EFBIG',
  'EMFILE',
  'ENFILE',
].flatMap((code) => {
  const fault = storageFault('a file', Object.assign(new Error(code), { code, errno: -1, syscall: 'write' }));
  return fault === null ? [] : [fault.said.slice('a file'.length)];
});

/** An error that a person cannot use. */
function unclear(stderr: string): string[] {
  if (stderr.trim() === '') return ['it failed without a word'];
  if (/^\s+at .+:\d+/m.test(stderr)) return [`it printed a stack: ${quote(stderr)}`];
  if (/The daemon failed/.test(stderr)) return [`its error says nothing: ${quote(stderr)}`];
  const json = /^\{.*\}$/m.exec(stderr)?.[0];
  if (json !== undefined && (JSON.parse(json) as { error: string }).error === 'internal')
    return [`its error has no code: ${quote(stderr)}`];
  // What the system said, with neither the file nor a fix beside it.
  if (/^(?:svc: )?E[A-Z]+: [^';]*$/m.test(stderr))
    return [`its error names neither file nor fix: ${quote(stderr)}`];
  if (!/\bE[A-Z]{2,}\b/.test(stderr) && !DISK_WORDS.some((words) => stderr.includes(words)))
    return [`its error blames something else: ${quote(stderr)}`];
  return [];
}

/** A listing that lacks something must say why. */
function unnamed({ ran, printed }: Judged): string[] {
  if (ran.stdout === printed) return [];
  const text = ran.stdout + ran.stderr;
  const names = printed.match(/^[\w/-]+/gm) ?? [];
  const missing = names.filter((name) => !text.includes(name));
  if (missing.length > 0) return [`it ended with 0 and does not name ${missing.join(', ')}`];
  return /E[A-Z]{3,}|cannot|could not|error|fix/i.test(text)
    ? []
    : [`it ended with 0, printed something else and does not say why: ${quote(text)}`];
}

function isEqual(a: Files, b: Files): boolean {
  return a.contents.size === b.contents.size && difference(a, b) === '';
}

function difference(now: Files, wanted: Files): string {
  for (const path of new Set([...wanted.contents.keys(), ...now.contents.keys()]))
    if (now.contents.get(path) !== wanted.contents.get(path))
      return `${path} is ${quote(now.contents.get(path) ?? 'missing')}`;
  return '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}
