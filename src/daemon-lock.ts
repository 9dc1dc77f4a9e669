import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from './base/errors.ts';
import { makeDataDir } from './config/data-dir.ts';
import { type HeldDataDirMark, markDataDir } from './config/data-dir-fault.ts';
import { dataPaths } from './config/paths.ts';
import { dataDirFiles } from './config/runtime-files.ts';
import type { Settings } from './config/settings.ts';
import { type DaemonFile, daemonFileSchema } from './contract/operator-files.ts';
import { writeFileAtomic } from './platform/atomic-write.ts';
import { type FileLock, lockHolder, tryFileLock } from './platform/file-lock.ts';
import { READ_LIMITS } from './platform/read-limits.ts';
import { readRegularTextSync } from './platform/regular-file.ts';
import { ensureRuntimeFolder } from './platform/runtime-folder.ts';
import { storageError } from './platform/storage-error.ts';

/** A data dir held by this process. */
export type HeldDataDir = {
  /** To know the folder again while the daemon runs. */
  mark: HeldDataDirMark;
  /** The folder of what the daemons of this user agree on. */
  runtime_folder: string;
  /** Tells the CLI where this daemon is. */
  announce(daemon: DaemonFile): void;
  release(): void;
};

/**
 * Takes the data dir for this process; two daemons on one would write over each other. Throws
 * `daemon_running` naming the first. A daemon that was killed holds nothing. The second lock, outside the data dir,
 * still holds when the folder is deleted and made again under the first daemon.
 */
export function holdDataDir(settings: Settings, env: NodeJS.ProcessEnv, now: number): HeldDataDir {
  const { data_dir, daemon_file } = dataPaths(settings);
  makeDataDir(settings);
  const runtime_folder = ensureRuntimeFolder(settings.runtime_dir, env);
  const outside = dataDirFiles(runtime_folder, settings);
  const files = [daemon_file, outside.daemon_file];
  const about = { data_dir, since: new Date(now).toISOString() };
  const locks: FileLock[] = [];
  const releaseAll = () => {
    for (const lock of locks) lock.release();
  };
  const paths = [outside.lock, join(data_dir, 'daemon.lock')];
  for (const path of paths) {
    const lock = take(path, about);
    if (lock === null) {
      releaseAll();
      throw new CodedError(
        'daemon_running',
        `${holderOf(files, path)} already runs on ${data_dir}; stop it with \`svc daemon stop\``,
      );
    }
    locks.push(lock);
  }
  return {
    mark: markDataDir(data_dir, paths),
    runtime_folder,
    announce(daemon) {
      for (const file of files) writeFileAtomic(file, `${JSON.stringify(daemon)}\n`, { mode: 0o600 });
    },
    release() {
      // Where another daemon has the folder by now, the file in it is that one's.
      for (const file of files) if (namesUs(file)) rmSync(file, { force: true });
      releaseAll();
    },
  };
}

function take(path: string, about: { data_dir: string; since: string }): FileLock | null {
  try {
    return tryFileLock(path, undefined, about);
  } catch (error) {
    throw storageError(path, error, 'the daemon does not start');
  }
}

function namesUs(file: string): boolean {
  return announced(file)?.pid === process.pid;
}

function announced(file: string): DaemonFile | null {
  try {
    return daemonFileSchema.parse(JSON.parse(readRegularTextSync(file, READ_LIMITS.state_file)));
  } catch {
    return null;
  }
}

function holderOf(files: readonly string[], lock: string): string {
  const holder = lockHolder(lock);
  const first = files.map(announced).find((daemon) => daemon !== null && daemon.pid === holder?.pid);
  if (first != null)
    return `a daemon (pid ${first.pid}, since ${first.booted_at}, at ${first.listen.join(' and ')})`;
  return holder === null ? 'another daemon' : `another daemon (pid ${holder.pid} on ${holder.host})`;
}
