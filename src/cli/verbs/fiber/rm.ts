import { z } from 'zod';
import { CodedError, isCoded } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import { killedSchema } from '../../../contract/http/dispatch.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import { rehearsedRemoval } from '../../../fibers/rehearsed-write.ts';
import type { Store } from '../../../fibers/store.ts';
import { DRY_RUN, FIBER, option, STORE } from '../../command-line/options.ts';
import { rehearsed } from '../../command-line/rehearsal.ts';
import { type Answer, defineVerb } from '../../command-line/verb.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';
import { atItsPlace, type FiberElsewhere } from '../../fiber-place.ts';
import { daemonOf } from '../lifecycle/write.ts';

/** `svc fiber rm <id>`: removes a document; its attachments and children only with `--recursive`. */
export const verb = defineVerb({
  summary: 'Remove a fiber',
  arguments: { fiber: FIBER },
  options: {
    recursive: option('--recursive', 'remove its companions and children too'),
    kill: option('--kill', 'stop its worker first; without it a fiber with a worker stays'),
    store: STORE,
    dry_run: DRY_RUN,
  },
  examples: [['svc fiber rm say-hello --dry-run', 'shows what would be removed']],
  asks: () => true,
  json: z.object({ removed: z.object({ id: z.string(), path: z.string() }) }),
  run: (context, { recursive, kill, dry_run, ...named }) =>
    atItsPlace<Answer>(context, named, {
      async here({ store, id }) {
        const planned = store.planRemove(id, { recursive });
        const daemon = await daemonOf(context, store.root);
        const workers = daemon === null ? [] : await workersOf(daemon, store.root, id);
        if (workers.length > 0 && kill !== true) throw withWorkers(id, workers);
        if (dry_run === true) {
          const shown = rehearsedRemoval(planned, textOf(store, planned.path));
          const ends = workers.map(({ fiber_id, mux_session }) => mux_session ?? fiber_id);
          const would = ends.length === 0 ? shown.would : `stop what works on it, and ${shown.would}`;
          return rehearsed({ ...shown, would, ends });
        }
        for (const worker of workers) await stop(daemon, worker);
        const removed = await store.remove(id, { recursive });
        return { json: { removed }, text: `Removed ${removed.path}\n`, one_line: true };
      },
      async elsewhere(fiber) {
        throw onOtherHost(fiber);
      },
    }),
});

function onOtherHost({ host, fiber }: FiberElsewhere): CodedError {
  return new CodedError(
    'wrong_host',
    `a fiber is removed on its own host only; on ${host} run: svc fiber rm ${shellWord(fiber)}`,
  );
}

type Worker = State['running'][number];

/** The workers of the fiber and of those below it. */
async function workersOf(daemon: DaemonClient, root: string, id: string): Promise<Worker[]> {
  const { running } = await daemon.get('/state', stateSchema);
  return running.filter(
    ({ store, fiber_id }) => store === root && (fiber_id === id || fiber_id.startsWith(`${id}/`)),
  );
}

/** One that has ended meanwhile is no fault. */
async function stop(daemon: DaemonClient | null, { fiber_id, uid }: Worker): Promise<void> {
  try {
    await daemon?.post('/kill', { fiber_id: uid ?? fiber_id }, killedSchema);
  } catch (error) {
    if (!isCoded(error, 'no_worker')) throw error;
  }
}

function withWorkers(id: string, workers: readonly Worker[]): CodedError {
  const names = workers.map(({ fiber_id, mux_session }) => `${fiber_id} (${mux_session ?? 'in the app'})`);
  return new CodedError(
    'worker_exists',
    `"${id}" was not removed, because a worker runs for ${names.join(', ')}; wait for its end, or stop it too with --kill`,
    { details: { fibers: workers.map(({ fiber_id }) => fiber_id) } },
  );
}

/** Null for a document that cannot be read, which can be removed all the same. */
function textOf(store: Store, path: string): string | null {
  try {
    return store.readBytes(path).toString('utf8');
  } catch (error) {
    if (isCoded(error)) return null;
    throw error;
  }
}
