import { readdirSync } from 'node:fs';
import { findExecutable } from '../platform/find-executable.ts';
import { kittyBackgroundArgv, kittySockets } from '../platform/kitty.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { planServerStart } from './server-start.ts';
import { ANCHOR_SESSION } from './session-name.ts';
import type { ServerStarted } from './start-server.ts';

const KITTY_APP = '/Applications/kitty.app/Contents/MacOS';

export type TerminalStart = {
  tmux: string;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  deadline_ms: number;
  /** Names in `/tmp`; the real ones unless given. */
  names?: () => string[];
  isAlive?: (pid: number) => boolean;
  /** Path of `kitten` or `kitty`; looked for unless given. */
  program?: string | null;
};

/**
 * Asks the user's terminal emulator to start the multiplexer server with its anchor session, in the background and
 * with no window [MUX-1]. Never starts one itself: where no emulator does it, the launch is refused [MUX-2].
 */
export async function startByTerminal(options: TerminalStart): Promise<ServerStarted> {
  const { env, runner, tmux } = options;
  const program = options.program === undefined ? findKitty(env) : options.program;
  const names = (options.names ?? namesInTmp)();
  if (program !== null) {
    for (const { path } of kittySockets({ env, names, isAlive: options.isAlive ?? isAlive })) {
      const [file, ...args] = kittyBackgroundArgv(program, path, [
        tmux,
        'new-session',
        '-d',
        '-s',
        ANCHOR_SESSION,
      ]);
      const answer = await runner.run({
        file,
        args,
        env,
        timeout_ms: options.deadline_ms,
        max_output_bytes: 64 * 1024,
      });
      if (answer.kind === 'exited' && answer.code === 0 && (await appears(options)))
        return { kind: 'started' };
    }
  }
  const refused = planServerStart({
    platform: 'darwin',
    socket: null,
    inside_unit: false,
    user_manager: false,
  });
  return {
    kind: 'failed',
    detail: refused.kind === 'refused' ? refused.reason : 'no terminal emulator answered',
  };
}

/** The emulator answers before the server it starts is there. */
async function appears({ tmux, env, runner, deadline_ms }: TerminalStart): Promise<boolean> {
  const until = performance.now() + deadline_ms;
  while (performance.now() < until) {
    const answer = await runner.run({
      file: tmux,
      args: ['-N', 'has-session', '-t', `=${ANCHOR_SESSION}`],
      env,
      timeout_ms: deadline_ms,
      max_output_bytes: 64 * 1024,
    });
    if (answer.kind === 'exited' && answer.code === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function findKitty(env: Record<string, string | undefined>): string | null {
  const path = `${env.PATH ?? ''}:${KITTY_APP}`;
  return findExecutable('kitten', path) ?? findExecutable('kitty', path);
}

function namesInTmp(): string[] {
  try {
    return readdirSync('/tmp');
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
