import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { sleep, within } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { requestAskedBy } from '../base/request-scope.ts';
import { HoldFiles } from '../config/hold-files.ts';
import { dataPaths } from '../config/paths.ts';
import type { pollerCalls, pollerEvents } from '../contract/threads/poller.ts';
import { StoreIndex } from '../fibers/store-index.ts';
import { watchStore } from '../fibers/watch.ts';
import type { Disks } from '../platform/disks.ts';
import { threadDisks } from '../platform/foreign-paths.ts';
import { createRunner } from '../platform/process.ts';
import type { ComponentContext, RunningComponent } from '../threads/worker-main.ts';
import { Dispatcher } from './dispatcher.ts';
import { createMessageSender } from './due/message-sender.ts';
import { Feed } from './feed.ts';
import { Brake } from './holds/brake.ts';
import { BreakerBook } from './holds/breaker-book.ts';
import { DataDirWatch } from './holds/data-dir-watch.ts';
import { IncidentBook } from './holds/incidents.ts';
import { LastDeaths } from './holds/last-deaths.ts';
import type { Memory } from './holds/memory.ts';
import { Quarantine } from './holds/quarantine.ts';
import { Refusals } from './holds/refusals.ts';
import { UsageLimitBook } from './holds/usage-limit-book.ts';
import { PollLoop } from './poll-loop.ts';
import { pollerHandlers } from './poller-handlers.ts';
import { OperatorCalls } from './requests/operator-calls.ts';
import { Rows } from './rows.ts';
import { Runs } from './run/runs.ts';
import { StoreDocuments } from './stores/store-documents.ts';
import { StoreLeases } from './stores/store-leases.ts';
import { StorePoll } from './stores/store-poll.ts';
import { StoresOnDisk } from './stores/stores-on-disk.ts';
import { connectWorld } from './surroundings.ts';
import type { PollerSettings } from './world/poller-settings.ts';

/** A store that does not answer holds up the start no longer than this, in milliseconds; it is then shown cold. */
const FIRST_TICK_LIMIT_MS = 3_000;
/** How long the watch of the workers waits for a look at the operator files, in milliseconds. */
const LOOK_LIMIT_MS = 1_000;
/** How soon a disk that did not answer at the start is asked again, in milliseconds. */
const LOOK_AGAIN_MS = 500;

type Context = ComponentContext<PollerSettings, typeof pollerEvents>;

/** How the poller reaches this machine. */
export type PollerPorts = {
  connect: typeof connectWorld;
  watch: typeof watchStore;
  disks(): Disks;
};

