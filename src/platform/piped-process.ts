import { execa } from 'execa';

export type PipedCall = {
  file: string;
  args: readonly string[];
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** A descriptor of ours that becomes its stdin, instead of a pipe that `write` writes to. */
  stdin?: number;
  /** In a process group of its own: what a terminal sends to ours does not reach it, and it outlives us. */
  detached?: boolean;
};

/** A long-lived child on three pipes, without a deadline; its owner limits how much output it keeps. */
export type PipedProcess = {
  /** Undefined if the program could not be started; `onExit` gets the reason. */
  pid: number | undefined;
  /** False if the pipe is closed or full; the data was then not sent. */
  write(data: string | Uint8Array): boolean;
  onStdout(listener: (chunk: Uint8Array) => void): void;
  /** Called once, also if the child never started; `detail` is a sentence or its last stderr. */
  onExit(listener: (detail: string) => void): void;
  /** Closes its stdin. */
  end(): void;
  /** Ends it with SIGKILL. */
  kill(): void;
};

/**
 * Working directory for asking an agent's program about itself. Such programs read the settings of the project around
 * them and may start what those name; this folder exists on every machine and is no project.
 */
export const NEUTRAL_DIRECTORY = '/';

const STDERR_KEPT = 4096;
const STDIN_BACKLOG = 1024 * 1024;

/** Starts a program on three pipes and leaves it running. */
export function spawnPiped(call: PipedCall): PipedProcess {
  const subprocess = execa(call.file, call.args, {
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    ...(call.env === undefined ? {} : { env: call.env, extendEnv: false }),
    // Its type knows the descriptors up to 9 alone.
    stdin: (call.stdin as 3 | undefined) ?? 'pipe',
    detached: call.detached === true,
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
  });
  let stderr = '';
  let exited: string | null = null;
  const exitListeners: ((detail: string) => void)[] = [];
  subprocess.stdin?.on('error', () => undefined);
  subprocess.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-STDERR_KEPT);
  });
  void subprocess.then((result) => {
    exited = stderr.trim() || (result.failed ? (result.shortMessage ?? 'it failed') : 'it ended');
    for (const listener of exitListeners) listener(exited);
  });
  return {
    pid: subprocess.pid,
    write(data) {
      const { stdin } = subprocess;
      if (exited !== null || stdin === null || !stdin.writable) return false;
      if (stdin.writableLength > STDIN_BACKLOG) return false;
      stdin.write(data);
      return true;
    },
    onStdout(listener) {
      subprocess.stdout.on('data', listener);
    },
    onExit(listener) {
      if (exited === null) exitListeners.push(listener);
      else listener(exited);
    },
    end() {
      subprocess.stdin?.end();
    },
    kill() {
      subprocess.kill('SIGKILL');
      subprocess.stdin?.destroy();
      subprocess.stdout.destroy();
      subprocess.stderr.destroy();
      // A child blocked in the kernel may live as long as we do, so it must not keep our process alive.
      subprocess.nodeChildProcess.unref();
    },
  };
}
