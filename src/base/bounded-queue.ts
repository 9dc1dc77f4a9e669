/** A first-in first-out queue with a written bound: `push` answers false when it is full. */
export class BoundedQueue<T> {
  #items: T[] = [];
  #head = 0;
  readonly capacity: number;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): boolean {
    if (this.size >= this.capacity) return false;
    this.#items.push(item);
    return true;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
