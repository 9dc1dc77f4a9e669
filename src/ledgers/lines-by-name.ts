/** The lines under each name, oldest first, while the oldest of all are forgotten. */
export class LinesByName<T> {
  readonly #lines = new Map<string, T[]>();

  add(name: string, line: T): void {
    const lines = this.#lines.get(name);
    if (lines === undefined) this.#lines.set(name, [line]);
    else lines.push(line);
  }

  /** Forgets the oldest line of this name. */
  forgetOldest(name: string): void {
    const lines = this.#lines.get(name);
    lines?.shift();
    if (lines?.length === 0) this.#lines.delete(name);
  }

  of(name: string): readonly T[] {
    return this.#lines.get(name) ?? [];
  }
}
