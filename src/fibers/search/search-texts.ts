import { DocumentReader } from '../document-reader.ts';
import { splitFrontmatter } from '../frontmatter.ts';
import type { CatalogueRow } from './catalogue.ts';
import { fold } from './fold.ts';

/** The parts of a fiber, folded; a name says more of what it is about than a word of its body. */
export type SearchText = { name: string; tags: string; outcome: string; headings: string; body: string };

/** Of a longer body only this much is looked through, in UTF-16 units. */
export const MOST_BODY_CHARS = 1024 * 1024;
/** Bodies in memory, counted as two bytes a unit; what is beyond it is read again by each search. */
const MOST_KEPT_BYTES = 192 * 1024 * 1024;

/** Between two tags or headings, where no term reaches across. */
const APART = ' \u0001 ';

/** The folded texts of fibers, each read once for each digest, within a bound of memory. */
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

  /** The text where it is in memory. */
  kept(row: CatalogueRow): SearchText | null {
    const entry = this.#texts.get(row.path);
    return entry?.digest === row.digest ? entry.text : null;
  }

  /** Reads the text of a fiber and keeps it where there is room; a file that cannot be read has an empty body. */
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

  /** Forgets what is not in the catalogue any more. */
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

/** The body of a document as it is now, as much of it as is looked through; null for one that cannot be read. */
export function readBody({
  store,
  path,
  follow,
}: Pick<CatalogueRow, 'store' | 'path' | 'follow'>): string | null {
  let bytes: Buffer;
  try {
    bytes = new DocumentReader(store, follow).read(path).bytes;
  } catch {
    return null;
  }
  const text = bytes.toString('utf8');
  return (splitFrontmatter(text)?.body ?? text).slice(0, MOST_BODY_CHARS);
}

function headingsOf(body: string): string[] {
  return [...body.matchAll(/^#{1,6}[ \t]+(.+)$/gm)].map(([, heading]) => heading!);
}
