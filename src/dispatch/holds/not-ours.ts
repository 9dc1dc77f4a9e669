import type { SessionNotOurs } from '../../contract/fiber.ts';
import { killCommand } from '../../platform/tmux-command.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import type { Memory } from './memory.ts';

/** The sessions that have only the name of the worker of this fiber, as rows show them; undefined where there is none. */
export function viewNotOurs(
  { settings }: Pick<World, 'settings'>,
  { not_ours }: Pick<Memory, 'not_ours'>,
  document: Parameters<typeof keyOf>[0],
): SessionNotOurs[] | undefined {
  return not_ours.get(keyOf(document))?.map((mux_session) => ({
    mux_session,
    message: 'a tmux session that is not ours has the name of its worker, or had it; nothing waits for it',
    command: killCommand(settings.tmux_socket, mux_session),
  }));
}
