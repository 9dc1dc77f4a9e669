import type { hostCalls } from '../../src/contract/threads/host.ts';
import type { Handlers } from '../../src/threads/calls.ts';

/** The answers of a poller that knows no session of an agent. */
export const NO_SESSIONS = {
  message_target: () => ({ kind: 'none' }),
  context_target: () => ({ kind: 'none' }),
  give_app_message: () => ({ kind: 'gone' }),
  app_message_stage: () => ({ stage: null }),
  send_message: () => ({}),
  start_recorder: () => ({ kind: 'failed', code: 'mux_unavailable', detail: 'there is no tmux' }),
  recorder_session: () => ({ kind: 'gone' }),
  end_recorder: () => ({ ended: 'gone' }),
} satisfies Omit<Handlers<typeof hostCalls>, 'pool'>;
