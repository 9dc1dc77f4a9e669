import { createHash } from 'node:crypto';
import { closeSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../base/digest.ts';
import { messageOf, systemCode } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { isTemporaryName, removeQuietly, writeFileAtomic } from '../platform/atomic-write.ts';
import { readableFolderNames } from '../platform/folder-names.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { openRegularFileSync, readAtSync, readRegularFileSync } from '../platform/regular-file.ts';

/** Most bytes of the first line of a file. */
const MOST_HEAD_BYTES = 32 * 1024;
/** A file that no host has confirmed for so long, in milliseconds, is of one that is gone, or of a question that nobody asks. */
const KEPT_MS = 30 * 86_400_000;

/** The first line of a file; the bytes of the answer follow it. */
const headSchema = z.object({
  version: z.literal(1),
  host: z.string(),
  /** The question, as it was asked. */
  path: z.string(),
  window: z.object({ from_ms: z.number(), to_ms: z.number() }).nullable(),
  etag: z.string().nullable(),
  /** Digest of the bytes. */
  digest: z.string(),
});
/** The last good answer of a host to one question. */
export type Copy = Omit<z.infer<typeof headSchema>, 'version'> & {
  /** Size of the answer in bytes. */
  size: number;
  /** When the host last gave or confirmed it, in milliseconds since the Unix epoch. */
  last_ok_at: number;
};

/**
 * The last good answers of other hosts on disk, one file each, by feed. A file's time of modification is when its host last
 * confirmed it. What cannot be read or written is told in the log: nothing depends on it but an answer without its host.
 */
export class CopyFiles {
  readonly #folder: string;
  readonly #logger: Logger;

  constructor({ folder, logger }: { folder: string; logger: Logger }) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Removes what is left of killed writes, and what is older than anything that is asked for. */
  sweep(now: number): void {
    for (const feed of readableFolderNames(this.#folder))
      for (const name of readableFolderNames(join(this.#folder, feed))) {
        const path = join(this.#folder, feed, name);
        if (isTemporaryName(name) || now - (lastWriteOf(path) ?? now) > KEPT_MS) removeQuietly(path);
      }
  }

  /** The copies of one host on disk. */
  copiesOf(feed: string, host: string): Copy[] {
    const prefix = prefixOf(host);
    const folder = join(this.#folder, feed);
    return readableFolderNames(folder).flatMap((name) => {
      if (!name.startsWith(prefix)) return [];
      const copy = this.#headOf(join(folder, name));
      return copy !== null && copy.host === host && nameOf(copy) === name ? [copy] : [];
    });
  }

  has(feed: string, copy: Copy): boolean {
    return lastWriteOf(this.#pathOf(feed, copy)) !== null;
  }

  /** The bytes of a copy; null where they are no longer there. */
  read(feed: string, copy: Copy): Buffer | null {
    try {
      const bytes = readRegularFileSync(this.#pathOf(feed, copy), READ_LIMITS.remote_copy);
      const end = bytes.indexOf('\n');
      const head = end === -1 ? null : headIn(bytes.subarray(0, end));
      return head?.digest === copy.digest ? bytes.subarray(end + 1) : null;
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') this.#tell(error, 'cannot read the last answer of another host');
      return null;
    }
  }

  /** False if it could not be written. */
  write(feed: string, copy: Copy, bytes: Uint8Array): boolean {
    const { size: _size, last_ok_at, ...named } = copy;
    const head = { version: 1, ...named } satisfies z.input<typeof headSchema>;
    const line = Buffer.from(`${JSON.stringify(head)}\n`);
    if (line.length > MOST_HEAD_BYTES) return false;
    try {
      // A data folder that was deleted under the daemon is not made again.
      statSync(dirname(this.#folder));
      makeFolder(join(this.#folder, feed));
      // A copy that is lost when the machine crashes is requested again.
      writeFileAtomic(this.#pathOf(feed, copy), Buffer.concat([line, bytes]), {
        durable: false,
        follow: false,
      });
      this.confirm(feed, copy, last_ok_at);
      return true;
    } catch (error) {
      this.#tell(error, 'cannot keep the answer of another host');
      return false;
    }
  }

  /** Its host has said that the copy is what it would answer; false where it is no longer there. */
  confirm(feed: string, copy: Copy, at: number): boolean {
    try {
      utimesSync(this.#pathOf(feed, copy), new Date(at), new Date(at));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false;
      this.#tell(error, 'cannot date the answer of another host');
    }
    return true;
  }

  remove(feed: string, copy: Copy): void {
    removeQuietly(this.#pathOf(feed, copy));
  }

  /** Removes the copies of one feed of all hosts but these. */
  keepOnly(feed: string, hosts: readonly string[]): void {
    const prefixes = hosts.map(prefixOf);
    const folder = join(this.#folder, feed);
    for (const name of readableFolderNames(folder))
      if (!prefixes.some((prefix) => name.startsWith(prefix))) removeQuietly(join(folder, name));
  }

  #pathOf(feed: string, copy: Copy): string {
    return join(this.#folder, feed, nameOf(copy));
  }

  #headOf(path: string): Copy | null {
    try {
      const { fd, stats } = openRegularFileSync(path);
      try {
        const start = readAtSync(fd, Buffer.alloc(MOST_HEAD_BYTES), 0);
        const end = start.indexOf('\n');
        const head = end === -1 ? null : headIn(start.subarray(0, end));
        if (head === null) return null;
        const { version: _version, ...named } = head;
        return {
          ...named,
          size: stats.size - end - 1,
          last_ok_at: Math.round(stats.mtimeMs),
        };
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      this.#tell(error, 'cannot read the last answer of another host');
      return null;
    }
  }

  #tell(error: unknown, what: string): void {
    this.#logger.warn({ err: messageOf(error) }, what);
  }
}

/** Names the bytes of an answer. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}

function headIn(line: Uint8Array): z.infer<typeof headSchema> | null {
  try {
    return headSchema.safeParse(JSON.parse(Buffer.from(line).toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

/** What names of hosts have in common with names of files is shown, and a digest tells them apart. */
function prefixOf(host: string): string {
  return `${host.replaceAll(/[^A-Za-z0-9-]/g, '_').slice(0, 40)}-${shortDigest(host)}-`;
}

function nameOf({ host, path }: Copy): string {
  return `${prefixOf(host)}${shortDigest(path)}`;
}

function shortDigest(text: string): string {
  return sha256Of(text).slice(0, 16);
}

/** In milliseconds since the Unix epoch; null where there is no such file. */
function lastWriteOf(path: string): number | null {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return null;
  }
}
