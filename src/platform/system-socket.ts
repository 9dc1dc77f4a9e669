import { lstat, readlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { messageOf, systemCode } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';

/** What of an entry that is passed on the way to a socket says who could have put it there. */
export type PassedEntry = {
  path: string;
  kind: 'socket' | 'folder' | 'link' | 'other';
  uid: number;
  mode: number;
};

/** A link may lead to a link; more of them than this is a circle. */
const MOST_LINKS = 16;

/**
 * Why somebody else than root or the user `uid` may have made a socket, with the fix; null where nobody could.
 * `passed` is every folder and link on the way, from `/` on, and the entry itself as the last one.
 */
export function systemSocketFault(passed: readonly PassedEntry[], uid: number): string | null {
  const last = passed.at(-1);
  if (last?.kind !== 'socket') return `${last?.path ?? 'the path'} is not a socket`;
  for (const { path, kind, uid: owner, mode } of passed) {
    if (owner !== 0 && owner !== uid) return `${path} belongs to another user (uid ${owner})`;
    // A shared folder with the sticky bit is refused as well: whoever comes first takes a name in it.
    if (kind === 'folder' && (mode & 0o022) !== 0)
      return `other users can write to ${path}; run: chmod go-w ${shellWord(path)}`;
  }
  return null;
}

/** `absent`, `trusted`, or the fault of a socket that root or this user may not have made. */
export type SystemSocket = { state: 'absent' } | { state: 'trusted' } | { state: 'refused'; fault: string };

/** Looks at the socket of a program of the system, or of this user. */
export async function lookAtSystemSocket(path: string): Promise<SystemSocket> {
  try {
    const fault = systemSocketFault(await entriesTo(path), process.geteuid?.() ?? 0);
    return fault === null ? { state: 'trusted' } : { state: 'refused', fault };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'absent' };
    return { state: 'refused', fault: `${path} cannot be looked at: ${messageOf(error)}` };
  }
}

/** Every entry that the kernel passes when it opens an absolute path, also those that links lead through. */
async function entriesTo(path: string): Promise<PassedEntry[]> {
  const passed = [await factsOf(sep)];
  let left = namesOf(path);
  let at: string = sep;
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    const next = join(at, name);
    const facts = await factsOf(next);
    passed.push(facts);
    // The socket itself may be no link: what it leads to could be changed between two looks.
    if (facts.kind !== 'link' || left.length === 0) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) throw new Error('its links lead in a circle');
    const target = await readlink(next);
    if (target.startsWith(sep)) at = sep;
    left = [...namesOf(target), ...left];
  }
  return passed;
}

/** `..` stays a name: no folder on the way so far is a link, so that the one above it is what its path says. */
function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== '' && name !== '.');
}

async function factsOf(path: string): Promise<PassedEntry> {
  const entry = await lstat(path);
  const { uid, mode } = entry;
  if (entry.isDirectory()) return { path, kind: 'folder', uid, mode };
  if (entry.isSymbolicLink()) return { path, kind: 'link', uid, mode };
  return { path, kind: entry.isSocket() ? 'socket' : 'other', uid, mode };
}
