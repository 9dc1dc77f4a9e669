import { type Clock, everySteady } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { ContextMailbox } from './context-mailbox.ts';
import { type KeptRecord, type MessageStore, SHARDS } from './message-store.ts';

const DAY_MS = 86_400_000;
/** No message is removed earlier, whatever their number. */
const LEAST_DAYS = 30;
/** One of the folders is looked at in this time, all of them in less than two days. */
const SWEEP_MS = 600_000;

export type RetentionRule = {
  keep_days: number;
  /** Most records of the store; each of its folders may have its share. */
  keep_count: number;
};

/** The records of one folder that may go: those that are too old, and the oldest of too many. */
export function expiredOf(
  records: readonly KeptRecord[],
  { keep_days, keep_count }: RetentionRule,
  now: number,
): string[] {
  const oldest = records.toSorted((a, b) => a.changed_at - b.changed_at);
  const surplus = oldest.length - Math.ceil(keep_count / SHARDS);
  return oldest
    .filter(({ changed_at }, nth) => {
      const days = (now - changed_at) / DAY_MS;
      return days > LEAST_DAYS && (days > keep_days || nth < surplus);
    })
    .map(({ name }) => name);
}

/** Removes the expired records of one folder that are at their end; how many. */
export function sweepFolder(store: MessageStore, folder: number, rule: RetentionRule, now: number): number {
  return expiredOf(store.records(folder), rule, now).filter((name) => store.discard(name)).length;
}

/**
 * Sweeps the folders in turn, one at a time. The clock decides which is next, so that a daemon that is often started
 * comes to each of them. Context that waits for longer than messages are kept is removed too.
 */
export function startRetention(options: {
  store: MessageStore;
  mailbox: ContextMailbox;
  rule: RetentionRule;
  clock: Clock;
  logger: Logger;
}): () => void {
  const { store, mailbox, rule, clock, logger } = options;
  return everySteady(clock, SWEEP_MS, (now) => {
    try {
      const removed =
        sweepFolder(store, Math.floor(now / SWEEP_MS) % SHARDS, rule, now) +
        mailbox.removeOlder(now - rule.keep_days * DAY_MS);
      if (removed > 0) logger.info({ removed }, 'old messages were removed');
    } catch (error) {
      logger.warn({ detail: messageOf(error) }, 'old messages were not removed');
    }
  });
}
