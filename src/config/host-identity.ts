import { CodedError } from '../base/errors.ts';
import { readHostFile, saveHostId } from './host-file.ts';
import { operatorFilePaths } from './paths.ts';
import type { Settings } from './settings.ts';

/** The host id of this machine and where it came from. */
export type HostIdentity = { host: string; source: 'environment' | 'file' | 'os' };

const HOST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/**
 * Finds the host id (DSP-3): `SVC_HOST` trimmed, else `host` of `host.json`, else the normalised OS host name. With
 * `persist` the last one is written to `host.json`, so that a later change of the OS name does not orphan the fibers of
 * this host. Throws `invalid_config` if no usable name is found.
 */
export function resolveHostId(
  settings: Settings,
  options: { hostname: string; persist: boolean },
): HostIdentity {
  if (settings.host !== null) return { host: checkHostId(settings.host, 'SVC_HOST'), source: 'environment' };
  const file = operatorFilePaths(settings).host;
  const written = readHostFile(settings).host;
  if (written !== undefined) return { host: checkHostId(written.trim(), `host in ${file}`), source: 'file' };
  const host = normaliseHostName(options.hostname);
  if (host === '') {
    throw new CodedError(
      'invalid_config',
      `the OS host name "${options.hostname}" gives no host id; set SVC_HOST or write {"host": "…"} to ${file}`,
      { details: { file } },
    );
  }
  if (options.persist) saveHostId(settings, host);
  return { host, source: 'os' };
}

/** An OS host name as a host id: lower case, `[a-z0-9-]`, without its domain; empty when nothing is left. */
export function normaliseHostName(hostname: string): string {
  const [first = ''] = hostname.trim().toLowerCase().split('.');
  return first.replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
}

/** Returns a valid host id; throws `invalid_config` naming `place` for any other text. */
export function checkHostId(host: string, place: string): string {
  if (HOST_ID.test(host)) return host;
  throw new CodedError(
    'invalid_config',
    `${place} is "${host}"; a host id takes letters, digits, ".", "_" and "-" and starts with a letter or digit`,
  );
}
