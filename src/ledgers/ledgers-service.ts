import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { LedgersState } from '../contract/http/state.ts';
import type { SessionLine } from '../contract/ledger.ts';
import { SessionsLedger } from './sessions-ledger.ts';

/** Between two looks at the files when nobody asks, so that an answer finds little left to read. */
const REFRESH_MS = 2_000;

export type LedgersService = {
  state(): LedgersState;
  /** Sessions as of now, oldest first (TMP-2). */
  sessions(uid?: string): SessionLine[];
  /** Lines of one harness session as of now, oldest first. */
  linesOf(session: string): SessionLine[];
  stop(): void;
};

/** Keeps the ledgers indexed. Every answer is as fresh as the files; a file that cannot be read is an error. */
export function startLedgersService(options: {
  sessions_file: string;
  clock: Clock;
  logger: Logger;
}): LedgersService {
  const ledger = new SessionsLedger({ path: options.sessions_file });
  let lastProblem: string | null = null;
  const cancel = options.clock.every(REFRESH_MS, () => {
    try {
      ledger.refresh();
      lastProblem = null;
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== lastProblem) options.logger.warn({ err: error }, 'a ledger cannot be read');
      lastProblem = problem;
    }
  });
  return {
    state() {
      ledger.refresh();
      return { sessions: { entries: ledger.entries, malformed: ledger.malformed, bytes: ledger.bytes } };
    },
    sessions(uid) {
      ledger.refresh();
      return ledger.sessions(uid);
    },
    linesOf(session) {
      ledger.refresh();
      return ledger.linesOf(session);
    },
    stop: cancel,
  };
}

/** Where the sessions ledger lies: its own setting, else in the data dir. */
export function sessionsFile(settings: { sessions_file: string | null; data_dir: string }): string {
  return settings.sessions_file ?? join(settings.data_dir, 'sessions.jsonl');
}
