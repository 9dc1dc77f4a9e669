import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { Pieces, type WholeBody } from './pieces.ts';

/** The content codings of a compressed body. */
export type Coding = 'br' | 'gzip';

/** Pieces of more bytes than this are compressed one after another: to copy them into one takes several milliseconds. */
const MOST_JOINED_BYTES = 256 * 1024;
/** Bytes of compressed bodies that are cached for the next request. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;

const packGzip = promisify(gzip);
const packBrotli = promisify(brotliCompress);

/** Compresses bodies off the main thread, and caches those with a key; the least recently used ones are evicted. */
export class Packer {
  #kept = new Map<string, { packed: Promise<Uint8Array>; bytes: number }>();
  #bytes = 0;
  /** Bodies that are given to several requests, for as long as anybody has them. */
  #shared = new WeakMap<Uint8Array | Pieces, Map<Coding, Promise<Uint8Array>>>();

  /** `key` identifies these bytes, as a path and its entity tag do; null if nothing does. */
  pack(body: WholeBody, coding: Coding, key: string | null): Promise<Uint8Array> {
    if (key === null) return typeof body === 'string' ? packed(body, coding) : this.#packShared(body, coding);
    const name = `${coding} ${key}`;
    const known = this.#kept.get(name);
    if (known !== undefined) {
      this.#kept.delete(name);
      this.#kept.set(name, known);
      return known.packed;
    }
    const entry = { packed: packed(body, coding), bytes: 0 };
    this.#kept.set(name, entry);
    entry.packed.then(
      ({ length }) => this.#weigh(name, entry, length),
      () => this.#kept.delete(name),
    );
    return entry.packed;
  }

  #packShared(body: Uint8Array | Pieces, coding: Coding): Promise<Uint8Array> {
    const forms = this.#shared.get(body) ?? new Map<Coding, Promise<Uint8Array>>();
    this.#shared.set(body, forms);
    const known = forms.get(coding) ?? packed(body, coding);
    forms.set(coding, known);
    return known;
  }

  #weigh(name: string, entry: { bytes: number }, length: number): void {
    if (this.#kept.get(name) !== entry) return;
    entry.bytes = length;
    this.#bytes += length;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= MOST_KEPT_BYTES) return;
      this.#bytes -= bytes;
      this.#kept.delete(oldest);
    }
  }
}

const GZIP = { level: 6 };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

function packed(body: WholeBody, coding: Coding): Promise<Uint8Array> {
  if (body instanceof Pieces && body.length > MOST_JOINED_BYTES) return packedInTurn(body, coding);
  const whole = body instanceof Pieces ? body.joined() : body;
  return coding === 'gzip' ? packGzip(whole, GZIP) : packBrotli(whole, BROTLI);
}

async function packedInTurn(body: Pieces, coding: Coding): Promise<Uint8Array> {
  const endUse = body.use();
  try {
    const packer = coding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI);
    const chunks: Buffer[] = [];
    for await (const chunk of Readable.from(body.all).pipe(packer)) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    endUse();
  }
}
