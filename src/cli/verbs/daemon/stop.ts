import { z } from 'zod';
import { sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { type CliContext, defineVerb } from '../../command-line/verb.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
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

/** `svc daemon stop`: stops the daemon; succeeds if none runs. */
export const verb = defineVerb({
  summary: 'Stop the daemon; workers keep running',
  options: { timeout: timeout('seconds to wait for its end') },
  examples: [['svc daemon stop', 'the workers keep running']],
  page: 'daemon.md',
  json: stoppedSchema,
  async run(context, given) {
    const stopped = await stopDaemon(context, readSettings(context.env), given.timeout);
    return { json: stopped, text: describe(stopped) };
  },
});

/** Ends the daemon of this data folder and waits for its end; throws `deadline_exceeded` if it does not end. */
export async function stopDaemon(context: CliContext, settings: Settings, seconds: number): Promise<Stopped> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running') return { stopped: false, pid: null, workers: null };
  const { daemon } = found;
  const workers = await runningWorkers(daemon);
  await signalProcess(daemon, 'SIGTERM');
  const end = context.clock.now() + seconds * 1000;
  while ((await processLife(daemon)) !== 'gone' && context.clock.now() < end)
    await sleep(context.clock, LOOK_EVERY_MS);
  if ((await processLife(daemon)) !== 'gone')
    throw new CodedError(
      'deadline_exceeded',
      `the daemon (pid ${daemon.pid}) still runs after ${seconds} s; wait longer with --timeout, or end it with: kill -9 ${daemon.pid}`,
      { details: { pid: daemon.pid } },
    );
  return { stopped: true, pid: daemon.pid, workers };
}

async function runningWorkers(daemon: DaemonFile): Promise<string[] | null> {
  try {
    const { running } = await createDaemonClient(daemon).get('/state', stateSchema);
    return running.map((run) => run.mux_session ?? run.fiber_id);
  } catch {
    // It must be possible to stop a daemon that hangs or is starting.
    return null;
  }
}

function describe({ stopped, pid, workers }: Stopped): string {
  if (!stopped) return 'No daemon runs.\n';
  const done = `The daemon (pid ${pid}) has stopped.\n`;
  if (workers === null) return `${done}Workers that ran keep running.\n`;
  if (workers.length === 0) return `${done}No worker was running.\n`;
  return `${done}These workers keep running:\n${workers.map((name) => `  ${name}\n`).join('')}`;
}
