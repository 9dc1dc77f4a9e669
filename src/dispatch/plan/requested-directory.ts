import { resolveDirectory } from '../../config/resolve-directory.ts';

/** The directory that a person confirmed for a dispatch (WPL-1), made absolute; `~` is the daemon's home. */
export function requestedDirectory(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : resolveDirectory(text, null);
}
