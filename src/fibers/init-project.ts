import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { CodedError, messageOf } from '../base/errors.ts';
import { FIBERS_FOLDER } from './fiber-id.ts';
import { initStore } from './store.ts';

/**
 * Makes an existing folder a store if it is not one yet (WPL-15). `path` is absolute or begins with `~/`. With
 * `dry_run` it is only checked. Throws `not_a_directory` and `project_dir_in_store` without making anything.
 */
export function initProject(path: string, dry_run: boolean): { root: string; initialised: boolean } {
  const given = path.trim();
  const absolute = given === '~' || given.startsWith('~/') ? join(homedir(), given.slice(1)) : given;
  const refuse = (why: string): never => {
    throw new CodedError('not_a_directory', `not a directory: ${given} (${why})`, {
      details: { path: given },
    });
  };
  if (!isAbsolute(absolute) || absolute.includes('\0')) refuse('write it as an absolute path');
  const root = resolve(absolute);
  if (!isDirectory(root, refuse)) refuse('it is something else');
  if (realpathSync(root).split(sep).includes(FIBERS_FOLDER))
    throw new CodedError(
      'project_dir_in_store',
      `${root} lies inside a document store; choose the project’s own folder`,
      { details: { path: given } },
    );
  const initialised = !isDirectory(join(root, FIBERS_FOLDER), () => false);
  if (!dry_run) initStore(root);
  return { root, initialised };
}

function isDirectory(path: string, failed: (why: string) => boolean): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    return failed(messageOf(error));
  }
}
