import { rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { sha256Of } from '../../../base/digest.ts';
import { CodedError } from '../../../base/errors.ts';
import type { SharedFile } from '../../../harness/harness.ts';
import { removeLeftTemporaries, resolveLink, writeFileAtomic } from '../../../platform/atomic-write.ts';
import { makeFolder } from '../../../platform/make-folder.ts';
import { mayRun } from '../../../platform/process-facts.ts';
import { RECEIPT_FILE, type Receipt, readReceipt, readText } from './receipt.ts';

/** The intended state of one file; `text` null: removed. */
export type Change = { path: string; action: 'create' | 'update' | 'remove'; text: string | null };
/** What a setup would change in one home; planning writes nothing. */
export type Plan = { changes: Change[]; kept: string[] };

/** Plans the installation of our files, and of our sections in the shared files. */
export function planInstall(
  home: string,
  wanted: ReadonlyMap<string, string>,
  shared: readonly SharedFile[],
): Plan {
  const receipt = readReceipt(home);
  const next: Receipt = { version: 1, files: {}, before: { ...receipt.before } };
  const plan: Plan = { changes: [], kept: [] };
  for (const [name, text] of wanted) {
    const path = join(home, name);
    const now = readText(path);
    if (now !== null && now !== text && receipt.files[name] !== sha256Of(now))
      throw new CodedError(
        'conflict',
        `${path} exists already and was not written by a setup; move it away, then run this again`,
        { details: { path } },
      );
    next.files[name] = sha256Of(text);
    change(plan, path, now, text);
  }
  for (const [name, digest] of Object.entries(receipt.files))
    if (!wanted.has(name)) removeOwn(plan, join(home, name), digest);
  for (const { name, put, take } of shared) {
    const path = join(home, name);
    const now = readText(path);
    const original =
      receipt.before[name]?.digest === sha256Of(now ?? '') ? receipt.before[name].text : undefined;
    // Built from the original text, so that a second setup gives the same result.
    const text = put(original === undefined ? now : original);
    const before = original === undefined ? (now === null ? null : take(now)) : original;
    next.before[name] = { digest: sha256Of(text), text: before };
    if (before !== null && take(text) === before) delete next.before[name];
    change(plan, path, now, text);
  }
  const receiptText = `${JSON.stringify(next)}\n`;
  change(plan, join(home, RECEIPT_FILE), readText(join(home, RECEIPT_FILE)), receiptText);
  return plan;
}

/** Plans the removal of our files and sections; files that somebody changed since are kept and listed. */
export function planUninstall(home: string, shared: readonly Pick<SharedFile, 'name' | 'take'>[]): Plan {
  const receipt = readReceipt(home);
  const plan: Plan = { changes: [], kept: [] };
  for (const [name, digest] of Object.entries(receipt.files)) removeOwn(plan, join(home, name), digest);
  for (const { name, take } of shared) {
    const path = join(home, name);
    const now = readText(path);
    if (now === null) continue;
    const kept = receipt.before[name];
    change(plan, path, now, kept?.digest === sha256Of(now) ? kept.text : take(now));
  }
  const path = join(home, RECEIPT_FILE);
  change(plan, path, readText(path), null);
  return plan;
}

function removeOwn(plan: Plan, path: string, digest: string): void {
  const now = readText(path);
  if (now === null) return;
  if (sha256Of(now) === digest) change(plan, path, now, null);
  else plan.kept.push(path);
}

function change(plan: Plan, path: string, now: string | null, text: string | null): void {
  if (now === text) return;
  const action = text === null ? 'remove' : now === null ? 'create' : 'update';
  plan.changes.push({ path, action, text });
}

/** Carries out a plan, each file atomically; removes folders below `home` that become empty. */
export function applyChanges(home: string, changes: readonly Change[]): void {
  for (const { path, text } of changes) {
    if (text === null) {
      rmSync(resolveLink(path), { force: true });
      removeEmpty(home, dirname(path));
    } else {
      makeFolder(dirname(path));
      // No lock is held, so another setup may be writing the same file.
      removeLeftTemporaries(path, mayRun);
      writeFileAtomic(path, text, { mode: 0o600 });
    }
  }
}

function removeEmpty(home: string, folder: string): void {
  const below = relative(home, folder);
  if (below === '' || below.startsWith('..')) return;
  try {
    rmdirSync(folder);
  } catch {
    return;
  }
  removeEmpty(home, dirname(folder));
}
