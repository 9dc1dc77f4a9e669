import { randomUUID } from 'node:crypto';
import type { Settings } from '../src/config/settings.ts';
import { ledgersCalls, ledgersEvents } from '../src/contract/threads/ledgers.ts';
import { type Body, ledgerFiles, startLedgersService } from '../src/ledgers/ledgers-service.ts';
import { withBulk } from '../src/threads/bulk.ts';
import { stepBack } from '../src/threads/thread-priority.ts';
import { runComponent } from '../src/threads/worker-main.ts';

// A first reading of the events is half a second of work, which answers to others must not wait for.
stepBack();
await runComponent<Settings, typeof ledgersCalls, typeof ledgersEvents>({
  name: 'ledgers',
  calls: ledgersCalls,
  events: ledgersEvents,
  async start({ settings, clock, logger, notify }) {
    const service = startLedgersService({
      ...ledgerFiles(settings),
      epoch: randomUUID(),
      clock,
      logger,
      onChanged: (stamps) => notify('ledgers_changed', stamps),
    });
    const finished = async (body: Promise<Body>) => {
      const { etag, bytes } = await body;
      return withBulk({ etag }, bytes);
    };
    return {
      handlers: {
        state: () => service.state(),
        sessions: async ({ uid }) => ({ sessions: await service.sessions(uid) }),
        lines_of_session: async ({ session }) => ({ lines: await service.linesOf(session) }),
        async activity(input) {
          const { value, bytes } = await service.activityBody(input);
          return withBulk(value, bytes);
        },
        sessions_body: (input) => finished(service.sessionsBody(input)),
        commits: (input) => finished(service.commitsBody(input)),
        commits_named: async ({ sha }) => ({ commits: await service.commitsNamed(sha) }),
        sent_files: (input) => finished(service.sentFilesBody(input)),
        conversation: (asked) => service.conversation(asked),
        fiber_life: (input) => finished(service.fiberLifeBody(input)),
      },
      stop: () => service.stop(),
    };
  },
});
