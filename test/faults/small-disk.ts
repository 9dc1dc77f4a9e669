import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '../../src/base/errors.ts';
import { until } from '../fixtures/mux/private-server.ts';

/** A file system in memory that a test fills or makes read-only. */
export type SmallDisk = {
  path: string;
  fill(): void;
  /** Waits until no file on it is open for writing, as the kernel asks. */
  makeReadOnly(): Promise<void>;
  /** Takes back what `fill` or `makeReadOnly` did. */
  mend(): void;
  remove(): Promise<void>;
};

/** Mounts one of a few megabytes, at `path` where one is given; null where this user may not mount. */
export function smallDisk(options: { mib?: number; path?: string } = {}): SmallDisk | null {
  const path = options.path ?? realpathSync(mkdtempSync(join(tmpdir(), 'svc-d-')));
  const own = options.path === undefined;
  const filler = join(path, 'filler');
  if (!mounted('-t', 'tmpfs', '-o', `size=${options.mib ?? 24}m,mode=700`, 'tmpfs', path)) {
    if (own) rmSync(path, { recursive: true });
    return null;
  }
  return {
    path,
    fill() {
      const file = openSync(filler, 'a');
      try {
        for (let block = 64 * 1024; block >= 1; block = Math.floor(block / 4)) {
          try {
            for (;;) writeSync(file, Buffer.alloc(block));
          } catch (error) {
            if (systemCode(error) !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    async makeReadOnly() {
      await until('the remounting', () => run('mount', '-o', 'remount,ro', path));
    },
    mend() {
      execFileSync('mount', ['-o', 'remount,rw', path]);
      rmSync(filler, { force: true });
    },
    async remove() {
      // What ran on it takes a moment to leave.
      await until('the unmounting', () => run('umount', path));
      if (own) rmSync(path, { recursive: true });
    },
  };
}

function mounted(...args: string[]): boolean {
  return run('mount', ...args);
}

function run(file: string, ...args: string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
