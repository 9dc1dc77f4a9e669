import { CodedError } from '../../../base/errors.ts';
import type { Settings } from '../../../config/settings.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { printJson } from '../../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
import { processLife, signalProcess } from '../../daemon-client/daemon-process.ts';
import { waitFor } from '../../wait.ts';

/** Stops the daemon; one that does not run counts as stopped. */
export async function runStop(
  context: CliContext,
  settings: Settings,
  options: { timeout: number; json?: boolean },
): Promise<ExitCode> {
  const stopped = await stopDaemon(context, settings, options.timeout);
  if (options.json) printJson(context, stopped);
  else context.out(describe(stopped));
  return EXIT.ok;
}

/** `workers`: sessions that go on without the daemon; null where it could not be asked before it ended. */
export type Stopped = { stopped: boolean; pid: number | null; workers: string[] | null };

/** Ends the daemon of this data folder and waits for its end; throws `deadline_exceeded` where it stays. */
export async function stopDaemon(context: CliContext, settings: Settings, timeout: number): Promise<Stopped> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running') return { stopped: false, pid: null, workers: null };
  const { daemon } = found;
  const workers = await runningWorkers(daemon);
  await signalProcess(daemon, 'SIGTERM');
  const ended = await waitFor(context.clock, timeout * 1000, async () =>
    (await processLife(daemon)) === 'gone' ? true : undefined,
  );
  if (ended === undefined)
    throw new CodedError(
      'deadline_exceeded',
      `the daemon (pid ${daemon.pid}) still runs after ${timeout} s; wait longer with --timeout, or end it with: kill -9 ${daemon.pid}`,
      { details: { pid: daemon.pid } },
    );
  return { stopped: true, pid: daemon.pid, workers };
}

async function runningWorkers(daemon: DaemonFile): Promise<string[] | null> {
  try {
    const { running } = await createDaemonClient(daemon).get('/state', stateSchema);
    return running.map((run) => run.mux_session ?? run.fiber_id);
  } catch {
    // A daemon that hangs or still boots must be stoppable all the same.
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
