import type { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { hostFileSchema } from '../contract/operator-files.ts';
import { setKey } from './json-splice.ts';
import { parseOperatorText, readOperatorText, saveOperatorText } from './operator-text.ts';
import { dataPaths, operatorFilePaths } from './paths.ts';
import { expandHome, type Settings } from './settings.ts';

export type HostFile = z.infer<typeof hostFileSchema>;
/** `exposed` machines have no TCP listener. */
export type HostClass = 'personal' | 'exposed';

/** Reads `host.json`; a missing file counts as empty. Throws `invalid_config` naming the file and the fix. */
export function readHostFile(settings: Settings): HostFile {
  const file = operatorFilePaths(settings).host;
  const text = readOperatorText(file);
  return text === null ? {} : parseHostFile(file, text);
}

/** Checks the text of a host file without reading or writing anything (OPF-4). */
export function parseHostFile(file: string, text: string): HostFile {
  return parseOperatorText(file, text, hostFileSchema);
}

/** Saves the host id in `host.json`, which says none yet, and leaves every other byte of it as a person wrote it. */
export function saveHostId(settings: Settings, host: string): void {
  const file = operatorFilePaths(settings).host;
  const text = readOperatorText(file);
  if (text !== null) parseHostFile(file, text);
  const saved =
    text === null ? `${JSON.stringify({ version: 1, host }, null, 2)}\n` : setKey(text, ['host'], host);
  saveOperatorText(file, saved);
}

/** Absolute path of the folder that describes the roles of rosters; null without one. */
export function roleStoreOf({ role_store }: HostFile): string | null {
  return role_store === undefined ? null : expandHome(role_store);
}

/** The class of this machine; `personal` unless `host.json` says otherwise. */
export function hostClass(file: HostFile): HostClass {
  return file.host_class ?? 'personal';
}

/** Throws `invalid_config` for a TCP listener on a host of class `exposed`. */
export function requireAllowedListener(file: HostFile, settings: Settings): void {
  if (hostClass(file) !== 'exposed' || settings.listen.startsWith('unix:')) return;
  throw new CodedError(
    'invalid_config',
    `this host is of class exposed and takes no TCP listener; set SVC_LISTEN=unix:${dataPaths(settings).api_socket}`,
  );
}
