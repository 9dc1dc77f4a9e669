import type { ProcessRunner } from '../platform/process.ts';
import { launchInKitty, type TerminalLaunch, type TerminalLaunched } from '../platform/terminal-kitty.ts';
import { planServerStart } from './server-start.ts';
import { ANCHOR_SESSION } from './session-name.ts';
import type { ServerStarted } from './start-server.ts';

export type TerminalStart = {
  tmux: string;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  deadline_ms: number;
  /** Asks the user's terminal emulator to start a program; default: the kitty of this user. */
  openTerminal?: ((launch: TerminalLaunch) => Promise<TerminalLaunched>) | undefined;
};

/**
 * Asks the user's terminal emulator to start the multiplexer server with its anchor session, in the background and with
 * no window [MUX-1]. The daemon never starts it directly: without an emulator the launch is refused [MUX-2].
 */
export async function startByTerminal(options: TerminalStart): Promise<ServerStarted> {
  const open = options.openTerminal ?? ownKitty(options.env);
  const argv = [options.tmux, 'new-session', '-d', '-s', ANCHOR_SESSION];
  const answer = await open({ argv, title: ANCHOR_SESSION, type: 'background', cwd: '/' });
  if (answer.kind === 'opened' && (await appears(options))) return { kind: 'started' };
  const refused = planServerStart({
    platform: 'darwin',
    socket: null,
    inside_unit: false,
    user_manager: false,
  });
  const reason = refused.kind === 'refused' ? refused.reason : 'no terminal emulator answered';
  return { kind: 'failed', detail: answer.kind === 'opened' ? reason : `${answer.detail}; ${reason}` };
}

function ownKitty(env: Record<string, string | undefined>) {
  const uid = process.getuid?.() ?? null;
  return (launch: TerminalLaunch) => launchInKitty(launch, { named: null, env, folder: '/tmp', uid });
}

/** The emulator answers before the server accepts connections. */
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
