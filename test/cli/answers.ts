import type { FiberRow } from '../../src/contract/fiber.ts';
import type { State } from '../../src/contract/http/state.ts';
import type { Version } from '../../src/contract/http/version.ts';
import { readBuildStamp } from '../../src/platform/build-stamp.ts';

const UID = '01K2B3C4D5E6F7G8H9J0K1M2N3';

export function versionAnswer(over: Partial<Version> = {}): Version {
  return {
    ...readBuildStamp(),
    booted_at: new Date(Date.now() - 60_000).toISOString(),
    ready: true,
    boot_ms: 120,
    host: 'host-a',
    host_class: 'personal',
    pid: process.pid,
    node: process.versions.node,
    listen: ['127.0.0.1:4000'],
    server: 'uws',
    peer_gate: { mode: 'proc', uid: 1000, source: 'tcp' },
    tailnet_dial: { status: 'unavailable', socket_source: 'none' },
    discovery: {
      enabled: false,
      state: 'disabled',
      via: null,
      error: null,
      last_run_at: null,
      peers: [],
      rejected: [],
    },
    components: [{ name: 'poller', state: 'running', restarts: 0, started_at: 1, last_error: null }],
    generation: '0123456789ab',
    skew: [],
    ...over,
  };
}

export function runningRow(over: Partial<State['running'][number]> = {}): State['running'][number] {
  return {
    fiber_id: 'work/loader',
    uid: UID,
    store: '/srv/notes',
    mux_session: `loader-${UID}-svc`,
    surface: 'cli',
    agent: 'claude-sonnet',
    harness: 'claude',
    session_uuid: null,
    state: 'running',
    phase: 'working',
    phase_since: null,
    phase_source: 'hook',
    said: null,
    run_id: 'run-1',
    started_at: Date.now() - 3 * 60_000,
    last_activity_at: Date.now() - 5_000,
    ...over,
  };
}

/** Of a store that the daemon dispatches from. */
export const OWN_LEASE = {
  lease: { state: 'held', holder: null, detail: null },
  held_back: null,
} as const;

export function stateAnswer(over: Partial<State> = {}): State {
  return {
    host: 'host-a',
    generated_at: Date.now(),
    running: [],
    blocked: [],
    deaths: [],
    pending_launch: [],
    standing_roles: [],
    captures: [],
    boot_quarantine: { active: false, reason: 'restart', held: 0, released_at: null },
    brake: { on: false, since: null, note: null },
    data_dir: { path: '/srv/data', fault: null },
    workers: { count: 0, resting: 0, most: null },
    worker_memory: {
      mechanism: 'cgroup v1',
      detail: '/sys/fs/cgroup/memory/svc-workers-0',
      worker_bytes: 12e9,
      total_bytes: 20.4e9,
    },
    start_gate: { hold: null, waiting: 0 },
    contract: { ok: true, daemon: 1, cli: 1 },
    poll_health: {
      last_tick_at: Date.now(),
      last_tick_ms: 4,
      ticks: 9,
      interval_ms: 30_000,
      stores: [
        {
          ...{ store: '/srv/notes', state: 'ok', fibers: 3, last_ok_at: Date.now(), last_ms: 2, error: null },
          ...OWN_LEASE,
        },
      ],
      mux: { state: 'alive', detail: null, owner: { kind: 'user_born', name: '/user.slice' } },
    },
    document_errors: { count: 0, first: [] },
    operator_file_errors: [],
    incidents: [],
    skills: { generation: 'g', installed: [] },
    ledgers: null,
    fleet: null,
    audio: null,
    ...over,
  };
}

export function fiberAnswer(over: Partial<FiberRow> = {}): FiberRow {
  return {
    id: 'work/loader',
    uid: UID,
    leaf: 'loader',
    store: '/srv/notes',
    path: '/srv/notes/.fibers/work/loader/loader.md',
    name: 'Rewrite the loader',
    status: 'active',
    tags: ['methods'],
    digest: 'ab',
    ...over,
  };
}
