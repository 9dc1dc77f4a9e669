import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { KeptMessage } from '../contract/threads/messages.ts';
import type { MessageStore } from './message-store.ts';

/** What is kept of these messages; one that cannot be read is logged and left out. */
export function keptMessages(store: MessageStore, ids: readonly string[], logger: Logger): KeptMessage[] {
  return ids.flatMap((message_id) => {
    try {
      const record = store.read(message_id);
      if (record === null) return [];
      return { sent_at: record.created_at, text: record.text, receipt: record.receipt };
    } catch (error) {
      logger.warn({ message: message_id, detail: messageOf(error) }, 'a message cannot be read');
      return [];
    }
  });
}
