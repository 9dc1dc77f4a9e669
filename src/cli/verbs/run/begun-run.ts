import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { sha256Of } from '../../../base/digest.ts';
import { dataPaths } from '../../../config/paths.ts';
import type { Settings } from '../../../config/settings.ts';
import { writeFileAtomic } from '../../../platform/atomic-write.ts';
import { folderNames } from '../../../platform/folder-names.ts';
import { readRegularTextSync } from '../../../platform/regular-file.ts';

/** How long the same task in the same folder is taken for the same intent, in milliseconds. */
const SAME_RUN_MS = 10 * 60_000;
const MOST_BYTES = 10_000;
const begunSchema = z.object({ fiber: z.string(), at: z.number() });
type Begun = z.infer<typeof begunSchema>;

/** The note of a `svc run` that made its fiber and has no answer yet; it stays where none comes. */
export class BegunRun {
  readonly #path: string;

  constructor(settings: Settings, task: { body: string; project_dir: string }) {
    const name = sha256Of(JSON.stringify([task.body, task.project_dir]));
    this.#path = join(dataPaths(settings).data_dir, 'begun-runs', `${name}.json`);
  }

  /** The same task in the same folder, begun a short time ago without an answer. */
  earlier(now: number): Begun | null {
    let begun: Begun;
    try {
      begun = begunSchema.parse(JSON.parse(readRegularTextSync(this.#path, MOST_BYTES)));
    } catch {
      return null;
    }
    return Math.abs(now - begun.at) <= SAME_RUN_MS ? begun : null;
  }

  begin(begun: Begun): void {
    const folder = dirname(this.#path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const path of folderNames(folder).map((name) => join(folder, name))) {
      const at = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (begun.at - at > SAME_RUN_MS) rmSync(path, { force: true });
    }
    writeFileAtomic(this.#path, JSON.stringify(begun));
  }

  answered(): void {
    rmSync(this.#path, { force: true });
  }
}
