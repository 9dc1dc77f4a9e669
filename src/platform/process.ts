import { execa } from 'execa';
import { systemCode } from '../base/errors.ts';

/** One run of an outside program: argv only, never a shell string. Times in milliseconds, sizes in bytes. */
export type ProcessCall = {
  file: string;
  args: readonly string[];
  cwd?: string;
  /** The child's whole environment; absent: ours. */
  env?: Record<string, string | undefined>;
  input?: string | Uint8Array;
  timeout_ms: number;
  /** Bound on stdout and on stderr, each. */
  max_output_bytes: number;
  /** Ends it with SIGKILL when aborted. */
  signal?: AbortSignal;
};

/** How a run ended. `timed_out` and `overflowed` children were ended by us with SIGKILL. */
export type ProcessResult =
  | { kind: 'exited'; code: number; stdout: string; stderr: string }
  | { kind: 'signalled'; signal: string; stdout: string; stderr: string }
  | { kind: 'timed_out' }
  | { kind: 'overflowed' }
  | { kind: 'not_started'; code: string };

export type PipedCall = {
  file: string;
  args: readonly string[];
  cwd?: string;
  env?: Record<string, string | undefined>;
};

/** A long-lived child on three pipes, with no deadline; its owner bounds what it keeps of the output. */
export type PipedProcess = {
  /** Undefined when the program could not be started; `onExit` tells why. */
  pid: number | undefined;
  /** False when the pipe is closed or full; what was refused was not sent. */
  write(text: string): boolean;
  onStdout(listener: (chunk: Uint8Array) => void): void;
  /** Called once, also when the child never started; `detail` is a sentence or its last stderr. */
  onExit(listener: (detail: string) => void): void;
  /** Closes its stdin. */
  end(): void;
  /** Ends it with SIGKILL. */
  kill(): void;
};

/** How everything here starts programs; passed as a parameter so that a caller can be given another. */
export type ProcessRunner = {
  run(call: ProcessCall): Promise<ProcessResult>;
  spawnPiped(call: PipedCall): PipedProcess;
};

/**
 * Where an agent's program is asked about itself: these read the settings of the project around them, and may start
 * what those name. It is there on every machine and is nobody's project.
 */
export const NEUTRAL_DIRECTORY = '/';

const STDERR_KEPT = 4096;
const STDIN_BACKLOG = 1024 * 1024;

/** Runs a program to its end, within its deadline and output bound. Never throws for what the program does. */
export async function runProcess(call: ProcessCall): Promise<ProcessResult> {
  const subprocess = execa(call.file, call.args, {
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    ...(call.env === undefined ? {} : { env: call.env, extendEnv: false }),
    ...(call.input === undefined ? { stdin: 'ignore' } : { input: call.input }),
    reject: false,
    stripFinalNewline: false,
    maxBuffer: call.max_output_bytes,
    killSignal: 'SIGKILL',
  });
  let ended = false;
  let late = false;
  subprocess.nodeChildProcess.on('exit', () => {
    ended = true;
  });
  // A grandchild that keeps our pipes open would hold the result back for ever, so the pipes are closed too.
  const endNow = () => {
    subprocess.kill('SIGKILL');
    subprocess.stdout?.destroy();
    subprocess.stderr?.destroy();
  };
  const deadline = setTimeout(() => {
    late = !ended;
    endNow();
  }, call.timeout_ms);
  call.signal?.addEventListener('abort', endNow, { once: true });
  if (call.signal?.aborted) endNow();
  const result = await subprocess;
  clearTimeout(deadline);
  call.signal?.removeEventListener('abort', endNow);

  if (late) return { kind: 'timed_out' };
  if (result.isMaxBuffer) return { kind: 'overflowed' };
  const { stdout = '', stderr = '' } = result;
  if (result.signal !== undefined) return { kind: 'signalled', signal: result.signal, stdout, stderr };
  if (result.exitCode !== undefined) return { kind: 'exited', code: result.exitCode, stdout, stderr };
  return { kind: 'not_started', code: result.code ?? systemCode(result.cause) ?? 'EUNKNOWN' };
}

/** Starts a program on three pipes and leaves it running. */
export function spawnPiped(call: PipedCall): PipedProcess {
  const subprocess = execa(call.file, call.args, {
    ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
    ...(call.env === undefined ? {} : { env: call.env, extendEnv: false }),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
  });
  let stderr = '';
  let exited: string | null = null;
  const exitListeners: ((detail: string) => void)[] = [];
  subprocess.stdin.on('error', () => undefined);
  subprocess.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-STDERR_KEPT);
  });
  void subprocess.then((result) => {
    exited = stderr.trim() || (result.failed ? (result.shortMessage ?? 'it failed') : 'it ended');
    for (const listener of exitListeners) listener(exited);
  });
  return {
    pid: subprocess.pid,
    write(text) {
      if (exited !== null || !subprocess.stdin.writable) return false;
      if (subprocess.stdin.writableLength > STDIN_BACKLOG) return false;
      subprocess.stdin.write(text);
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
      subprocess.stdin.end();
    },
    kill() {
      subprocess.kill('SIGKILL');
      subprocess.stdin.destroy();
      subprocess.stdout.destroy();
      subprocess.stderr.destroy();
      // One that the kernel holds may stay for as long as we do.
      subprocess.nodeChildProcess.unref();
    },
  };
}

/** The machine's own processes. */
export function createRunner(): ProcessRunner {
  return { run: runProcess, spawnPiped };
}