/** Starts the poller: the stores, the multiplexer, the dispatch state machine, and their rhythm. */
export async function startPoller(
  context: Context,
  ports: PollerPorts = { connect: connectWorld, watch: watchStore, disks: threadDisks },
): Promise<RunningComponent<typeof pollerCalls>> {
  const { settings, clock, logger } = context;
  const index = new StoreIndex();
  const owner = { name: 'poller', generation: clock.now() };
  // A write can move a row before the rows exist; nothing is written before the first tick.
  let onRow: (path: string, written: boolean) => void = () => {};
  let onLateRow: (path: string) => void = () => {};
  const runner = createRunner();
  const disks = ports.disks();
  // Nothing starts before the files were read once: without them, another agent would be found than the one that is meant.
  const readFirst = async (file: { look(): Promise<boolean> }) => {
    while (!(await file.look())) await sleep(clock, LOOK_AGAIN_MS);
  };
  const stores = new StoresOnDisk(settings, { roots: settings.store_roots, disks, logger });
  await readFirst(stores);
  const documents = new StoreDocuments({
    index,
    roots: stores.roots,
    store: { clock, owner, follow: (root) => stores.follows(root), answering: () => disks.answering() },
    pool: context.pool,
    logger,
    isSilent: (root) => disks.isSilent(join(root, '.fibers')),
    onRow: (path, written) => onRow(path, written),
    onLateRow: (path) => onLateRow(path),
  });
  let serverPid: () => number | null = () => null;
  const surroundings = await ports.connect({
    settings,
    clock,
    logger,
    documents,
    roots: () => stores.roots,
    sendMessage: createMessageSender(context),
    serverPid: () => serverPid(),
    runner,
    disks,
  });
  const { world, agents } = surroundings;
  await readFirst(agents);
  const leases = new StoreLeases({
    folder: settings.runtime_folder,
    host: settings.host_id,
    owner,
    about: { data_dir: settings.data_dir, since: new Date(settings.booted_at).toISOString() },
    pool: context.pool,
    deadline_ms: settings.listing_timeout_ms,
    logger,
  });
  const data_dir = new DataDirWatch({
    mark: settings.data_dir_mark,
    logger,
    onChange: (fault) => context.notify('data_dir_changed', { fault }),
  });
  const memory: Memory = {
    runs: new Runs(),
    refusals: new Refusals(),
    quarantine: new Quarantine({
      files: new HoldFiles({ folder: dataPaths(settings).holds_dir, logger }),
      logger,
      now: clock.now(),
      // The folder is made with the first start of a worker, and stays.
      first_start: !existsSync(dataPaths(settings).runs_dir),
    }),
    breaker: new BreakerBook({
      path: surroundings.breakerFile,
      policy: {
        deaths: settings.breaker_deaths,
        quick_ends: settings.breaker_quick_ends,
        quick_ms: settings.breaker_quick_ms,
        pauses_ms: [settings.breaker_pause_ms, settings.breaker_long_pause_ms],
      },
      logger,
    }),
    incidents: new IncidentBook({ path: surroundings.incidentsFile, logger }),
    deaths: new LastDeaths(),
    not_ours: new Map(),
    starting: new Set(),
    unconcluded: new Map(),
    leases,
    data_dir,
    brake: new Brake({
      path: dataPaths(settings).brake_file,
      logger,
      onChange: () => context.notify('brake_changed', {}),
    }),
    mux_answers: false,
    adopted: false,
    most_workers: settings.max_concurrent,
    place_kept_ms: settings.count_resting ? null : settings.place_kept_ms,
    starts: surroundings.startGate(),
    owed: new Map(),
    limits: new UsageLimitBook({ path: surroundings.usageLimitsFile, logger }),
  };
  if (settings.demo) memory.quarantine.release(clock.now());

  const feed = new Feed({ host: world.host, nonce: ulid(clock.now()), now: clock.now() });
  const tellFeed = createFeedNotice(context, feed);
  const rows = new Rows({ world, memory, index, feed, onFeedMoved: tellFeed });
  onRow = (path, written) => rows.documentsMoved([path], written ? (requestAskedBy() ?? 'daemon') : null);
  const dispatcher = new Dispatcher(world, memory, (keys) => rows.runtimeMoved(keys));
  serverPid = () => (dispatcher.listing.kind === 'alive' ? (dispatcher.listing.server?.pid ?? null) : null);
  const loop = new PollLoop({
    world,
    index,
    documents,
    roots: () => stores.roots,
    async lookAtFiles() {
      await within(clock, LOOK_LIMIT_MS, Promise.all([stores.look(), agents.look()]));
    },
    leases,
    memory,
    pollOf: (root) =>
      new StorePoll({ root, clock, logger, disks, pool: context.pool, follow: () => stores.follows(root) }),
    dispatcher,
    rows,
    onFirstListing: (root) => void finishMoves(root, documents, logger),
    watch: ports.watch,
  });
  onLateRow = (path) => loop.followMoved(path);
  const operator = new OperatorCalls({
    settings,
    stores,
    surroundings,
    disks,
    clock,
    pool: context.pool,
    owner,
    onStores: () => loop.takeUpStores(),
  });
  const started = loop.start();
  await Promise.race([started, sleep(clock, FIRST_TICK_LIMIT_MS)]);
  return {
    handlers: pollerHandlers({
      world,
      memory,
      dispatcher,
      documents,
      feed,
      rows,
      loop,
      settings,
      surroundings,
      operator,
    }),
    async stop() {
      operator.stop();
      // A start that waits for a disk would keep the others waiting.
      disks.stop();
      await loop.stop();
      await dispatcher.stop();
      leases.release();
      await surroundings.hooks.stop();
      world.app?.close();
      world.workerMemory.close();
      await world.mux
        .stop()
        .catch((error) => logger.warn({ detail: messageOf(error) }, 'tmux was not left cleanly'));
    },
  };
}

/** A move of a fiber that a crash cut short is finished. */
async function finishMoves(root: string, documents: StoreDocuments, logger: Logger): Promise<void> {
  try {
    await documents.finishMoves(root);
  } catch (error) {
    logger.warn({ store: root, detail: messageOf(error) }, 'a move was not finished');
  }
}

/** Tells the main thread that the feed moved: once for everything that moves within one step. */
function createFeedNotice(context: Context, feed: Feed): () => void {
  let told = false;
  return () => {
    if (told) return;
    told = true;
    // A microtask, not a later turn: the notice must leave before the reply to the call that moved the feed.
    queueMicrotask(() => {
      told = false;
      const { value, bytes } = feed.notice();
      context.notify('feed_changed', value, bytes);
    });
  };
}
