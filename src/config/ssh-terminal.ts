import { shellLine } from '../base/shell-word.ts';
import type { SshTarget } from '../contract/http/attach.ts';

/** `svc` of that host knows its tmux server; without one on the PATH there, it is the one that tmux takes. */
const SHOW =
  'if command -v svc >/dev/null; then exec svc attach -- "$0"; else exec tmux attach-session -t "=$0"; fi';

/** argv that shows a session of another host; the far shell gets words that it reads nothing into. */
export function sshSessionArgv(target: SshTarget, mux_session: string): string[] {
  return sshArgv(target, ['sh', '-c', SHOW, mux_session]);
}

/** argv that opens a past session on another host and shows it; `svc` has to be on the PATH there. */
export function sshPastSessionArgv(target: SshTarget, session: string): string[] {
  return sshArgv(target, ['svc', 'attach', '--session', session]);
}

function sshArgv({ alias, flags }: SshTarget, words: readonly string[]): string[] {
  return ['ssh', ...flags, '-t', '--', alias, shellLine(words)];
}
