import type { z } from 'zod';
import { sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { stateSchema, storeHealthSchema } from '../../../contract/http/state.ts';
import type { CliContext } from '../../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
import { startDaemon } from '../daemon/start.ts';

/** Seconds without an answer of a daemon that starts, after which to give up. */
const SILENCE_S = 30;
/** How long a daemon may take to take up a store, and between two looks, in milliseconds. */
const TAKE_UP_MS = 30_000;
const LOOK_MS = 100;
/** How long the first listing of a store may take. A start that comes before it is refused, and says why. */
const LISTING_MS = 10_000;

/** What of `GET /state` names the stores that are polled. */
const polledSchema = stateSchema.pick({ poll_health: true });
type Polled = z.output<typeof polledSchema>['poll_health']['stores'][number];

/** The daemon, which is started where none runs; the demo is one that a person starts in a terminal. */
export async function readyDaemon(context: CliContext): Promise<{ daemon: DaemonClient; started: boolean }> {
  const settings = readSettings(context.env);
  const started = !settings.demo && (await findDaemon(settings)).kind !== 'running';
  if (started) await startDaemon(context, settings, SILENCE_S);
  return { daemon: await connectDaemon(settings), started };
}

/** Waits until the daemon works on a store and has listed it; throws `store_unavailable` where it does not come to that. */
export async function untilPolled(context: CliContext, daemon: DaemonClient, root: string): Promise<void> {
  const until = context.clock.now() + TAKE_UP_MS;
  let listed_until: number | null = null;
  for (;;) {
    const { poll_health } = await daemon.get('/state', polledSchema);
    const polled = poll_health.stores.find(({ store }) => store === root);
    if (polled !== undefined) {
      // After a failure the daemon waits, and longer each time.
      if (listed_until === null && polled.state !== 'ok' && polled.error !== null)
        await daemon.post('/fiber-stores/sweep', { store: root }, storeHealthSchema);
      listed_until ??= context.clock.now() + LISTING_MS;
      if (isListed(polled) || context.clock.now() >= listed_until) return;
    } else if (context.clock.now() >= until)
      throw new CodedError(
        'store_unavailable',
        `the daemon does not work on the store ${root}; it was started with other settings, so restart it from this shell: svc daemon restart`,
      );
    await sleep(context.clock, LOOK_MS);
  }
}

/** Whether the daemon knows of the store what a start asks for: that it is readable, and whose it is. */
function isListed({ last_ok_at, error, lease }: Polled): boolean {
  return error !== null || (last_ok_at !== null && lease.state !== 'unknown');
}
