import type { SearchReply, SearchWish } from '../../contract/http/search.ts';
import { type CatalogueRow, decodeCatalogue } from './catalogue.ts';
import { fold } from './fold.ts';
import { rank } from './rank.ts';
import { readBody, type SearchText, SearchTexts } from './search-texts.ts';
import { mark, snippetsOf } from './snippets.ts';
import { termsOf } from './terms.ts';

/** Time limit for one search to read bodies that are not cached, in milliseconds; the next search continues. */
const READING_MS = 4_000;

/** The search cache of one pool thread: a catalogue, and the texts that were read. */
export class FiberSearch {
  readonly #texts: SearchTexts;
  readonly #now: () => number;
  #catalogue: { name: string; rows: CatalogueRow[] } | null = null;

  constructor(options: { texts?: SearchTexts; now?: () => number } = {}) {
    this.#texts = options.texts ?? new SearchTexts();
    this.#now = options.now ?? (() => performance.now());
  }

  /**
   * Searches the fibers of a catalogue, given as bytes if it is new; null if this thread does not have it. Throws
   * `invalid_request` for a query without a word.
   */
  search(catalogue: string, wish: SearchWish, bytes: Uint8Array | null): SearchReply | null {
    const terms = termsOf(wish.query);
    const rows = this.#rowsOf(catalogue, bytes);
    if (rows === null) return null;
    const { wanted, texts, complete } = this.#textsOf(rows.filter(filterOf(wish)));
    const ranked = rank(texts, terms);
    const hits = ranked.slice(0, wish.limit).map(({ index, score }) => {
      const row = wanted[index]!;
      const { id, uid, store, path, status, tags, name, outcome } = row;
      return {
        id,
        uid,
        store,
        path,
        status,
        tags,
        score: Math.round(score * 1000) / 1000,
        name: mark(name, terms),
        outcome: outcome === null ? null : mark(outcome, terms),
        snippets: snippetsOf(readBody(row) ?? '', terms),
      };
    });
    return { query: wish.query, terms, total: ranked.length, hits, complete };
  }

  #rowsOf(name: string, bytes: Uint8Array | null): CatalogueRow[] | null {
    if (bytes !== null) {
      const rows = decodeCatalogue(bytes);
      this.#texts.retain(rows);
      this.#catalogue = { name, rows };
    }
    return this.#catalogue?.name === name ? this.#catalogue.rows : null;
  }

  /** The texts of the rows that are cached or can be read in time. */
  #textsOf(rows: readonly CatalogueRow[]): {
    wanted: CatalogueRow[];
    texts: SearchText[];
    complete: boolean;
  } {
    const wanted: CatalogueRow[] = [];
    const texts: SearchText[] = [];
    const until = this.#now() + READING_MS;
    for (const row of rows) {
      const text = this.#texts.kept(row) ?? (this.#now() < until ? this.#texts.read(row) : null);
      if (text === null) continue;
      wanted.push(row);
      texts.push(text);
    }
    return { wanted, texts, complete: wanted.length === rows.length };
  }
}

function filterOf({ tag, status }: SearchWish): (row: CatalogueRow) => boolean {
  const folded = tag === undefined ? null : fold(tag);
  return (row) =>
    (status === undefined || row.status === status) &&
    (folded === null || row.tags.some((one) => fold(one) === folded));
}

/** One cache per pool thread; losing it with the thread costs only time. */
const ownSearch = new FiberSearch();

/** `FiberSearch.search` of this thread. */
export function searchCatalogue(
  catalogue: string,
  wish: SearchWish,
  bytes: Uint8Array | null,
): SearchReply | null {
  return ownSearch.search(catalogue, wish, bytes);
}
