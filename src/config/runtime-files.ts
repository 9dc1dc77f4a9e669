import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256Of } from '../base/digest.ts';
import type { Settings } from './settings.ts';

/** Files of a daemon in the runtime folder, apart from the leases of stores; absolute paths. */
export type DataDirFiles = {
  /** A lock held while a daemon runs on the data dir, even if the data dir is deleted. */
  lock: string;
  /** A copy of `daemon.json`. */
  daemon_file: string;
};

/** The runtime files of a data dir; the same for every path to it. */
export function dataDirFiles(folder: string, { data_dir }: Pick<Settings, 'data_dir'>): DataDirFiles {
  const name = join(folder, `data-${digest(realPath(data_dir))}`);
  return { lock: `${name}.lock`, daemon_file: `${name}.json` };
}

/** The lease of a store for one host id; `store` identifies the store independently of its path. */
export function storeLeaseFile(folder: string, host: string, store: string): string {
  return join(folder, `store-${digest(`${host}\0${store}`)}.lock`);
}

/** The real path of a folder; a missing folder keeps the path that it would have. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

function digest(text: string): string {
  return sha256Of(text).slice(0, 24);
}
