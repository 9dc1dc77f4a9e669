import { z } from 'zod';
import { sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { whileTelling } from '../../command-line/spinner.ts';
import { type CliContext, defineVerb } from '../../command-line/verb.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { findDaemon, requireSeen } from '../../daemon-client/daemon-file.ts';
import { processLife, signalProcess } from '../../daemon-client/daemon-process.ts';
import { timeout } from './start.ts';

const LOOK_EVERY_MS = 50;

/** `workers`: sessions that keep running without the daemon; null if it did not answer before it ended. */
const stoppedSchema = z.object({
  stopped: z.boolean(),
  pid: z.number().nullable(),
  workers: z.array(z.string()).nullable(),
});
type Stopped = z.infer<typeof stoppedSchema>;
/** The same with what a person calls these workers. */
type StoppedWith = Stopped & { names: readonly string[] };

/** `svc daemon stop`: stops the daemon; succeeds if none runs. */
export const verb = defineVerb({
  summary: 'Stop the daemon; workers keep running',
  options: { timeout: timeout('seconds to wait for its end') },
  examples: [['svc daemon stop', 'the workers keep running']],
  page: 'daemon.md',
  json: stoppedSchema,
  async run(context, given) {
    const { names, ...stopped } = await stopDaemon(context, readSettings(context.env), given.timeout);
    return { json: stopped, text: describe(stopped, names) };
  },
});

/** Ends the daemon of this data folder and waits for its end; throws `deadline_exceeded` if it does not end. */
export async function stopDaemon(
  context: CliContext,
  settings: Settings,
  seconds: number,
): Promise<StoppedWith> {
  const found = await findDaemon(settings);
  requireSeen(found);
  if (found.kind !== 'running') return { stopped: false, pid: null, workers: null, names: [] };
  const { daemon } = found;
  const workers = await runningWorkers(daemon);
  await signalProcess(daemon, 'SIGTERM');
  const end = context.clock.now() + seconds * 1000;
  await whileTelling(context, 'The daemon stops', async () => {
    while ((await processLife(daemon)) !== 'gone' && context.clock.now() < end)
      await sleep(context.clock, LOOK_EVERY_MS);
  });
  if ((await processLife(daemon)) !== 'gone')
    throw new CodedError(
      'deadline_exceeded',
      `the daemon (pid ${daemon.pid}) still runs after ${seconds} s; do the same again to wait longer, or end it with: kill -9 ${daemon.pid}`,
      { details: { pid: daemon.pid } },
    );
  return {
    ...{ stopped: true, pid: daemon.pid },
    workers: workers?.map(({ session }) => session) ?? null,
    names: workers?.map(({ name }) => name) ?? [],
  };
}

type Left = { session: string; name: string };

/** What goes on without the daemon; a capture has no fiber yet, so that only its session names it. */
function leftBy({ running, captures }: State): Left[] {
  return [
    ...running.map(({ mux_session, fiber_id }) => ({ session: mux_session ?? fiber_id, name: fiber_id })),
    ...captures.flatMap(({ state, mux_session }) =>
      state === 'ended' || mux_session == null ? [] : [{ session: mux_session, name: mux_session }],
    ),
  ];
}

async function runningWorkers(daemon: DaemonFile): Promise<Left[] | null> {
  try {
    return leftBy(await createDaemonClient(daemon).get('/state', stateSchema));
  } catch {
    // It must be possible to stop a daemon that hangs or is starting.
    return null;
  }
}

/** How many of the workers that keep running are named; a host may have hundreds. */
const NAMED = 10;

function describe({ stopped, workers }: Stopped, names: readonly string[]): string {
  if (!stopped) return 'No daemon runs.\n';
  const done = 'The daemon has stopped.\n';
  if (workers === null) return `${done}Workers that ran keep running.\n`;
  if (workers.length === 0) return `${done}No worker was running.\n`;
  const named = names.slice(0, NAMED).map((id) => `  ${id}\n`);
  const more = names.length - named.length;
  const rest = more === 0 ? '' : `  and ${more} more\n`;
  return `${done}These workers keep running:\n${named.join('')}${rest}`;
}
