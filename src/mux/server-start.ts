import { createHash } from 'node:crypto';
import { isNetworkVariable } from '../platform/network-environment.ts';
import { newSession, type TmuxCommand } from './command.ts';
import { ANCHOR_SESSION } from './session-name.ts';

/** What decides how a missing server is started. */
export type ServerStartFacts = {
  platform: NodeJS.Platform;
  /** Path of a private socket, or null for the user's own server. */
  socket: string | null;
  /** Running as a systemd unit (`INVOCATION_ID` is set). */
  inside_unit: boolean;
  /** `systemctl --user show-environment` succeeded, and `systemd-run` was found. */
  user_manager: boolean;
};

export type ServerStartPlan =
  | { kind: 'direct' }
  /** In a scope of its own: what stops or restarts our unit then leaves server and workers running. */
  | { kind: 'scope' }
  | { kind: 'refused'; reason: string };

/** How to start the multiplexer server [MUX-1] [MUX-5]. */
export function planServerStart(facts: ServerStartFacts): ServerStartPlan {
  if (facts.platform === 'darwin' && facts.socket === null) {
    return {
      kind: 'refused',
      reason:
        'No tmux server is running and the terminal emulator could not be asked to start one; open a terminal and run: tmux new-session -d -s svc-anchor',
    };
  }
  if (facts.platform === 'linux' && facts.inside_unit && facts.user_manager) return { kind: 'scope' };
  return { kind: 'direct' };
}

/** Longer than any machine stays up; `sleep` of both Linux and macOS takes it. */
const ANCHOR_COMMAND = ['sleep', '2147483647'];

/** Makes the anchor session. */
export function anchorCommands(size: { columns: number; rows: number }): TmuxCommand[] {
  return newSession({ name: ANCHOR_SESSION, cwd: '/', command: ANCHOR_COMMAND, ...size });
}

/** argv for `systemd-run` that runs `command` in a new scope; the name is new each time, so that what a dead
 * server's scope still holds cannot stand in the way. */
export function scopeArgv(socket: string | null, now: number, command: readonly string[]): string[] {
  const which = createHash('sha256')
    .update(socket ?? 'default')
    .digest('hex')
    .slice(0, 8);
  const unit = `svc-mux-${which}-${now.toString(36)}`;
  return ['--user', '--scope', '--collect', '--quiet', `--unit=${unit}`, '--', ...command];
}

const OURS =
  /^(SVC_|NODE_|npm_|NPM_|VITEST|UWS_|LISTEN_|WATCHDOG_|MEMORY_PRESSURE_|(RUNTIME|STATE|CACHE|LOGS|CONFIGURATION|CREDENTIALS)_DIRECTORY$)/;
const OF_OUR_PROCESS = new Set([
  'TMUX',
  'TMUX_PANE',
  'INVOCATION_ID',
  'JOURNAL_STREAM',
  'NOTIFY_SOCKET',
  'MAINPID',
  'MANAGERPID',
  'SYSTEMD_EXEC_PID',
  'OLDPWD',
  'SHLVL',
  '_',
]);

/**
 * The environment a server of ours is started with. Every later session inherits it, also the user's, so what
 * concerns this daemon alone stays out; a worker's own variables come with its run script.
 */
export function serverEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || OF_OUR_PROCESS.has(name)) continue;
    if (!OURS.test(name) || isNetworkVariable(name)) kept[name] = value;
  }
  return kept;
}

/** The environment of a tmux client of ours: inside somebody's session it would talk to that server. */
export function clientEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && name !== 'TMUX' && name !== 'TMUX_PANE') kept[name] = value;
  }
  return kept;
}
