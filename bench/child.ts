import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** Sees to it that a program we started does not outlive us, however we end. */
export function endWithUs(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

/** Starts one of our TypeScript programs on this very runtime. */
export function startProgram(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  return child;
}

/** The first line a program prints, as a port number. */
export function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const line = /^(\d+)\n/.exec(text);
      if (line !== null) resolve(Number(line[1]));
    });
    child.once('exit', (code) => reject(new Error(`the program ended with ${code} before it told its port`)));
  });
}

/** Ends a program we started and waits for it. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
