import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Settings } from './settings.ts';

/** What a daemon keeps in the runtime folder beside the leases of stores; absolute paths. */
export type DataDirFiles = {
  /** Held while a daemon runs on the data dir, also when that was deleted. */
  lock: string;
  /** A copy of `daemon.json`. */
  daemon_file: string;
};

/** The files of this data dir in the runtime folder; the same for every path that leads to it. */
export function dataDirFiles(folder: string, { data_dir }: Pick<Settings, 'data_dir'>): DataDirFiles {
  const name = join(folder, `data-${digest(realPath(data_dir))}`);
  return { lock: `${name}.lock`, daemon_file: `${name}.json` };
}

/** The lease of a store for one host id; `store` is what names the store whatever path leads to it. */
export function storeLeaseFile(folder: string, host: string, store: string): string {
  return join(folder, `store-${digest(`${host}\0${store}`)}.lock`);
}

/** A folder that is missing has the path that it would have. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
