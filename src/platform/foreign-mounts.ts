import { resolve } from 'node:path';
import { type Mount, mountOf, readMounts, type Walked, walk } from './disk-walk.cjs';

/** File systems that depend on another machine or program for every operation. */
const FOREIGN_TYPE =
  /^(nfs|cifs|smb|fuse|9p|ceph|afs|lustre|gluster|autofs|beegfs|virtiofs|ocfs|gfs|davfs|glusterfs|sshfs|vboxsf|prl_fs)/;

/** How long the mount table is cached, in milliseconds. */
const TABLE_MS = 1_000;

let cached: { read_at: number; table: Mount[] | null } | null = null;

/** Whether a file system of this type may stop to answer while this machine goes on. */
export function isForeign(type: string): boolean {
  return FOREIGN_TYPE.test(type);
}

/**
 * Follows paths that other programs write, on the calling thread, and never enters a mount of another machine that is not
 * known to answer: its system calls could wait for ever. Where the system has no mount table, every mount is entered.
 */
export class KnownMounts {
  readonly #table = mountTable();
  readonly #closed: ReadonlySet<string>;

  /** `answering`: mounts of other machines that may be entered; see `Disks.answering`. */
  constructor(answering: readonly string[] | 'all') {
    this.#closed = new Set(
      answering === 'all' ? [] : foreignPoints(this.#table).filter((point) => !answering.includes(point)),
    );
  }

  /** The mount that a path without links lies on, if it may not be entered; else null. Accesses no disk. */
  closedAt(path: string): string | null {
    if (this.#closed.size === 0) return null;
    const { point } = mountOf(path, this.#table);
    return this.#closed.has(point) ? point : null;
  }

  /** What lies at the end of a path; `elsewhere`: it leads to a mount that may not be entered. */
  follow(path: string): Walked {
    return walk(path, this.#table, (point) => !this.#closed.has(point));
  }
}

/**
 * Whether a path, with each link on its way, stays on disks of this machine. Accesses no other; false where the system has no
 * mount table that could tell.
 */
export function staysHere(path: string): boolean {
  const table = mountTable();
  if (table === null) return false;
  const points = foreignPoints(table);
  return (
    points.length === 0 || walk(resolve(path), table, (point) => !points.includes(point)).kind !== 'elsewhere'
  );
}

/** The mounts of other machines on which files of these folders may lie; with `anywhere`, all of them. */
export function foreignMountsOf(
  folders: readonly string[],
  { anywhere, answering }: { anywhere: boolean; answering: readonly string[] },
): string[] {
  const points = foreignPoints(mountTable());
  if (anywhere || points.length === 0) return points;
  const known = new KnownMounts(answering);
  const places = folders.flatMap((folder) => {
    const end = known.follow(folder);
    return end.kind === 'elsewhere' ? [folder, end.path] : 'real' in end ? [folder, end.real] : [folder];
  });
  const isOn = (place: string, point: string) => place === point || place.startsWith(`${point}/`);
  return points.filter((point) => places.some((place) => isOn(place, point) || isOn(point, place)));
}

/** Without the root of the file system: where that does not answer, nothing runs. */
function foreignPoints(table: readonly Mount[] | null): string[] {
  return (table ?? [])
    .filter(({ point, type }) => point !== '/' && isForeign(type))
    .map(({ point }) => point);
}

function mountTable(): Mount[] | null {
  const now = performance.now();
  if (cached === null || now - cached.read_at >= TABLE_MS) cached = { read_at: now, table: readMounts() };
  return cached.table;
}
