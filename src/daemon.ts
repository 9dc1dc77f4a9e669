import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Clock, sleep } from './base/clock.ts';
import { createDeferred } from './base/deferred.ts';
import { messageOf } from './base/errors.ts';
import { createLogger, type Logger, standardOutput } from './base/logger.ts';
import { dataPaths, operatorFilePaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import type { ComponentView } from './contract/component.ts';
import { audioCalls, audioEvents, audioHears } from './contract/threads/audio.ts';
import { fleetCalls, fleetEvents } from './contract/threads/fleet.ts';
import type { DueMessage } from './contract/threads/host.ts';
import { ledgersCalls, ledgersEvents } from './contract/threads/ledgers.ts';
import { messagesCalls, messagesEvents } from './contract/threads/messages.ts';
import { pollerCalls, pollerEvents } from './contract/threads/poller.ts';
import { poolJobs } from './contract/threads/pool.ts';
import { type BootDecision, decideBoot } from './daemon-boot.ts';
import { openListeners } from './daemon-listeners.ts';
import { type HeldDataDir, holdDataDir } from './daemon-lock.ts';
import { findSkew } from './daemon-skew.ts';
import { createTailnetSide } from './daemon-tailnet.ts';
import { createHttpServer } from './http/server.ts';
import { readBuildStamp } from './platform/build-stamp.ts';
import { createFileReader } from './platform/file-reader.ts';
import { mayFollow, requireAnswer, threadDisks } from './platform/foreign-paths.ts';
import { keepSweepingTemporaries } from './platform/left-temporaries.ts';
import { packageRoot } from './platform/package-root.ts';
import { processStartTime } from './platform/process-facts.ts';
import { createBootingGate } from './routes/booting.ts';
import type { RouteContext } from './routes/context.ts';
import { RequestFigures } from './routes/request-figures.ts';
import { createRoute } from './routes/routing.ts';
import { createRoutes } from './routes/table.ts';
import { createPoolComponent } from './threads/pool.ts';
import { hostHandlers } from './threads/pool-caller.ts';
import { createSupervisor } from './threads/supervisor.ts';
import { createThreadComponent, type ThreadComponent } from './threads/thread-component.ts';
import { followThreads } from './threads/threads-left.ts';
import { WORKER_URLS } from './threads/worker-urls.ts';

/** Who writes the messages of the daemon itself. */
const OWN_NAME = 'Fiber Dispatch';
/** Back-off between two starts of one component, in milliseconds. */
const RESTART_BACKOFF = { first: 100, most: 10_000 };
/**
 * The fleet thread keeps the rows of other hosts outside its heap. What it allocates is garbage at once; with half of the
 * limit of other threads, the engine collects it after the heap has grown by a half, and not to four times its size.
 */
const FLEET_YOUNG_MB = 6;
/** The poller starts last: a component that waited for it in its own start would hold it up. */
const AT_ONCE = { at_once: true };
/** How soon a disk that did not answer at the start is asked again, in milliseconds. */
const ASK_AGAIN_MS = 500;
/** How long threads that were told to end may take to leave, in milliseconds. */
const LAST_THREADS_MS = 1_000;

/**
 * The whole life of a daemon: takes the data dir, binds the listener, starts the components in order, serves
 * until a signal, stops them in reverse. Answers the exit code: 0 after a wanted stop, 1 when an essential
 * component was given up. Throws a `CodedError` for what keeps it from starting. `say` gets sentences for the
 * person at the terminal. With a thread that the kernel holds, the process cannot exit; then it ends itself with
 * SIGKILL, after everything is released.
 */
export async function runDaemon(options: {
  settings: Settings;
  clock: Clock;
  say(text: string): void;
  /** Given the addresses once they are bound; the components are not started yet. */
  onListening?(listen: readonly string[]): void;
}): Promise<number> {
  const { settings, clock, say } = options;
  const booted_at = clock.now();
  const logger = createLogger({
    component: 'main',
    level: settings.log_level,
    destination: standardOutput({ sync: false }),
  });
  await requireAnswer(settings.data_dir);
  const held = holdDataDir(settings, process.env, booted_at);
  const threads = followThreads();
  const ending = createDeferred<number>();
  try {
    await untilConfigured(settings, { clock, logger, say });
    const boot = await decideBoot(settings);
    const cli = settings.cli === null ? null : { file: settings.cli, contract: boot.cli_contract };
    const found = await findSkew({ env: process.env, cli });
    const daemon = assemble({
      found,
      settings,
      clock,
      logger,
      boot,
      held,
      booted_at,
      giveUp: () => ending.resolve(1),
    });
    const stopListening = onSignals(clock, (signal) => {
      logger.info({ signal }, 'stopping');
      ending.resolve(0);
    });
    let stopSweeping = () => {};
    try {
      const { server } = daemon;
      const listen = await openListeners({ server, settings, host_class: boot.host_class, logger });
      held.announce({
        pid: process.pid,
        start_time: processStartTime(process.pid),
        listen,
        version: daemon.context.version,
        booted_at: new Date(booted_at).toISOString(),
        boot_id: boot.boot_id,
      });
      logger.info({ listen, host: boot.host, stores: boot.store_roots }, 'listening');
      options.onListening?.(listen);
      void daemon.start();
      stopSweeping = keepSweepingTemporaries({
        // Beside a document, the next write of it does the same.
        folders: [
          { path: settings.data_dir, depth: DATA_DEPTH },
          { path: settings.config_dir, depth: 0 },
        ],
        clock,
        logger,
      });
      const code = await ending.promise;
      say(await daemon.farewell());
      return code;
    } finally {
      stopSweeping();
      await daemon.stop();
      stopListening();
    }
  } finally {
    threads.stop();
    const stuck = await threads.wait(LAST_THREADS_MS);
    held.release();
    if (stuck > 0) await endByForce(say, stuck);
  }
}

/**
 * Waits while the disk of an operator file that decides the start, or of what the daemon keeps, does not answer, and says so
 * once. Messages, attachments and meetings are asked for where they are used.
 */
async function untilConfigured(
  settings: Settings,
  { clock, logger, say }: { clock: Clock; logger: Logger; say(text: string): void },
): Promise<void> {
  const { host, stores } = operatorFilePaths(settings);
  const { messages_dir, attachments_dir, meetings_dir, ...own } = dataPaths(settings);
  const files = [host, stores, ...Object.values(own)];
  for (let is_first = true; ; is_first = false) {
    const proofs = await Promise.all(files.map((file) => mayFollow(file)));
    const silent = files.filter((_, nth) => proofs[nth] !== 'answers');
    if (silent.length === 0) return;
    for (const file of is_first ? silent : []) {
      const detail = `the disk of ${file} does not answer; the daemon starts once it does`;
      logger.error({ file }, detail);
      say(`${detail}.\n`);
    }
    await sleep(clock, ASK_AGAIN_MS);
  }
}

/** Deep enough for every folder that the daemon writes to below its data dir. */
const DATA_DEPTH = 3;

/** An exit joins every thread, and one in an endless system call never comes: no code can be told then. */
async function endByForce(say: (text: string) => void, stuck: number): Promise<void> {
  const left = stuck === 1 ? 'One thread' : `${stuck} threads`;
  say(`${left} did not end: the machine is busy, or a disk does not answer. Ended by SIGKILL.\n`);
  await new Promise<void>((resolve) => {
    process.stdout.write('', () => process.stderr.write('', () => resolve()));
  });
  process.kill(process.pid, 'SIGKILL');
}

/** Makes every long-lived part of the daemon; nothing runs yet. */
function assemble(options: {
  settings: Settings;
  clock: Clock;
  logger: Logger;
  boot: BootDecision;
  /** What does not go with this package. */
  found: Awaited<ReturnType<typeof findSkew>>;
  held: Pick<HeldDataDir, 'mark' | 'runtime_folder'>;
  booted_at: number;
  giveUp(): void;
}) {
  const { settings, clock, logger, boot, found, held, booted_at } = options;
  const { restart_intensity: intensity, restart_window_ms: window_ms } = settings;
  const pool = createPoolComponent({
    url: WORKER_URLS.pool,
    jobs: poolJobs,
    memory_mb: settings.worker_memory_mb,
    thread_deaths: { intensity, window_ms },
    clock,
    logger,
  });
  const host = hostHandlers(pool, {
    message_target: (query) => poller.call('message_target', query, AT_ONCE),
    context_target: (query) => poller.call('context_target', query, AT_ONCE),
    give_app_message: (message) => poller.call('give_app_message', message, AT_ONCE),
    app_message_stage: (query) => poller.call('app_message_stage', query, AT_ONCE),
    send_message(message) {
      sendOwn(message);
      return {};
    },
    start_recorder: (spec) => poller.call('start_recorder', spec, AT_ONCE),
    recorder_session: (query) => poller.call('recorder_session', query, AT_ONCE),
    end_recorder: (query) => poller.call('end_recorder', query, AT_ONCE),
  });
  const shared = { host, memory_mb: settings.worker_memory_mb, clock, logger };
  const ledgers = createThreadComponent({
    ...shared,
    name: 'ledgers',
    url: WORKER_URLS.ledgers,
    calls: ledgersCalls,
    events: ledgersEvents,
    settings,
  });
  const fleet = createThreadComponent({
    ...shared,
    name: 'fleet',
    url: WORKER_URLS.fleet,
    calls: fleetCalls,
    events: fleetEvents,
    settings: { ...settings, host_id: boot.host },
    memory_mb: Math.ceil(settings.worker_memory_mb / 2),
    young_mb: FLEET_YOUNG_MB,
  });
  const access = {
    own_names: [hostname(), boot.host],
    allowed_hosts: settings.allowed_hosts,
    dev_origins: settings.dev_origins,
  };
  const audio = createThreadComponent({
    ...shared,
    name: 'audio',
    url: WORKER_URLS.audio,
    calls: audioCalls,
    events: audioEvents,
    hears: audioHears,
    settings: { ...settings, host_id: boot.host, access },
  });
  const messages: ThreadComponent<typeof messagesCalls, typeof messagesEvents> = createThreadComponent({
    ...shared,
    name: 'messages',
    url: WORKER_URLS.messages,
    calls: messagesCalls,
    events: messagesEvents,
    settings: { ...settings, host_id: boot.host },
  });
  const poller: ThreadComponent<typeof pollerCalls, typeof pollerEvents> = createThreadComponent({
    ...shared,
    name: 'poller',
    url: WORKER_URLS.poller,
    calls: pollerCalls,
    events: pollerEvents,
    essential: true,
    settings: {
      ...settings,
      host_id: boot.host,
      daemon_id: boot.daemon_id,
      booted_at,
      runtime_folder: held.runtime_folder,
      data_dir_mark: held.mark,
      store_roots: boot.store_roots,
      host_class: boot.host_class,
      rebooted: boot.rebooted,
      cli_contract: boot.cli_contract,
      max_concurrent: boot.max_concurrent,
      count_resting: boot.count_resting,
      host_memory: boot.host_memory,
      role_store: boot.role_store,
    },
  });
  const sendOwn = (message: DueMessage): void => {
    const { message_id } = message;
    const sent = messages.call('send', { ...message, from: OWN_NAME, dry_run: false, wake: true, files: [] });
    sent.then(
      (receipt) => {
        if ('status' in receipt && receipt.status === 'rejected')
          logger.warn(
            { message: message_id, reason: receipt.reason },
            'a message of the daemon was not delivered',
          );
      },
      (error: unknown) =>
        logger.warn({ message: message_id, err: messageOf(error) }, 'a message of the daemon was not sent'),
    );
  };
  const supervisor = createSupervisor({
    children: [pool, [ledgers, fleet, audio, messages], poller],
    restart: { intensity, window_ms, backoff: RESTART_BACKOFF },
    heartbeat: { interval_ms: settings.heartbeat_interval_ms, timeout_ms: settings.heartbeat_timeout_ms },
    stop_timeout_ms: settings.stop_timeout_ms,
    clock,
    logger,
    onEssentialFailed(name, lastError) {
      logger.fatal({ child: name, detail: lastError }, 'an essential component cannot be kept running');
      options.giveUp();
    },
  });

  const changes = new Set<() => void>();
  const changed = () => {
    for (const run of changes) run();
  };
  let data_dir_fault: string | null = null;
  poller.onEvent('data_dir_changed', ({ fault }) => {
    data_dir_fault = fault;
    changed();
  });
  const tailnet = createTailnetSide({
    ...{ settings, host_class: boot.host_class, clock, logger, changed },
    bind: (place) => server.listenPrivately(place),
  });
  fleet.onEvent('tailnet_changed', (known) => tailnet.follow(known));
  const requests = new RequestFigures();
  let ready_ms: number | null = null;
  for (const { of, where, what, mend } of found.skew)
    logger.warn({ skew: of, where }, `${where ?? 'this package'}: ${what}; fix: ${mend}`);
  const context: RouteContext = {
    ...readBuildStamp(),
    host: boot.host,
    host_class: boot.host_class,
    ...found,
    booted_at,
    pid: process.pid,
    node: process.versions.node,
    remote_answer_ms: settings.remote_answer_ms,
    ui_dist: settings.ui_dist ?? join(packageRoot(), 'dist', 'board'),
    agents_file: operatorFilePaths(settings).agents,
    operator_files: operatorFilePaths(settings),
    attachments_dir: dataPaths(settings).attachments_dir,
    sessions_file: dataPaths(settings).sessions_file,
    spend_dir: dataPaths(settings).spend_dir,
    clock,
    listen: () => [...server.addresses(), ...tailnet.addresses()],
    server: () => server.kind(),
    peer_gate: () => server.peerGate(),
    tailnet: () => tailnet.view(),
    ready_ms: () => ready_ms,
    components: () => [...supervisor.views(), ...dataDirView(data_dir_fault, booted_at)],
    async describeApi() {
      const { bulk } = await pool.run('describe_api', { version: context.version });
      if (bulk === null) throw new Error('the pool described the API without its bytes');
      return bulk;
    },
    queues: () =>
      [pool, ledgers, fleet, audio, messages, poller].map((one) => ({
        name: one.name,
        waiting: one.waiting(),
      })),
    requests,
    onChanged: (run) => changes.add(run),
  };
  const disks = threadDisks();
  const files = createFileReader(clock, disks);
  const server = createHttpServer({
    host: boot.host,
    routes: createRoutes({ poller, ledgers, fleet, audio, messages, pool, files }, context),
    access,
    booting: createBootingGate(context),
    route: createRoute(fleet, boot.host, clock),
    http: settings.http,
    observe: requests.observe,
    observeForward: (address, failure) => tailnet.observe(address, failure),
    logger,
    clock,
  });
  supervisor.onViewsChanged(changed);

  return {
    context,
    server,
    /** Starts the components in order; then the daemon is ready (RDY-2). */
    async start(): Promise<void> {
      await supervisor.start();
      ready_ms = clock.now() - booted_at;
      changed();
      logger.info({ boot_ms: ready_ms }, 'ready');
    },
    /** What to tell the person who stops it. */
    async farewell(): Promise<string> {
      const state = await poller.call('state', {}, { deadline_ms: 2_000, at_once: true }).catch(() => null);
      if (state === null) return 'Stopped. Workers, if any run, go on by themselves.\n';
      const running = state.running.map((run) => run.fiber_id);
      if (running.length === 0) return 'Stopped; no worker was running.\n';
      const go =
        running.length === 1 ? '1 worker goes on by itself' : `${running.length} workers go on by themselves`;
      return `Stopped. ${go}: ${running.join(', ')}\n`;
    },
    async stop(): Promise<void> {
      await server.stop();
      await tailnet.stop();
      disks.stop();
      await supervisor.stop();
    },
  };
}

/** The data folder is listed among the components only while it is lost: nothing else could say so to everybody. */
function dataDirView(fault: string | null, started_at: number): ComponentView[] {
  if (fault === null) return [];
  return [{ name: 'data_dir', state: 'failed', restarts: 0, started_at, last_error: fault }];
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** A signal to a whole group comes twice: directly and passed on by the launcher. In milliseconds. */
const SAME_SIGNAL_MS = 1_000;

/** Calls `stop` on the first signal; a later one, sent by somebody who does not want to wait, ends the process at once. */
function onSignals(clock: Clock, stop: (signal: NodeJS.Signals) => void): () => void {
  let asked_at: number | null = null;
  const hear = (signal: NodeJS.Signals) => {
    if (asked_at === null) {
      asked_at = clock.now();
      stop(signal);
    } else if (Math.abs(clock.now() - asked_at) > SAME_SIGNAL_MS) {
      // An orderly exit would wait for threads, and one of them may be what the first signal waits for.
      process.kill(process.pid, 'SIGKILL');
    }
  };
  for (const signal of SIGNALS) process.on(signal, hear);
  return () => {
    for (const signal of SIGNALS) process.off(signal, hear);
  };
}
