import type { FiberDocument } from '../../contract/fiber.ts';
import { keyOf } from '../world/documents.ts';

/**
 * Whose turn it is when a place among the workers is free: who has waited longest. `note` remembers since when
 * each one waits; those that began in the same look (as after a start of the daemon) go by the last write of
 * their document, then by id. Times are milliseconds since the Unix epoch.
 */
export class Turns {
  #since = new Map<string, number>();

  /** Takes in everybody who waits for nothing but a place; who is not among them has lost the turn. */
  note(waiting: readonly FiberDocument[], now: number): void {
    const since = new Map<string, number>();
    for (const document of waiting) {
      const key = keyOf(document);
      since.set(key, this.#since.get(key) ?? now);
    }
    this.#since = since;
  }

  /** Since when this fiber waits for a place; null when it does not. */
  since(key: string): number | null {
    return this.#since.get(key) ?? null;
  }

  /** The same documents, in the order of their turns. */
  inOrder(waiting: readonly FiberDocument[]): FiberDocument[] {
    const at = (document: FiberDocument) => this.#since.get(keyOf(document)) ?? Number.POSITIVE_INFINITY;
    return [...waiting].sort(
      (a, b) => compare(at(a), at(b)) || compare(written(a), written(b)) || compare(a.path, b.path),
    );
  }
}

function written(document: FiberDocument): string {
  return document.updated_at ?? document.created_at ?? '';
}

function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
