import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/**
 * Starts a process that outlives this one: own session, no input, output appended to a file with mode 0600. Throws the
 * system error where it cannot be started.
 */
export async function startDetached(options: {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  log_path: string;
}): Promise<{ pid: number }> {
  const log = openSync(options.log_path, 'a', 0o600);
  try {
    const child = spawn(options.file, options.args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', log, log],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    return { pid: child.pid! };
  } finally {
    closeSync(log);
  }
}

/**
 * Starts a process that may outlive this one, without input or output. True once it has ended well, or if it still runs
 * after so many milliseconds; false where it failed, or could not be started.
 */
export function runsOn(options: {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  fails_within_ms: number;
}): Promise<boolean> {
  const { file, args, env, fails_within_ms } = options;
  return new Promise((resolve) => {
    const child = spawn(file, args, { env, detached: true, stdio: 'ignore' });
    const timer = setTimeout(() => resolve(true), fails_within_ms);
    const settle = (well: boolean) => {
      clearTimeout(timer);
      resolve(well);
    };
    child.once('error', () => settle(false));
    child.once('exit', (code) => settle(code === 0));
    child.unref();
  });
}
