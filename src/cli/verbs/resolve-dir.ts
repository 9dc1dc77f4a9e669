import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import { resolveDirectory } from '../../config/resolve-directory.ts';
import { FIBERS_FOLDER } from '../../fibers/fiber-id.ts';
import { printJson } from '../command-line/output.ts';
import { EXIT, type Verb } from '../command-line/verb.ts';

/** `svc resolve-dir <dir>`: the absolute directory that a fiber would be given (WPL-1); it must be one. */
export const verb: Verb = {
  name: 'resolve-dir',
  summary: 'Print a folder as a fiber names it',
  register(command, context, exit) {
    command
      .argument('<dir>', 'a folder; ~ and relative paths are worked out')
      .option('--json', 'answer as JSON')
      .action((given: string, options: { json?: boolean }) => {
        const path = resolveDirectory(given, context.cwd);
        requireProjectFolder(path);
        if (options.json) printJson(context, { path });
        else context.out(`${path}\n`);
        exit(EXIT.ok);
      });
  },
};

/** Throws `project_dir_missing` for what is no directory, `project_dir_in_store` for a folder of fibers. */
export function requireProjectFolder(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new CodedError(
      'project_dir_missing',
      `not a directory: ${path}; make it or name another with --project-dir`,
    );
  if (realpathSync(path).split(sep).includes(FIBERS_FOLDER))
    throw new CodedError(
      'project_dir_in_store',
      `${path} lies inside a document store; choose the project’s own folder`,
    );
}
