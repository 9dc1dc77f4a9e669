import type { MuxListing } from './mux.ts';

/**
 * Listings of one server for many callers, one at a time. Each caller gets a listing that began after its call, since one
 * that began before says nothing of a session made meanwhile; all that call during a listing share the next one. A
 * listing that learned nothing is the answer to them too: a server that is silent would keep them waiting twice.
 */
export class SharedListings {
  readonly #list: () => Promise<MuxListing>;
  #current: Promise<MuxListing> | null = null;
  #next: Promise<MuxListing> | null = null;

  constructor(list: () => Promise<MuxListing>) {
    this.#list = list;
  }

  list(): Promise<MuxListing> {
    if (this.#current === null) return this.#begin();
    this.#next ??= this.#follow(this.#current);
    return this.#next;
  }

  async #follow(current: Promise<MuxListing>): Promise<MuxListing> {
    const before = await current.catch(() => null);
    this.#next = null;
    return before?.kind === 'unknown' ? before : this.#begin();
  }

  #begin(): Promise<MuxListing> {
    const listing = this.#list().finally(() => {
      if (this.#current === listing) this.#current = null;
    });
    this.#current = listing;
    return listing;
  }
}
