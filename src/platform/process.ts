import { execa } from 'execa';
import { createDeferred } from '../base/deferred.ts';
import { systemCode } from '../base/errors.ts';
import { unansweredWords } from './disks.ts';
import { searchPath } from './find-executable.ts';
import { mayFollow } from './foreign-paths.ts';
import { type PipedCall, type PipedProcess, spawnPiped } from './piped-process.ts';

/** One run of an external program: argv only, never a shell string. Times in milliseconds, sizes in bytes. */
export type ProcessCall = {
  file: string;
  args: readonly string[];
  cwd?: string;
  /** The complete environment of the child; default: ours. */
  env?: Record<string, string | undefined>;
  input?: string | Uint8Array;
  timeout_ms: number;
  /** Limit of stdout and of stderr, each. */
  max_output_bytes: number;
  /** Ends it with SIGKILL when aborted. */
  signal?: AbortSignal;
};

/**
 * How a run ended. `timed_out` and `overflowed` children were ended by us with SIGKILL; of what was too much, `stdout` is the
 * beginning.
 */
export type ProcessResult =
  | { kind: 'exited'; code: number; stdout: string; stderr: string }
  | { kind: 'signalled'; signal: string; stdout: string; stderr: string }
  | { kind: 'timed_out' }
  | { kind: 'overflowed'; stdout: string }
  /** `detail` is why, where the code alone does not say it. */
  | { kind: 'not_started'; code: string; detail?: string };

/** How programs are started; a parameter, so that tests can replace it. */
export type ProcessRunner = {
  run(call: ProcessCall): Promise<ProcessResult>;
  spawnPiped(call: PipedCall): PipedProcess;
};

/** How long a process that was killed may take to leave, in milliseconds; one that a disk holds stays in the kernel. */
const LEAVE_MS = 1_000;
/** Where the system looks for a program if `PATH` is not set. */
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Runs a program to its end, within its deadline and output limit. Never throws for what the program does, and waits neither
 * for a folder of PATH nor for a program on a disk that does not answer.
 */
export async function runProcess(call: ProcessCall): Promise<ProcessResult> {
  const found = await programOf(call);
  if (typeof found !== 'string') return found;
  const subprocess = execa(found, call.args, {
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
  const gone = createDeferred<null>();
  subprocess.nodeChildProcess.on('exit', () => {
    ended = true;
  });
  // A grandchild that keeps our pipes open would delay the result for ever, so the pipes are closed too.
  const endNow = () => {
    subprocess.kill('SIGKILL');
    subprocess.stdout?.destroy();
    subprocess.stderr?.destroy();
    setTimeout(() => gone.resolve(null), LEAVE_MS).unref();
  };
  const deadline = setTimeout(() => {
    late = !ended;
    endNow();
  }, call.timeout_ms);
  call.signal?.addEventListener('abort', endNow, { once: true });
  if (call.signal?.aborted) endNow();
  const result = await Promise.race([subprocess, gone.promise]);
  clearTimeout(deadline);
  call.signal?.removeEventListener('abort', endNow);

  if (result === null) subprocess.nodeChildProcess.unref();
  if (late) return { kind: 'timed_out' };
  if (result === null) return { kind: 'signalled', signal: 'SIGKILL', stdout: '', stderr: '' };
  const { stdout = '', stderr = '' } = result;
  if (result.isMaxBuffer) return { kind: 'overflowed', stdout };
  if (result.signal !== undefined) return { kind: 'signalled', signal: result.signal, stdout, stderr };
  if (result.exitCode !== undefined) return { kind: 'exited', code: result.exitCode, stdout, stderr };
  return { kind: 'not_started', code: result.code ?? systemCode(result.cause) ?? 'EUNKNOWN' };
}

/** What is started: the system call that does it blocks this thread until the program is loaded. */
async function programOf({ file, env = process.env }: ProcessCall): Promise<string | ProcessResult> {
  if (!file.includes('/')) {
    const { found, silent } = await searchPath(file, env.PATH ?? USUAL_PATH);
    if (found !== null) return found;
    const [folder] = silent;
    const detail = folder === undefined ? {} : { detail: unansweredWords(folder, 'silent') };
    return { kind: 'not_started', code: 'ENOENT', ...detail };
  }
  const proof = await mayFollow(file);
  return proof === 'answers'
    ? file
    : { kind: 'not_started', code: 'EHOSTDOWN', detail: unansweredWords(file, proof) };
}

/** The machine's own processes. */
export function createRunner(): ProcessRunner {
  return { run: runProcess, spawnPiped };
}
