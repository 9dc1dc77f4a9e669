import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Copy, type CopyFiles, digestOf } from './copy-files.ts';
import { type FeedAnswer, readFeedAnswer } from './feed-answer.ts';

const FEED = 'fibers';
const PATH = '/fibers';

/** The last good copy of the feed of a host; `last_ok_at` in milliseconds since the Unix epoch. */
export type KeptFeed = { answer: FeedAnswer; last_ok_at: number };

/** The last good copies on disk, so that they outlive a restart. What is damaged is ignored, with a warning. */
export class KeptFeeds {
  readonly #files: CopyFiles;
  readonly #logger: Logger;

  constructor({ files, logger }: { files: CopyFiles; logger: Logger }) {
    this.#files = files;
    this.#logger = logger;
  }

  /** Null where there is none. */
  read(host: string): KeptFeed | null {
    const copy = this.#files.copiesOf(FEED, host).find(({ path }) => path === PATH);
    const bytes = copy === undefined ? null : this.#files.read(FEED, copy);
    if (copy === undefined || bytes === null) return null;
    try {
      const answer = readFeedAnswer(JSON.parse(bytes.toString('utf8')));
      if (answer.host !== host || answer.removed !== null) throw new Error('it is of another kind');
      return { answer, last_ok_at: copy.last_ok_at };
    } catch (error) {
      this.#logger.warn(
        { host, err: messageOf(error) },
        'the last rows of another host are damaged on disk; it is asked for all of them',
      );
      this.#files.remove(FEED, copy);
      return null;
    }
  }

  /** `bytes` are those of a complete answer. */
  write(host: string, bytes: Uint8Array, last_ok_at: number): void {
    this.#files.write(FEED, copyOf(host, bytes, last_ok_at), bytes);
  }

  /** The host confirmed that the copy is still its answer; false where somebody has deleted it. */
  confirm(host: string, last_ok_at: number): boolean {
    return this.#files.confirm(FEED, copyOf(host, Buffer.alloc(0), last_ok_at), last_ok_at);
  }

  /** Removes the copies of all other hosts. */
  keepOnly(hosts: readonly string[]): void {
    this.#files.keepOnly(FEED, hosts);
  }
}

function copyOf(host: string, bytes: Uint8Array, last_ok_at: number): Copy {
  const named = { host, path: PATH, window: null, etag: null, digest: digestOf(bytes) };
  return { ...named, size: bytes.length, last_ok_at };
}
