import type { Clock } from '../../base/clock.ts';
import { sha256Of } from '../../base/digest.ts';
import { isCoded } from '../../base/errors.ts';
import type { StoreReach } from '../../contract/threads/pool.ts';
import {
  type DocumentPlace,
  type ParsedDocument,
  parseDocument,
  parsePlainDocument,
  unparsedDocument,
} from '../../fibers/document.ts';
import { type DocumentParser, unreadYet } from '../../fibers/document-parser.ts';
import { decodeReading, encodePaths } from '../../fibers/sweep-result.ts';
import type { StoreReader } from './store-poll.ts';

/** Digests that are remembered; of older ones the documents are parsed elsewhere once more. */
const MOST_DIGESTS = 5_000;
/** How long a document whose parse was ended is not parsed again, in milliseconds: the machine may have been slow. */
const ENDED_MS = 60_000;
const ENDED = 'line 1: parsing it exceeded the time limit and was stopped; simplify its frontmatter';

/**
 * Parses on this thread only what cannot hold it up: the plain subset of YAML, and what a pool thread has parsed
 * before within its time. `isKnown` tells whether the listing has the document with this digest.
 */
export class PooledParser implements DocumentParser {
  readonly #pool: StoreReader;
  readonly #isKnown: (path: string, digest: string) => boolean;
  readonly #reach: (root: string) => StoreReach;
  readonly #proven = new Digests();
  /** When the parse of a document was ended, by digest. */
  readonly #ended = new Map<string, number>();
  readonly #clock: Clock;
  readonly #preparing = new Map<string, Promise<void>>();
  /** What `parse` saw last of a document that it did not take. */
  readonly #seen = new Map<string, string>();

  constructor(options: {
    pool: StoreReader;
    clock: Clock;
    isKnown: (path: string, digest: string) => boolean;
    /** Where the documents of a store may lie. */
    reach: (root: string) => StoreReach;
  }) {
    this.#pool = options.pool;
    this.#clock = options.clock;
    this.#isKnown = options.isKnown;
    this.#reach = options.reach;
  }

  parse(bytes: Buffer, place: DocumentPlace): ParsedDocument {
    const plain = parsePlainDocument(bytes, place);
    if (plain !== null) return plain;
    const digest = sha256Of(bytes);
    if (this.#wasEnded(digest)) return unparsedDocument(bytes, place, ENDED);
    if (this.#proven.has(digest) || this.#isKnown(place.path, digest)) return parseDocument(bytes, place);
    this.#seen.set(place.path, digest);
    throw unreadYet(place);
  }

  /** Rejects with the error of the pool where it cannot run the job. */
  prepare(place: DocumentPlace): Promise<void> {
    const under_way = this.#preparing.get(place.path);
    if (under_way !== undefined) return under_way;
    const preparing = this.#prepare(place).finally(() => {
      this.#preparing.delete(place.path);
      this.#seen.delete(place.path);
    });
    this.#preparing.set(place.path, preparing);
    return preparing;
  }

  wrote(digest: string): void {
    this.#proven.add(digest);
  }

  async #prepare(place: DocumentPlace): Promise<void> {
    const seen = this.#seen.get(place.path);
    try {
      const bulk = encodePaths([place.relativePath]);
      const done = await this.#pool.run(
        'read_documents',
        { root: place.store, ...this.#reach(place.store) },
        { bulk },
      );
      for (const row of done.bulk === null ? [] : decodeReading(done.bulk).changed)
        this.#proven.add(row.digest);
    } catch (error) {
      if (!isCoded(error) || typeof error.details.step !== 'string' || seen === undefined) throw error;
      for (const digest of this.#ended.keys()) this.#wasEnded(digest);
      this.#ended.set(seen, this.#clock.now());
    }
  }

  /** Forgets it once it may be parsed again. */
  #wasEnded(digest: string): boolean {
    const at = this.#ended.get(digest);
    if (at === undefined) return false;
    if (Math.abs(this.#clock.now() - at) < ENDED_MS) return true;
    this.#ended.delete(digest);
    return false;
  }
}

/** The digests that were added last. */
class Digests {
  #all = new Set<string>();

  has(digest: string): boolean {
    return this.#all.has(digest);
  }

  add(digest: string): void {
    this.#all.delete(digest);
    this.#all.add(digest);
    if (this.#all.size <= MOST_DIGESTS) return;
    for (const oldest of this.#all) {
      this.#all.delete(oldest);
      return;
    }
  }
}
