import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs another program in this terminal until it ends and returns its exit code (128 + signal number where a signal
 * ended it). Throws the system error where it cannot be started.
 */
export function runInTerminal(options: {
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.file, options.args, { cwd: options.cwd, env: options.env, stdio: 'inherit' });
    // Ctrl-C is meant for the program in the foreground; exiting here would orphan it.
    const leaveToChild = () => {};
    process.on('SIGINT', leaveToChild);
    process.on('SIGQUIT', leaveToChild);
    const restore = () => {
      process.off('SIGINT', leaveToChild);
      process.off('SIGQUIT', leaveToChild);
    };
    child.once('error', (error) => {
      restore();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      restore();
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}
