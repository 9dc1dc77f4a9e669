import { join } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import { CodedError, isCoded } from '../base/errors.ts';
import { encodedReply } from '../http/prepared-reply.ts';
import type { Reply } from '../http/reply.ts';
import type { Files } from './callers.ts';
import { typeOfName } from './content-type.ts';

/** A longer file is not one of a built board. */
const MOST_FILE_BYTES = 16 * 1024 * 1024;
/** Files that are kept; a build has a handful. */
const MOST_KEPT_FILES = 64;

/** A name in the folder of assets, which a build makes of a module’s name and a digest. */
const ASSET_NAME = /^[\w-]+(?:\.[\w-]+)+$/;

/** Files that are asked for by these names, so that a browser has to ask whether they are still the same. */
export type BoardFile = 'index.html' | 'meeting.html' | 'manifest.webmanifest' | 'sw.js';
const ASK_EACH_TIME = { 'Cache-Control': 'no-cache' };
const FOREVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** The files of a built board as answers, each read once. */
export class BoardFiles {
  readonly #files: Files;
  readonly #folder: string;
  readonly #assets = new Map<string, Promise<Reply | null>>();
  readonly #current = new Map<BoardFile, { of: string; reply: Reply }>();

  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  /** A file as the last build left it; null where there is none. */
  async current(name: BoardFile): Promise<Reply | null> {
    return orNull(async () => {
      const path = join(this.#folder, name);
      const { stamp } = await this.#files.stamp(path);
      const of = JSON.stringify(stamp);
      const known = this.#current.get(name);
      if (known?.of === of) return known.reply;
      const reply = await this.#read(path, ASK_EACH_TIME);
      this.#current.set(name, { of, reply });
      return reply;
    });
  }

  /** A file whose name tells its contents, so that it never changes; null where there is none. */
  asset(name: string): Promise<Reply | null> {
    const known = this.#assets.get(name);
    if (known !== undefined) return known;
    if (!ASSET_NAME.test(name)) return Promise.resolve(null);
    const found = orNull(() => this.#read(join(this.#folder, 'assets', name), FOREVER));
    this.#assets.set(name, found);
    const forget = () => this.#assets.delete(name);
    found.then((reply) => (reply === null ? forget() : this.#dropOldest()), forget);
    return found;
  }

  async #read(path: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
    const { stamp } = await this.#files.stamp(path);
    if (stamp.size > MOST_FILE_BYTES)
      throw new CodedError(
        'file_too_large',
        `${path} has ${stamp.size} bytes; a file of the board may have ${MOST_FILE_BYTES}`,
      );
    const bytes = await this.#files.head(path, stamp, MOST_FILE_BYTES);
    const etag = `"sha256-${sha256Of(bytes)}"`;
    const content_type = typeOfName(path) ?? 'application/octet-stream';
    return encodedReply({ status: 200, bytes, content_type, etag, headers });
  }

  #dropOldest(): void {
    for (const name of this.#assets.keys()) {
      if (this.#assets.size <= MOST_KEPT_FILES) return;
      this.#assets.delete(name);
    }
  }
}

/** Null when there is no such file; any other failure is a fault. */
async function orNull(read: () => Promise<Reply>): Promise<Reply | null> {
  try {
    return await read();
  } catch (error) {
    if (isCoded(error, 'file_not_found')) return null;
    throw error;
  }
}
