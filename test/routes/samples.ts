import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Captured, Claimed } from '../../src/contract/http/capture.ts';
import type { Dispatched, Refused } from '../../src/contract/http/dispatch.ts';
import type { PollerState } from '../../src/contract/http/state.ts';

export const FIBER: FiberRow = {
  id: 'work/loader',
  uid: '01K0000000000000000000000A',
  leaf: 'loader',
  store: '/srv/notes',
  path: '/srv/notes/.fibers/work/loader/loader.md',
  name: 'Rewrite the loader',
  status: 'active',
  tags: [],
  digest: 'd1',
  body: 'Do it.',
};

export const DISPATCHED: Dispatched = {
  dispatched: true,
  already_running: false,
  fiber_id: FIBER.id,
  host: 'host-a',
  surface: 'cli',
  mux_session: 'loader-01k-svc',
  session_uuid: null,
  run_id: 'r1',
  agent: 'claude-sonnet',
  harness: 'claude',
};

export const REFUSED: Refused = {
  dispatched: false,
  reason: 'arm_refused',
  fiber_id: FIBER.id,
  host: 'host-a',
  message: 'The project directory does not exist.',
  needs: 'project_dir',
};

export const POLLER_STATE: PollerState = {
  running: [],
  blocked: [],
  deaths: [],
  pending_launch: [
    {
      fiber_id: FIBER.id,
      uid: FIBER.uid,
      store: FIBER.store,
      since: 1,
      reason: 'boot_quarantine',
      note: null,
    },
  ],
  standing_roles: [],
  captures: [],
  boot_quarantine: { active: true, reason: 'restart', held: 1, released_at: null },
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
    last_tick_at: 5,
    last_tick_ms: 3,
    ticks: 1,
    interval_ms: 30_000,
    stores: [],
    mux: { state: 'alive', detail: null, owner: { kind: 'user_born', name: '/user.slice' } },
  },
  document_errors: { count: 0, first: [] },
  operator_file_errors: [],
  incidents: [],
  skills: { generation: 'g', installed: [] },
};

export const CAPTURED: Captured = {
  captured: true,
  surface: 'cli',
  host: 'host-a',
  mux_session: 'capture-0198c0de-0000-4000-8000-000000000001',
  session_uuid: '0198c0de-0000-4000-8000-000000000001',
  run_id: 'r1',
  agent: 'claude-sonnet',
  harness: 'claude',
};

export const CLAIMED: Claimed = {
  claimed: true,
  already_claimed: false,
  fiber_id: FIBER.id,
  host: 'host-a',
  surface: 'cli',
  mux_session: CAPTURED.mux_session,
  session_uuid: '0198c0de-0000-4000-8000-000000000001',
  run_id: 'r1',
  agent: 'claude-sonnet',
  harness: 'claude',
};
