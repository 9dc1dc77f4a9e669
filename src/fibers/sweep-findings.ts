import { join } from 'node:path';
import type { FiberDocument } from '../contract/fiber.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import type { SweepError } from './sweep-result.ts';

/** What one sweep has found so far, in folders and in documents. */
export class SweepFindings {
  /** The table of the next sweep differs from that of the last one. */
  moved = false;
  readonly changed: FiberDocument[] = [];
  readonly removed: string[] = [];
  readonly errors: SweepError[] = [];
  readonly unread: string[] = [];
  readonly #base: string;
  readonly #most_new: number;
  #new = 0;

  constructor(root: string, most_new: number) {
    this.#base = join(root, FIBERS_FOLDER);
    this.#most_new = most_new;
  }

  /** No further new document or folder is looked at. */
  get isFull(): boolean {
    return this.#new >= this.#most_new;
  }

  countNew(): void {
    this.#new += 1;
  }

  fail(path: string, message: string): void {
    this.errors.push({ path: this.absolute(path), message });
  }

  /** Of a path below `.fibers`; the empty one is `.fibers` itself. */
  absolute(path: string): string {
    return path === '' ? this.#base : `${this.#base}/${path}`;
  }
}
