import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { storeLeaseFile } from '../../config/runtime-files.ts';
import type { StoreLease } from '../../contract/http/state.ts';
import {
  type FileLock,
  type LockAbout,
  type LockHolder,
  type LockOwner,
  lockHolder,
  tryFileLock,
} from '../../platform/file-lock.ts';
import type { StoreReader } from './store-poll.ts';

const NOT_LOOKED_AT: StoreLease = { state: 'unknown', holder: null, detail: 'the store was not listed yet' };
const HELD: StoreLease = { state: 'held', holder: null, detail: null };

type StoreLeasesOptions = {
  /** The runtime folder. */
  folder: string;
  host: string;
  owner: LockOwner;
  about: LockAbout;
  pool: StoreReader;
  /** Bound on one look at a store, in milliseconds. */
  deadline_ms: number;
  logger: Logger;
};

/**
 * Which of the polled stores this daemon may dispatch from: of the daemons of one host id on this machine only the one
 * that holds the lease of a store. A lease is a lock file in the runtime folder, named by what the store is on disk,
 * so that every path to it has the same. It is taken over only where its holder has certainly ended.
 */
export class StoreLeases {
  readonly #options: StoreLeasesOptions;
  /** What each store is on disk, by its root. */
  readonly #identities = new Map<string, string>();
  readonly #locks = new Map<string, FileLock>();
  readonly #seen = new Map<string, StoreLease>();

  constructor(options: StoreLeasesOptions) {
    this.#options = options;
  }

  /** Looks what the store is, and takes its lease where it is free. For a store whose disk has just answered. */
  async look(root: string): Promise<void> {
    const { pool, deadline_ms } = this.#options;
    try {
      const { value } = await pool.run('identify_store', { root }, { deadline_ms });
      this.#identities.set(root, value.identity);
    } catch (error) {
      // What the store was a moment ago it most likely still is.
      if (!this.#identities.has(root))
        this.#note(root, { state: 'unknown', holder: null, detail: messageOf(error) });
    }
    this.confirm(root);
  }

  /** How the lease stands now, by its file; a lease that is free is taken, one whose file was removed taken again. */
  confirm(root: string): StoreLease {
    const identity = this.#identities.get(root);
    if (identity === undefined) return this.#seen.get(root) ?? NOT_LOOKED_AT;
    const { folder, host, owner, about } = this.#options;
    const path = storeLeaseFile(folder, host, identity);
    try {
      if (this.#locks.get(path)?.isHeld() === true) return this.#note(root, HELD);
      this.#locks.delete(path);
      const lock = tryFileLock(path, owner, about);
      if (lock !== null) {
        this.#locks.set(path, lock);
        return this.#note(root, HELD);
      }
      const holder = lockHolder(path);
      return this.#note(root, {
        state: 'elsewhere',
        holder: holder === null ? null : viewHolder(holder),
        detail: `its lease is ${path}`,
      });
    } catch (error) {
      return this.#note(root, { state: 'unknown', holder: null, detail: messageOf(error) });
    }
  }

  /** What was seen last, without a look. */
  of(root: string): StoreLease {
    return this.#seen.get(root) ?? NOT_LOOKED_AT;
  }

  /** Gives back the leases of all but these stores. */
  keep(roots: ReadonlySet<string>): void {
    for (const root of this.#seen.keys()) {
      if (roots.has(root)) continue;
      this.#seen.delete(root);
      this.#identities.delete(root);
    }
    const { folder, host } = this.#options;
    const kept = new Set([...this.#identities.values()].map((one) => storeLeaseFile(folder, host, one)));
    for (const [path, lock] of this.#locks) {
      if (kept.has(path)) continue;
      this.#release(lock);
      this.#locks.delete(path);
    }
  }

  /** Gives all back. */
  release(): void {
    this.keep(new Set());
  }

  #release(lock: FileLock): void {
    try {
      lock.release();
    } catch (error) {
      // Its file stays behind and counts for nothing once this process has ended.
      this.#options.logger.warn({ detail: messageOf(error) }, 'the lease of a store was not given back');
    }
  }

  #note(root: string, lease: StoreLease): StoreLease {
    const before = this.#seen.get(root);
    this.#seen.set(root, lease);
    if (before?.state === lease.state && before.holder?.pid === lease.holder?.pid) return lease;
    const { logger } = this.#options;
    const refusal = refusalOfLease(root, lease);
    if (refusal !== null) logger.error({ store: root, holder: lease.holder, detail: lease.detail }, refusal);
    else if (before !== undefined) logger.warn({ store: root }, 'this daemon dispatches from the store now');
    return lease;
  }
}

/** Why nothing is started from the store; null where this daemon has its lease. */
export function refusalOfLease(root: string, lease: StoreLease): string | null {
  if (lease.state === 'held') return null;
  if (lease.state === 'unknown')
    return `whether another daemon dispatches from ${root} is not known (${lease.detail})`;
  const { holder } = lease;
  const who =
    holder === null
      ? 'another daemon'
      : `another daemon (pid ${holder.pid} on ${holder.machine}, data folder ${holder.data_dir ?? 'unknown'}, since ${holder.since ?? 'a time it does not tell'})`;
  return `${who} dispatches from ${root}, and two would start every worker twice`;
}

/** What a person does about it. */
export function mendOfLease(lease: StoreLease): string {
  if (lease.state === 'unknown')
    return '`svc doctor` says whether the store and the runtime folder can be reached; it is tried again with every tick';
  const { holder } = lease;
  const pid = holder === null ? '' : ` (pid ${holder.pid})`;
  return `see \`svc doctor\`, or end that daemon${pid}: this one takes over with its next tick`;
}

function viewHolder({ pid, host, about }: LockHolder): StoreLease['holder'] {
  return { pid, machine: host, data_dir: about?.data_dir ?? null, since: about?.since ?? null };
}
