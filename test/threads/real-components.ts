import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { markDataDir } from '../../src/config/data-dir-fault.ts';
import { readSettings, type Settings } from '../../src/config/settings.ts';
import { audioCalls, audioEvents } from '../../src/contract/threads/audio.ts';
import type { CallTable, EventTable } from '../../src/contract/threads/call-table.ts';
import { fleetCalls, fleetEvents } from '../../src/contract/threads/fleet.ts';
import { ledgersCalls, ledgersEvents } from '../../src/contract/threads/ledgers.ts';
import { messagesCalls, messagesEvents } from '../../src/contract/threads/messages.ts';
import { pollerCalls, pollerEvents } from '../../src/contract/threads/poller.ts';
import { poolJobs } from '../../src/contract/threads/pool.ts';
import type { PollerSettings } from '../../src/dispatch/world/poller-settings.ts';
import { faultCalls } from '../../src/threads/fault-injection.ts';
import { createPoolComponent } from '../../src/threads/pool.ts';
import { hostHandlers } from '../../src/threads/pool-caller.ts';
import type { SupervisionRules } from '../../src/threads/supervised-child.ts';
import { createThreadComponent } from '../../src/threads/thread-component.ts';
import { WORKER_URLS } from '../../src/threads/worker-urls.ts';
import { NO_SESSIONS } from '../kit/no-sessions.ts';

/** Heap limit of the threads under test: large enough to load, small enough to fill at once. */
export const MEMORY_MB = 48;

/** Rules that show restarts quickly. */
export function quickRules(intensity: number): SupervisionRules {
  return {
    clock: systemClock,
    logger: silentLogger,
    restart: { intensity, window_ms: 600_000, backoff: { first: 10, most: 100 } },
    heartbeat: { interval_ms: 100, timeout_ms: 2_000 },
    stop_timeout_ms: 3_000,
  };
}

/** Settings of a daemon that lives in a temporary folder; `remove` deletes it. */
export function temporarySettings(): { settings: Settings; dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'svc-threads-'));
  const settings = readSettings({
    SVC_DATA_DIR: dir,
    SVC_CONFIG_DIR: dir,
    SVC_TMUX_SOCKET: join(dir, 'tmux'),
    SVC_LOG_LEVEL: 'silent',
    SVC_DISCOVERY: 'off',
  });
  return { settings, dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The daemon's own components in start order, with calls that break them on purpose. */
export function realComponents(settings: Settings) {
  const shared = { clock: systemClock, logger: silentLogger, memory_mb: MEMORY_MB, fault_injection: true };
  const pool = createPoolComponent({
    ...shared,
    url: WORKER_URLS.pool,
    jobs: { ...poolJobs, ...faultCalls },
    thread_deaths: { intensity: 1, window_ms: 600_000 },
    max_threads: 2,
    max_queue: 4,
  });
  const thread = <C extends CallTable, E extends EventTable>(
    name: Exclude<keyof typeof WORKER_URLS, 'pool'>,
    calls: C,
    events: E,
    own: Partial<PollerSettings> = {},
  ) =>
    createThreadComponent({
      ...shared,
      name,
      url: WORKER_URLS[name],
      calls: { ...calls, ...faultCalls },
      events,
      settings: { ...settings, ...own },
      host: hostHandlers(pool, NO_SESSIONS),
    });
  return {
    pool,
    ledgers: thread('ledgers', ledgersCalls, ledgersEvents),
    fleet: thread('fleet', fleetCalls, fleetEvents, { host_id: 'here' }),
    audio: thread('audio', audioCalls, audioEvents),
    messages: thread('messages', messagesCalls, messagesEvents, { host_id: 'here' }),
    poller: thread('poller', pollerCalls, pollerEvents, {
      host_id: 'test-host',
      daemon_id: 'machine-a/1',
      booted_at: 0,
      runtime_folder: join(settings.data_dir, 'runtime'),
      data_dir_mark: markDataDir(settings.data_dir, []),
      max_concurrent: null,
      host_memory: {},
      role_store: null,
      store_roots: [],
      host_class: 'personal',
      rebooted: false,
      cli_contract: null,
    }),
  };
}

/** A plain question to each of them; rejects when that one is down. */
export function askEach(
  components: ReturnType<typeof realComponents>,
): Record<string, () => Promise<unknown>> {
  return {
    pool: () => components.pool.run('ping', {}),
    ledgers: () => components.ledgers.call('state', {}),
    fleet: () => components.fleet.call('state', {}),
    audio: () => components.audio.call('state', {}),
    messages: () =>
      components.messages.call('send', {
        ...{ address: 'svc://here/pi/s-1', text: 'hello', from: 'ada', message_id: 'm-1' },
        dry_run: true,
      }),
    poller: () => components.poller.call('state', {}),
  };
}
