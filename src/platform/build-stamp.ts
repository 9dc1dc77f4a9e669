import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from './package-root.ts';

/** The `git_short_sha` of a copy without history. */
export const UNKNOWN_BUILD = 'unknown';

/** Which code this is (OPR-1). */
export type BuildStamp = { version: string; git_short_sha: string };

/**
 * Reads the stamp from small files: `dist/build.json` in a package, `.git` in a checkout.
 * No process is started, so the daemon's main thread may call it.
 */
export function readBuildStamp(root: string = packageRoot()): BuildStamp {
  const version = readVersion(root);
  const checkedOut = readGitSha(root);
  if (checkedOut !== undefined) return { version, git_short_sha: checkedOut };
  return { version, git_short_sha: readBuiltSha(root) ?? UNKNOWN_BUILD };
}

function readVersion(root: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return stringField(manifest, 'version') ?? '0.0.0';
}

function readBuiltSha(root: string): string | undefined {
  const text = readIfThere(join(root, 'dist', 'build.json'));
  return text === undefined ? undefined : stringField(JSON.parse(text), 'git_short_sha');
}

/** HEAD of the checkout, resolved through its ref; works in a linked worktree too. */
function readGitSha(root: string): string | undefined {
  const folder = gitFolder(join(root, '.git'));
  if (folder === undefined) return undefined;
  const head = readIfThere(join(folder, 'HEAD'))?.trim();
  if (head === undefined) return undefined;
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return short(head);
  const common = readIfThere(join(folder, 'commondir'))?.trim();
  const shared = common === undefined ? folder : resolve(folder, common);
  const loose = readIfThere(join(folder, ref)) ?? readIfThere(join(shared, ref));
  return short(loose?.trim() ?? packedSha(join(shared, 'packed-refs'), ref));
}

function gitFolder(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isDirectory()) return path;
  const pointer = /^gitdir: (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1];
  return pointer === undefined ? undefined : resolve(path, '..', pointer.trim());
}

function packedSha(path: string, ref: string): string | undefined {
  const line = readIfThere(path)
    ?.split('\n')
    .find((entry) => entry.endsWith(` ${ref}`));
  return line?.split(' ')[0];
}

function short(sha: string | undefined): string | undefined {
  return sha !== undefined && /^[0-9a-f]{40,64}$/.test(sha) ? sha.slice(0, 7) : undefined;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function stringField(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return typeof field === 'string' ? field : undefined;
}
