import { isAbsolute, resolve } from 'node:path';
import { CodedError } from '../base/errors.ts';
import { expandHome } from '../config/settings.ts';

/** The directory that a person confirmed for a dispatch (WPL-1), made absolute; `~` is the daemon's home. */
export function requestedDirectory(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const expanded = expandHome(text.trim());
  if (!isAbsolute(expanded))
    throw new CodedError('invalid_request', `project_dir "${text}" must be an absolute path`);
  return resolve(expanded);
}
