import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from './base/errors.ts';
import { makeDataDir } from './config/data-dir.ts';
import { dataPaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import { type DaemonFile, daemonFileSchema } from './contract/operator-files.ts';
import { writeFileAtomic } from './platform/atomic-write.ts';
import { tryFileLock } from './platform/file-lock.ts';
import { READ_LIMITS } from './platform/read-limits.ts';
import { readRegularTextSync } from './platform/regular-file.ts';

/** A data dir held by this process. */
export type HeldDataDir = {
  /** Tells the CLI where this daemon is. */
  announce(daemon: DaemonFile): void;
  release(): void;
};

/**
 * Takes the data dir for this process; two daemons on one would write over each other. Throws
 * `daemon_running` naming the first. A daemon that was killed holds nothing.
 */
export function holdDataDir(settings: Settings): HeldDataDir {
  const { data_dir, daemon_file } = dataPaths(settings);
  makeDataDir(settings);
  const lock = tryFileLock(join(data_dir, 'daemon.lock'));
  if (lock === null)
    throw new CodedError(
      'daemon_running',
      `${holderOf(daemon_file)} already runs on ${data_dir}; stop it with \`svc daemon stop\``,
    );
  return {
    announce: (daemon) => writeFileAtomic(daemon_file, `${JSON.stringify(daemon)}\n`, { mode: 0o600 }),
    release() {
      rmSync(daemon_file, { force: true });
      lock.release();
    },
  };
}

function holderOf(daemon_file: string): string {
  try {
    const first = daemonFileSchema.parse(
      JSON.parse(readRegularTextSync(daemon_file, READ_LIMITS.state_file)),
    );
    return `a daemon (pid ${first.pid}, since ${first.booted_at}, at ${first.listen.join(' and ')})`;
  } catch {
    return 'another daemon';
  }
}
