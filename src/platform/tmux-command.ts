import { shellLine } from '../base/shell-word.ts';

/** The words that lead to the tmux server at this socket; none to the user's own. */
export function socketArgv(socket: string | null): string[] {
  return socket === null ? [] : ['-S', socket];
}

/** The command by which a person ends the session of exactly this name. */
export function killCommand(socket: string | null, name: string): string {
  return shellLine(['tmux', ...socketArgv(socket), 'kill-session', '-t', `=${name}`]);
}
