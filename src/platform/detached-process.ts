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
