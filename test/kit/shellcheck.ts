import { spawnSync } from 'node:child_process';

/** The errors and warnings of shellcheck about a script; nothing for a good one. */
export function shellcheck(file: string): string {
  const { error, stdout, stderr } = spawnSync('shellcheck', ['--severity=warning', file], {
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return stdout + stderr;
}
