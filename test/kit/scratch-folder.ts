import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of one test's own, with links resolved. */
export type ScratchFolder = {
  path: string;
  /** Writes a file below it, with the folders it needs, and answers its path; values but texts as JSON. */
  write(name: string, content: unknown, mode?: number): string;
  mkdir(name: string): string;
  remove(): void;
};

export function scratchFolder(): ScratchFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-test-')));
  return {
    path,
    write(name, content, mode = 0o600) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode });
      return file;
    },
    mkdir(name) {
      mkdirSync(join(path, name), { recursive: true });
      return join(path, name);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
