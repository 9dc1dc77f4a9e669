/** Work in flight, for those who have to wait until it is done. */
export class InFlight {
  readonly #all = new Set<Promise<unknown>>();

  add<T>(work: Promise<T>): Promise<T> {
    this.#all.add(work);
    const done = () => void this.#all.delete(work);
    work.then(done, done);
    return work;
  }

  /** Resolves when all that is in flight now has come to its end, whichever. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#all]);
  }
}
