/** Requests in progress by the ids that their callers gave them: the same one again shares the work of the first. */
export class SameRequests<T> {
  readonly #open = new Map<string, { content: string; work: Promise<T> }>();

  /**
   * The request of this id that is in progress, and its content, which may be another one; where none is, `begin` starts
   * the work of this one.
   */
  join(
    id: string,
    content: string,
    begin: () => Promise<T>,
  ): { content: string; work: Promise<T>; is_first: boolean } {
    const same = this.#open.get(id);
    if (same !== undefined) return { ...same, is_first: false };
    const work = begin();
    this.#open.set(id, { content, work });
    const done = () => void this.#open.delete(id);
    work.then(done, done);
    return { content, work, is_first: true };
  }
}
