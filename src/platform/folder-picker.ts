import { failureWords } from './failure-words.ts';
import { findExecutable } from './find-executable.ts';
import type { ProcessResult, ProcessRunner } from './process.ts';

/** A program of this desktop that lets a person choose a folder. */
export type FolderPicker = { program: 'osascript' | 'zenity' | 'kdialog'; file: string };

/** The result of a dialog. `broken`: it could not be shown. */
export type FolderAnswer =
  | { kind: 'chosen'; path: string }
  | { kind: 'cancelled' }
  | { kind: 'unanswered' }
  | { kind: 'broken'; detail: string };

/** Text of a caller reaches the script only as arguments, so that it can never be executed. */
const OSASCRIPT = [
  'on run argv',
  'activate',
  'return POSIX path of (choose folder with prompt (item 1 of argv))',
  'end run',
].flatMap((line) => ['-e', line]);
/** The error of osascript for a dismissed dialog. */
const DISMISSED_ON_MACOS = /\(-128\)/;
const NO_DISPLAY = /(cannot|failed to|could not) (open|connect to) display|no protocol specified/i;
const MOST_OUTPUT_BYTES = 64 * 1024;

/** The picker of this host, or null without a desktop or a dialog program. */
export async function findFolderPicker(options: {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  /** macOS only: a person is logged in at the desktop. */
  desktop: boolean;
}): Promise<FolderPicker | null> {
  const { platform, env, desktop } = options;
  const path = env.PATH ?? '';
  if (platform === 'darwin') {
    const file = desktop ? await findExecutable('osascript', path) : null;
    return file === null ? null : { program: 'osascript', file };
  }
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return null;
  const kde = /kde/i.test(env.XDG_CURRENT_DESKTOP ?? '');
  for (const program of kde ? (['kdialog', 'zenity'] as const) : (['zenity', 'kdialog'] as const)) {
    const file = await findExecutable(program, path);
    if (file !== null) return { program, file };
  }
  return null;
}

/** Opens the dialog and waits for the person; `signal` closes it. Times in milliseconds. */
export async function chooseFolder(
  picker: FolderPicker,
  options: {
    title: string;
    start: string;
    runner: Pick<ProcessRunner, 'run'>;
    timeout_ms: number;
    signal: AbortSignal;
  },
): Promise<FolderAnswer> {
  const { runner, timeout_ms, signal, start } = options;
  const result = await runner.run({
    file: picker.file,
    args: argumentsOf(picker.program, options.title, start),
    cwd: start,
    timeout_ms,
    max_output_bytes: MOST_OUTPUT_BYTES,
    signal,
  });
  return judge(picker, result);
}

function argumentsOf(program: FolderPicker['program'], title: string, start: string): string[] {
  switch (program) {
    case 'osascript':
      return [...OSASCRIPT, '--', title];
    case 'zenity':
      return ['--file-selection', '--directory', `--title=${title}`];
    case 'kdialog':
      return [`--title=${title}`, '--getexistingdirectory', start];
  }
}

function judge(picker: FolderPicker, result: ProcessResult): FolderAnswer {
  switch (result.kind) {
    case 'timed_out':
      return { kind: 'unanswered' };
    case 'not_started':
    case 'overflowed':
    case 'signalled':
      return broken(picker, result);
    case 'exited':
      return judgeExit(picker, result);
  }
}

function judgeExit(picker: FolderPicker, result: Extract<ProcessResult, { kind: 'exited' }>): FolderAnswer {
  const { code, stdout, stderr } = result;
  const path = withoutLastSlash(stdout.replace(/\r?\n$/, ''));
  if (code === 0 && path.startsWith('/')) return { kind: 'chosen', path };
  const dismissed =
    picker.program === 'osascript' ? DISMISSED_ON_MACOS.test(stderr) : !NO_DISPLAY.test(stderr);
  if (code === 1 && dismissed) return { kind: 'cancelled' };
  return broken(picker, result);
}

function broken({ file }: FolderPicker, result: ProcessResult): FolderAnswer {
  return { kind: 'broken', detail: `${file}: ${failureWords(result)}` };
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
