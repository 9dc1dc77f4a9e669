import { hostname } from 'node:os';
import { isCoded } from '../../../base/errors.ts';
import { type HostIdentity, resolveHostId } from '../../../config/host-identity.ts';
import { operatorFilePaths } from '../../../config/paths.ts';
import type { Settings } from '../../../config/settings.ts';
import { type Check, fail, ok } from './check.ts';

/** The host id of this machine, and its source (DSP-3). */
export const checkHost: Check = ({ settings }) => {
  try {
    const identity = resolveHostId(settings, { hostname: hostname(), persist: false });
    return [ok('host id', `${identity.host}, ${origin(settings, identity.source)}`)];
  } catch (error) {
    if (!isCoded(error, 'invalid_config')) throw error;
    return [fail('host id', error.message, 'set SVC_HOST, or correct the file')];
  }
};

/** The host id that the daemon would use; null if it could not determine one. */
export function hostOf(settings: Settings): string | null {
  try {
    return resolveHostId(settings, { hostname: hostname(), persist: false }).host;
  } catch (error) {
    if (isCoded(error, 'invalid_config')) return null;
    throw error;
  }
}

function origin(settings: Settings, source: HostIdentity['source']): string {
  if (source === 'environment') return 'from SVC_HOST';
  if (source === 'file') return `from ${operatorFilePaths(settings).host}`;
  return `taken from the name of this machine (${hostname()}) at the first start`;
}
