import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { sha256Of } from '../base/digest.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularTextSync } from '../platform/regular-file.ts';

/**
 * Identifies this daemon among others of the same host id; stable across restarts. It consists of the machine's name,
 * for people, and a digest of the machine id and the data folder, which must exist.
 */
export function daemonId(data_dir: string): string {
  const name = hostname().split('.')[0] ?? '';
  const digest = sha256Of(`${machineId() ?? name}\0${realpathSync(data_dir)}`);
  return `${name}/${digest.slice(0, 12)}`;
}

/** The machine id; null where the system has none, as in many containers and on macOS. */
function machineId(): string | null {
  try {
    return readRegularTextSync('/etc/machine-id', READ_LIMITS.state_file).trim() || null;
  } catch {
    return null;
  }
}
