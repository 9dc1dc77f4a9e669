import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/**
 * The file that starting `cli` would run, or null when there is none: a name is looked up on `path`, anything
 * with a slash is taken from `cwd`, as the kernel does.
 */
export async function findExecutable(cli: string, path: string, cwd: string | null): Promise<string | null> {
  if (cli.includes('/')) {
    const file = isAbsolute(cli) || cwd === null ? cli : resolve(cwd, cli);
    return (await isExecutable(file)) ? file : null;
  }
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, cli);
    if (await isExecutable(file)) return file;
  }
  return null;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
