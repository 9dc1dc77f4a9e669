import { DocumentReader } from '../document-reader.ts';
import { splitFrontmatter } from '../frontmatter.ts';
import type { CatalogueRow } from './catalogue.ts';
import { fold } from './fold.ts';

/** The parts of a fiber, folded; a match in the name is worth more than one in the body. */
export type SearchText = { name: string; tags: string; outcome: string; headings: string; body: string };

/** Searched length of a body, in UTF-16 units. */
const MOST_BODY_CHARS = 1024 * 1024;
/** Limit of cached bodies in bytes, two per unit; bodies beyond it are read again by each search. */
const MOST_KEPT_BYTES = 192 * 1024 * 1024;

/** Separates tags and headings, so that no term matches across them. */
const APART = ' \u0001 ';

/** Caches the folded texts of fibers by digest, up to a memory limit. */
export class SearchTexts {
  readonly #bound: number;
  #texts = new Map<string, { digest: string; text: SearchText; bytes: number }>();
  #bytes = 0;

  constructor(bound: number = MOST_KEPT_BYTES) {
    this.#bound = bound;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The text if it is cached. */
  kept(row: CatalogueRow): SearchText | null {
    const entry = this.#texts.get(row.path);
    return entry?.digest === row.digest ? entry.text : null;
  }

  /** Reads the text of a fiber and caches it if there is room; an unreadable file has an empty body. */
  read(row: CatalogueRow): SearchText {
    this.#drop(row.path);
    const body = readBody(row) ?? '';
    const text: SearchText = {
      name: fold(row.name),
      tags: row.tags.map(fold).join(APART),
      outcome: fold(row.outcome ?? ''),
      headings: headingsOf(body).map(fold).join(APART),
      body: fold(body),
    };
    const bytes = Object.values(text).reduce((sum, part) => sum + 2 * part.length, 0);
    if (this.#bytes + bytes <= this.#bound) {
      this.#texts.set(row.path, { digest: row.digest, text, bytes });
      this.#bytes += bytes;
    }
    return text;
  }

  /** Evicts texts that are no longer in the catalogue. */
  retain(rows: readonly CatalogueRow[]): void {
    const paths = new Set(rows.map(({ path }) => path));
    for (const path of this.#texts.keys()) if (!paths.has(path)) this.#drop(path);
  }

  #drop(path: string): void {
    const entry = this.#texts.get(path);
    if (entry === undefined) return;
    this.#bytes -= entry.bytes;
    this.#texts.delete(path);
  }
}

/** The current body of a document, truncated to the searched length; null if it cannot be read. */
export function readBody({
  store,
  path,
  reach,
}: Pick<CatalogueRow, 'store' | 'path' | 'reach'>): string | null {
  let bytes: Buffer;
  try {
    bytes = new DocumentReader(store, reach).read(path).bytes;
  } catch {
    return null;
  }
  const text = bytes.toString('utf8');
  return (splitFrontmatter(text)?.body ?? text).slice(0, MOST_BODY_CHARS);
}

function headingsOf(body: string): string[] {
  return [...body.matchAll(/^#{1,6}[ \t]+(.+)$/gm)].map(([, heading]) => heading!);
}
