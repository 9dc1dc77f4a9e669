import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { hostCalls } from '../../contract/threads/host.ts';
import type { Caller } from '../../threads/calls.ts';
import type { World } from '../world/world.ts';

/** Sends the daemon's own messages by the main thread. They are calls, because a later notice may replace a notice. */
export function createMessageSender(options: {
  host: Pick<Caller<typeof hostCalls>, 'call'>;
  logger: Logger;
}): World['sendMessage'] {
  const { host, logger } = options;
  return (message) => {
    host
      .call('send_message', message)
      .catch((error: unknown) =>
        logger.warn(
          { message: message.message_id, err: messageOf(error) },
          'a message of the daemon may not have been sent',
        ),
      );
  };
}
