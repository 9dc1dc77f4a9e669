import type { Settings } from '../src/config/settings.ts';
import { ledgersCalls, ledgersEvents } from '../src/contract/threads/ledgers.ts';
import { sessionsFile, startLedgersService } from '../src/ledgers/ledgers-service.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<Settings, typeof ledgersCalls, typeof ledgersEvents>({
  name: 'ledgers',
  calls: ledgersCalls,
  events: ledgersEvents,
  async start({ settings, clock, logger }) {
    const service = startLedgersService({ sessions_file: sessionsFile(settings), clock, logger });
    return {
      handlers: {
        state: () => service.state(),
        sessions: ({ uid }) => ({ sessions: service.sessions(uid) }),
        lines_of_session: ({ session }) => ({ lines: service.linesOf(session) }),
      },
      stop: async () => service.stop(),
    };
  },
});
