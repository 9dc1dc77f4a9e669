import { sha256Of } from '../base/digest.ts';
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
  /** In a separate systemd scope, so that a restart of our unit leaves the server and workers running. */
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
export const ANCHOR_COMMAND = ['sleep', '2147483647'] as const;

/** Makes the anchor session. */
export function anchorCommands(size: { columns: number; rows: number }): TmuxCommand[] {
  return newSession({ name: ANCHOR_SESSION, cwd: '/', command: ANCHOR_COMMAND, ...size });
}

/**
 * argv for `systemd-run` that runs `command` in a new scope; the name is unique, so that a leftover scope of a dead
 * server cannot conflict.
 */
export function scopeArgv(socket: string | null, now: number, command: readonly string[]): string[] {
  const which = sha256Of(socket ?? 'default').slice(0, 8);
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
 * The environment of a tmux server that we start. Every later session inherits it, the user's too, so variables of this
 * daemon are left out. A worker gets its own variables from its run script.
 */
export function serverEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || OF_OUR_PROCESS.has(name)) continue;
    if (!OURS.test(name) || isNetworkVariable(name)) kept[name] = value;
  }
  return kept;
}

/**
 * The environment of our tmux clients, without `TMUX`, which would make them talk to the server of the surrounding
 * session.
 */
export function clientEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && name !== 'TMUX' && name !== 'TMUX_PANE') kept[name] = value;
  }
  return kept;
}
