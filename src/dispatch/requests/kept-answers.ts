import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../../base/digest.ts';
import { systemCode } from '../../base/errors.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';

const DAY_MS = 86_400_000;
/** For so many days a repeat has the first answer. */
const KEPT_DAYS = 7;
/** So many answers are kept, and beside them each write that has none. */
const MOST_KEPT = 10_000;
/** The answer of a write may be a whole document; of a longer one, only that the write was begun is kept. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A write by the id that its caller gave it: the digest of what was asked, and its answer; null while none is known. */
export type KeptWrite = { content: string; answer: unknown };

/**
 * The writes that have an id, in a file each, with a folder for each day: durable before a write is carried out, so that a
 * later daemon knows that it was begun.
 */
export class KeptAnswers {
  readonly #folder: string;
  readonly #now: () => number;
  #swept = '';
  /** The files of answers, those that were there before a start among begun ones; the oldest first. */
  #answered = new Set<string>();

  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** What is kept of this id; where nothing is, its write is begun, and null is the answer. */
  begin(id: string, content: string): KeptWrite | null {
    const days = this.#days();
    this.#sweep(days);
    for (const day of days) {
      const kept = readKept(this.#path(day, id));
      if (kept !== null) return kept;
    }
    this.#write(this.#path(days[0]!, id), { content, answer: null });
    return null;
  }

  /** Keeps the answer of a write that was begun; null lets its id be used again. */
  end(id: string, answer: unknown): void {
    for (const day of this.#days()) {
      const path = this.#path(day, id);
      const kept = readKept(path);
      if (kept === null) continue;
      this.#answered.delete(path);
      if (answer === null) rmSync(path, { force: true });
      else {
        this.#write(path, { ...kept, answer });
        this.#answered.add(path);
      }
      break;
    }
    this.#dropOldest();
  }

  #dropOldest(): void {
    for (const path of this.#answered) {
      if (this.#answered.size <= MOST_KEPT) return;
      this.#answered.delete(path);
      if (readKept(path)?.answer !== null) rmSync(path, { force: true });
    }
  }

  /** The newest first. */
  #days(): string[] {
    const now = this.#now();
    return Array.from({ length: KEPT_DAYS }, (_, ago) => dayOf(now - ago * DAY_MS));
  }

  #sweep(days: readonly string[]): void {
    const [today = ''] = days;
    if (this.#swept === today) return;
    this.#swept = today;
    const oldest = days.at(-1) ?? today;
    for (const day of folderNames(this.#folder).filter((name) => name < oldest))
      rmSync(join(this.#folder, day), { recursive: true, force: true });
    const files = days.flatMap((day) => {
      const folder = join(this.#folder, day);
      return folderNames(folder).map((name) => {
        const path = join(folder, name);
        return { path, at: lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
      });
    });
    this.#answered = new Set(files.toSorted((a, b) => a.at - b.at).map(({ path }) => path));
  }

  #write(path: string, kept: KeptWrite): void {
    const text = JSON.stringify(kept);
    if (Buffer.byteLength(text) > MOST_BYTES) return;
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileAtomic(path, text);
  }

  #path(day: string, id: string): string {
    return join(this.#folder, day, `${sha256Of(id)}.json`);
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function readKept(path: string): KeptWrite | null {
  try {
    return JSON.parse(readRegularTextSync(path, MOST_BYTES));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
