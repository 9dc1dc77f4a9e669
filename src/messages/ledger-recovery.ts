import { setImmediate } from 'node:timers/promises';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type LedgerWriter, lineOf, stageOf } from './ledger-writer.ts';
import type { MessageStore } from './message-store.ts';

/** After a power loss, the last lines may be missing: file systems write appended bytes within half a minute. */
const UNWRITTEN_MS = 60_000;

/**
 * Adds the lines that an earlier daemon could not write before it ended, and all of them where there is no ledger. Only
 * records that were changed since about the last line are read. Never rejects.
 */
export async function writeMissingLines(options: {
  ledger: LedgerWriter;
  store: MessageStore;
  now: number;
  logger: Logger;
}): Promise<void> {
  const { ledger, store, now, logger } = options;
  try {
    const from = (ledger.writtenAt() ?? 0) - UNWRITTEN_MS;
    const written = new Set(ledger.since(from - UNWRITTEN_MS).map(stageOf));
    for (const records of store.changed({ from, until: now })) {
      const lines = records.map(lineOf).filter((line) => !written.has(stageOf(line)));
      for (const line of lines.toSorted((a, b) => a.sent_at - b.sent_at)) ledger.add(line);
      await setImmediate();
    }
  } catch (error) {
    logger.warn({ detail: messageOf(error) }, 'the messages ledger was not compared with the messages');
  }
}
