import type { Mux } from './mux.ts';

const DETAIL =
  'tmux is not on the PATH of the daemon; install it, or start the daemon with a PATH that has it (`svc doctor`)';

/** The multiplexer of a machine without tmux: knows nothing, and says what is missing (P31). */
export function withoutTmux(): Mux {
  return {
    list: async () => ({ kind: 'unknown', detail: DETAIL }),
    create: async () => ({ kind: 'failed', code: 'tmux_server_unavailable', detail: DETAIL }),
    kill: async () => 'unknown',
    rename: async () => 'unknown',
    capture: async () => null,
    screen: async () => ({ kind: 'unknown', detail: DETAIL }),
    panes: async () => null,
    onChange: () => () => {},
    describe: () => ({
      tmux: 'tmux',
      socket: null,
      attach_argv: (target) => ['tmux', 'attach', '-t', target],
    }),
    stop: async () => {},
  };
}
