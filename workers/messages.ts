import { join } from 'node:path';
import { messageOf } from '../src/base/errors.ts';
import { dataPaths } from '../src/config/paths.ts';
import type { Settings } from '../src/config/settings.ts';
import { messagesCalls, messagesEvents } from '../src/contract/threads/messages.ts';
import { connectDelivery } from '../src/messages/delivery-world.ts';
import { keptMessages } from '../src/messages/kept-message.ts';
import { writeMissingLines } from '../src/messages/ledger-recovery.ts';
import { LedgerWriter } from '../src/messages/ledger-writer.ts';
import { createFileKeeper } from '../src/messages/message-files.ts';
import { MessageStore } from '../src/messages/message-store.ts';
import { MessagesService } from '../src/messages/messages-service.ts';
import { startRetention } from '../src/messages/retention.ts';
import { requireAnswer, threadDisks } from '../src/platform/foreign-paths.ts';
import { runComponent } from '../src/threads/worker-main.ts';

/** A conversation that cannot be looked at holds no answer up for longer. */
const LOOK_MS = 1_000;
/** How soon folders whose disk did not answer are tried again, in milliseconds. */
const TRY_MS = 5_000;

await runComponent<Settings & { host_id: string }, typeof messagesCalls, typeof messagesEvents>({
  name: 'messages',
  calls: messagesCalls,
  events: messagesEvents,
  async start({ settings, clock, logger, host, pool }) {
    const paths = dataPaths(settings);
    const begin = async () => {
      const ledger = new LedgerWriter({ path: paths.messages_file, events_file: paths.events_file, logger });
      const store = new MessageStore(paths.messages_dir, ledger);
      const world = await connectDelivery({
        settings,
        clock,
        logger,
        store,
        ledger,
        files: createFileKeeper(
          paths.attachments_dir,
          async (input, bulk) => (await pool.run('store_attachments', input, { bulk })).value,
        ),
        poller: {
          target: ({ harness, native_id }) => host.call('message_target', { harness, native_id }),
          contextTarget: ({ harness, native_id }) => host.call('context_target', { harness, native_id }),
          give: (message) => host.call('give_app_message', message),
          stageIn: async (query) => (await host.call('app_message_stage', query)).stage,
        },
      });
      const service = new MessagesService(world, {
        observe: settings.message_observe_ms,
        recheck: settings.message_recheck_ms,
        hold: settings.message_hold_ms,
        pair: settings.message_pair_limit,
      });
      service.start();
      void writeMissingLines({ ledger, store, now: clock.now(), logger });
      const rule = { keep_days: settings.message_keep_days, keep_count: settings.message_keep_count };
      const endRetention = startRetention({ store, mailbox: world.mailbox, rule, clock, logger });
      return { service, store, endRetention };
    };
    let begun: ReturnType<typeof begin> | null = null;
    /** Throws `file_unavailable` while the disk of messages or of mailboxes does not answer: this thread would wait for it. */
    const messages = async () => {
      for (const folder of [paths.messages_dir, join(paths.messages_dir, 'context')])
        await requireAnswer(folder);
      begun ??= begin();
      return begun;
    };
    const stopTrying = clock.every(TRY_MS, () => {
      if (begun === null) void messages().catch(() => undefined);
    });
    await messages().catch((error: unknown) => {
      if (begun !== null) throw error;
      logger.error({ detail: messageOf(error) }, 'messages wait for their disk');
    });
    return {
      handlers: {
        send: async (message, bytes) => (await messages()).service.send(message, bytes),
        async texts({ ids }) {
          const { service, store } = await messages();
          await service.lookAgain(ids, LOOK_MS);
          return { messages: keptMessages(store, ids, logger) };
        },
      },
      async stop() {
        stopTrying();
        const running = await begun;
        running?.endRetention();
        running?.service.stop();
        threadDisks().stop();
      },
    };
  },
});
