import { isCoded } from '../../../base/errors.ts';
import { shellLine } from '../../../base/shell-word.ts';
import { type State, stateSchema, type WorkerMemoryView } from '../../../contract/http/state.ts';
import { showBytes } from '../../../contract/memory-max.ts';
import { muxOwnerWords } from '../../command-line/screen-words.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';

type Mux = State['poll_health']['mux'];

/** What started the running tmux server [MUX-4], as the daemon reports it; empty if no daemon answers. */
export const checkMuxServer: Check = async ({ daemon: found, settings }) => {
  if (found.kind !== 'running') return [];
  try {
    const { poll_health, incidents, worker_memory } = await createDaemonClient(found.daemon).get(
      '/state',
      stateSchema,
    );
    return [
      ...server(poll_health.mux, settings.tmux_socket),
      memory(worker_memory),
      priority(settings.worker_nice),
      ...incidents.map(incident),
    ];
  } catch (error) {
    // Another check reports a daemon that does not answer.
    if (isCoded(error)) return [];
    throw error;
  }
};

/** What the daemon does not list, it cannot start or end either. */
function server({ state, detail, owner: found }: Mux, socket: string | null): Finding[] {
  if (state !== 'unknown') return owner(found);
  const list = shellLine(['tmux', ...(socket === null ? [] : ['-S', socket]), 'list-panes', '-a']);
  return [
    fail(
      'tmux server',
      `the daemon cannot list its sessions, and starts nothing: ${detail ?? 'tmux does not answer'}`,
      `mend what this command says, in the shell of the daemon: ${list}`,
    ),
  ];
}

function owner(found: { kind: string; name: string | null }): Finding[] {
  if (found.kind === 'daemon_born')
    return [
      warn(
        'tmux server',
        `tmux ${muxOwnerWords(found)} and ends with its service, with all workers`,
        'when no worker runs, end the server and start one from your own terminal: tmux new-session -d -s svc-anchor',
      ),
    ];
  return [ok('tmux server', `tmux ${muxOwnerWords(found)}`)];
}

/** The mechanism that limits the memory of workers, and the limits. */
function memory({ mechanism, detail, worker_bytes, total_bytes }: WorkerMemoryView): Finding {
  if (worker_bytes === null && total_bytes === null)
    return ok('worker memory', 'off: host.json turns both limits off; an agent may have one of its own');
  if (mechanism === 'none')
    return warn(
      'worker memory',
      `not limited: ${detail}; one worker can use up the memory of all`,
      'run the daemon where systemd answers or its control group is delegated, or let fewer workers run at once (max_concurrent in host.json)',
    );
  const show = (bytes: number | null) => (bytes === null ? 'no limit' : showBytes(bytes));
  return ok(
    'worker memory',
    `${mechanism} (${detail}): ${show(worker_bytes)} for each worker, ${show(total_bytes)} for all together`,
  );
}

function priority(nice: number): Finding {
  return ok(
    'worker priority',
    nice === 0
      ? 'as that of the daemon: SVC_WORKER_NICE is 0'
      : `nice ${nice}: on a busy machine the daemon goes before its workers`,
  );
}

function incident({ id, fibers, message }: State['incidents'][number]): Finding {
  return warn(
    'incident',
    message === undefined
      ? `${fibers.length} workers went down together (${id})`
      : `a worker was ${message} (${id})`,
    `start them again with: svc incident resume ${id}`,
  );
}
