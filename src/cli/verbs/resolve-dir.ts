import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { resolveDirectory } from '../../config/resolve-directory.ts';
import { FIBERS_FOLDER } from '../../fibers/fiber-id.ts';
import { argument } from '../command-line/options.ts';
import { defineVerb } from '../command-line/verb.ts';

/** `svc resolve-dir <dir>`: the absolute path that a fiber stores for a folder (WPL-1); the folder must exist. */
export const verb = defineVerb({
  summary: 'Print the absolute path that a fiber stores for a folder',
  arguments: { dir: argument('<dir>', 'a folder; ~ and relative paths are resolved') },
  examples: [['svc resolve-dir .', 'the path of this folder']],
  json: z.object({ path: z.string() }),
  run(context, { dir }) {
    const path = resolveDirectory(dir, context.cwd);
    requireProjectFolder(path, null);
    return { json: { path }, text: `${path}\n` };
  },
});

/**
 * Throws `project_dir_missing` if it is not a folder, `project_dir_in_store` if it is inside a store. `flag`: the option
 * that names another one; null where it is an argument.
 */
export function requireProjectFolder(path: string, flag: string | null): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new CodedError(
      'project_dir_missing',
      `not a directory: ${path}; make it or name another${flag === null ? '' : ` with ${flag}`}`,
    );
  if (realpathSync(path).split(sep).includes(FIBERS_FOLDER))
    throw new CodedError(
      'project_dir_in_store',
      `${path} lies inside a document store; choose the project’s own folder`,
    );
}
