import { hostname } from 'node:os';
import { hostFileSchema } from '../../contract/operator-files.ts';
import { type Check, ok } from './check.ts';
import { operatorFilePath, readOperatorFile } from './operator-file.ts';

/** The host id this machine goes by, and where it comes from (DSP-3). */
export const checkHost: Check = ({ settings }) => {
  if (settings.host !== null) return [ok('host id', `${settings.host}, from SVC_HOST`)];
  const path = operatorFilePath(settings, 'host');
  const file = readOperatorFile(path, hostFileSchema);
  const named = file.kind === 'valid' ? file.value.host : undefined;
  return named === undefined
    ? [ok('host id', `taken from the name of this machine (${hostname()}) at the first start`)]
    : [ok('host id', `${named}, from ${path}`)];
};
