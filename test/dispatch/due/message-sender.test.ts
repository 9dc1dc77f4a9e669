import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { type DueMessage, hostCalls } from '../../../src/contract/threads/host.ts';
import { pollerEvents } from '../../../src/contract/threads/poller.ts';
import { createMessageSender } from '../../../src/dispatch/due/message-sender.ts';
import { channelPair } from '../../../src/threads/channel.ts';
import { createPeer } from '../../../src/threads/peer.ts';
import { NO_SESSIONS } from '../../kit/no-sessions.ts';

it('[MSG-3] two messages that the daemon sends at once both arrive while the main thread is far behind', async () => {
  const [near, far] = channelPair(silentLogger);
  const shared = { clock: systemClock, logger: silentLogger };
  const sent: DueMessage[] = [];
  createPeer({
    ...{ ...shared, channel: far, other: 'poller', serves: hostCalls, calls: {}, emits: {} },
    hears: pollerEvents,
    handlers: {
      ...NO_SESSIONS,
      pool: () => ({}),
      send_message(message) {
        sent.push(message);
        return {};
      },
    },
  });
  const poller = createPeer({
    ...{ ...shared, channel: near, other: 'main', serves: {}, handlers: {}, calls: hostCalls },
    ...{ emits: pollerEvents, hears: {}, when_behind: 'keep_latest' },
  });
  const send = createMessageSender({ host: poller, logger: silentLogger });
  for (let notice = 0; notice < 1_000; notice += 1) poller.notify('data_dir_changed', { fault: null });
  const both = ['a', 'b'].map((name) => ({
    address: `svc://host-a/pi/${name}`,
    text: 'go on',
    message_id: name,
  }));
  for (const message of both) send(message);
  await vi.waitFor(() => expect(sent).toEqual(both));
  near.close();
});
