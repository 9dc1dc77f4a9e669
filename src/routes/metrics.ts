import type { PollerState } from '../contract/http/state.ts';
import { defineRow, type Row } from '../http/row.ts';
import { bootMs } from './booting.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { EXPOSITION_TYPE, expose, type Figure, gauge, sample } from './exposition.ts';
import { LoopDelayMeter } from './loop-delay.ts';

/** A poller that is busy must not hold up who looks what is the matter. */
const POLLER_DEADLINE_MS = 2_000;

/** `GET /metrics`: figures in the Prometheus text format, behind the same gate as everything else. */
export function metricsRows({ poller }: Pick<Callers, 'poller'>, context: RouteContext): Row[] {
  const meter = new LoopDelayMeter(context.clock);
  return [
    defineRow({
      method: 'GET',
      path: '/metrics',
      summary: 'Figures of the daemon for Prometheus',
      page: 'daemon.md',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      shared: true,
      replies: { 200: 'text' },
      async handler() {
        const ready = context.ready_ms() !== null;
        const state = ready
          ? await poller.call('state', {}, { deadline_ms: POLLER_DEADLINE_MS }).catch(() => null)
          : null;
        const text = expose([
          ...daemonFigures(context, meter),
          ...context.requests.figures(),
          ...(state === null ? [] : pollerFigures(state)),
          gauge('svc_poller_answers', 'Whether the poller answered this request', state === null ? 0 : 1),
        ]);
        return { status: 200, bytes: Buffer.from(text), content_type: EXPOSITION_TYPE };
      },
    }),
  ];
}

function daemonFigures(context: RouteContext, meter: LoopDelayMeter): Figure[] {
  const { version, git_short_sha, node, host, booted_at } = context;
  const components = context.components();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const delay = meter.read();
  return [
    gauge('svc_build_info', 'The build', [sample(1, { version, git_short_sha, node, host })]),
    gauge('svc_ready', 'Whether every component has started', context.ready_ms() === null ? 0 : 1),
    gauge('svc_boot_seconds', 'Time from the start to ready, or so far', bootMs(context) / 1_000),
    gauge(
      'svc_component_up',
      'Whether a component runs',
      components.map(({ name, state }) => sample(state === 'running' ? 1 : 0, { component: name })),
    ),
    gauge(
      'svc_component_restarts_total',
      'Restarts of a component',
      components.map(({ name, restarts }) => sample(restarts, { component: name })),
      'counter',
    ),
    gauge(
      'svc_queue_depth',
      'Requests and calls that wait for an answer',
      context.queues().map(({ name, waiting }) => sample(waiting, { queue: name })),
    ),
    gauge(
      'svc_event_loop_delay_seconds',
      'How late the main thread was since the last time it was asked',
      delay === null
        ? null
        : [
            sample(delay.p50, { statistic: 'p50' }),
            sample(delay.p99, { statistic: 'p99' }),
            sample(delay.max, { statistic: 'max' }),
          ],
    ),
    gauge('process_start_time_seconds', 'When the process started', booted_at / 1_000),
    gauge('process_cpu_seconds_total', 'Processor time of all threads', (user + system) / 1e6, 'counter'),
    gauge('process_resident_memory_bytes', 'Memory of all threads', rss),
    gauge('nodejs_heap_used_bytes', 'Heap of the main thread', heapUsed),
    gauge('nodejs_external_memory_bytes', 'Buffers of the main thread', external),
  ];
}

function pollerFigures(state: PollerState): Figure[] {
  const { poll_health, workers, brake, boot_quarantine, incidents } = state;
  const { last_tick_at, last_tick_ms, stores } = poll_health;
  return [
    gauge('svc_poll_ticks_total', 'Poll ticks so far', poll_health.ticks, 'counter'),
    gauge('svc_poll_interval_seconds', 'Time between two ticks', poll_health.interval_ms / 1_000),
    gauge(
      'svc_poll_last_tick_timestamp_seconds',
      'When the last tick ended',
      last_tick_at === null ? null : last_tick_at / 1_000,
    ),
    gauge(
      'svc_poll_last_tick_duration_seconds',
      'How long it took',
      last_tick_ms === null ? null : last_tick_ms / 1_000,
    ),
    gauge(
      'svc_store_up',
      'Whether the last listing of a store succeeded',
      stores.map(({ store, state: now }) => sample(now === 'ok' ? 1 : 0, { store })),
    ),
    gauge(
      'svc_store_fibers',
      'Documents of a store',
      stores.map(({ store, fibers }) => sample(fibers, { store })),
    ),
    gauge(
      'svc_store_last_listing_timestamp_seconds',
      'When a store was last listed',
      stores.flatMap(({ store, last_ok_at }) =>
        last_ok_at === null ? [] : [sample(last_ok_at / 1_000, { store })],
      ),
    ),
    gauge('svc_mux_up', 'Whether the tmux server answers', poll_health.mux.state === 'unknown' ? 0 : 1),
    gauge('svc_workers', 'Workers that run or start', workers.count),
    gauge('svc_workers_resting', 'Workers that rest and do not count for the limit', workers.resting),
    gauge('svc_workers_most', 'Most workers that the poller lets run', workers.most),
    gauge('svc_blocked_fibers', 'Fibers whose launch was refused', state.blocked.length),
    gauge('svc_held_fibers', 'Fibers that wait to be released', state.pending_launch.length),
    gauge('svc_quarantine_active', 'Whether the boot quarantine is on', boot_quarantine.active ? 1 : 0),
    gauge('svc_brake_on', 'Whether the emergency brake is on', brake.on ? 1 : 0),
    gauge('svc_incidents', 'Incidents that wait for a person', incidents.length),
  ];
}
