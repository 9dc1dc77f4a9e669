import { sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
import { startDaemon } from '../daemon/start.ts';

/** Seconds without an answer of a daemon that starts, after which to give up. */
const SILENCE_S = 30;
/** How long a daemon may take to take up a store, and between two looks, in milliseconds. */
const TAKE_UP_MS = 30_000;
const LOOK_MS = 100;

/** What of `GET /state` names the stores that are polled. */
const polledSchema = stateSchema.pick({ poll_health: true });

/** The daemon, which is started where none runs; the demo is one that a person starts in a terminal. */
export async function readyDaemon(context: CliContext): Promise<{ daemon: DaemonClient; started: boolean }> {
  const settings = readSettings(context.env);
  const started = !settings.demo && (await findDaemon(settings)).kind !== 'running';
  if (started) await startDaemon(context, settings, SILENCE_S);
  return { daemon: await connectDaemon(settings), started };
}

/** Waits until the daemon works on a store; throws `store_unavailable` where it does not come to that. */
export async function untilPolled(context: CliContext, daemon: DaemonClient, root: string): Promise<void> {
  const until = context.clock.now() + TAKE_UP_MS;
  for (;;) {
    const { poll_health } = await daemon.get('/state', polledSchema);
    if (poll_health.stores.some(({ store }) => store === root)) return;
    if (context.clock.now() >= until)
      throw new CodedError(
        'store_unavailable',
        `the daemon does not work on the store ${root}; it was started with other settings, so restart it from this shell: svc daemon restart`,
      );
    await sleep(context.clock, LOOK_MS);
  }
}
