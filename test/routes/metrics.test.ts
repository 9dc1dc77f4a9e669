import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { expose, gauge, sample } from '../../src/routes/exposition.ts';
import { LoopDelayMeter } from '../../src/routes/loop-delay.ts';
import { RequestFigures } from '../../src/routes/request-figures.ts';
import { until } from '../kit/until.ts';
import { POLLER_STATE } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

type Line = { name: string; labels: Record<string, string>; value: number };

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = `${NAME}="(?:[^"\\\\\\n]|\\\\["\\\\n])*"`;
const LINE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`);

/** Reads the text format strictly: every figure is announced once, before its lines, and every line is well-formed. */
function readExposition(text: string): Line[] {
  expect(text.endsWith('\n')).toBe(true);
  const lines: Line[] = [];
  const announced = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest] = comment;
      if (kind === 'HELP') expect(announced.has(name), name).toBe(false);
      else expect(['counter', 'gauge', 'histogram']).toContain(rest);
      announced.add(name);
      current = name;
      continue;
    }
    const match = LINE.exec(line);
    expect(match, line).not.toBeNull();
    const [, name = '', labels = '', value] = match!;
    expect([current, `${current}_bucket`, `${current}_sum`, `${current}_count`]).toContain(name);
    expect(value === '+Inf' || Number.isFinite(Number(value)), line).toBe(true);
    const pairs = [...labels.matchAll(new RegExp(`(${NAME})="((?:[^"\\\\]|\\\\.)*)"`, 'g'))];
    lines.push({
      name,
      labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
      value: Number(value),
    });
  }
  return lines;
}

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
  served.callers.poller.answers.state = () => ({
    ...POLLER_STATE,
    poll_health: {
      ...POLLER_STATE.poll_health,
      stores: [
        {
          ...{
            store: '/a "b"\\c',
            state: 'stale',
            fibers: 7,
            last_ok_at: 5_000,
            last_ms: 3,
            error: 'asleep',
          },
          ...{ lease: { state: 'held', holder: null, detail: null }, held_back: null },
        },
      ],
    },
  });
});
afterEach(() => served.stop());

async function scrape(): Promise<Line[]> {
  const { status, headers, body } = await served.get('/metrics');
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  return readExposition(Buffer.from(body, 'latin1').toString());
}

describe('GET /metrics', () => {
  it('covers requests, components, polls, queues and the process', async () => {
    const lines = await scrape();
    const value = (name: string, labels: Record<string, string> = {}) =>
      lines.find(
        (line) =>
          line.name === name && Object.entries(labels).every(([key, text]) => line.labels[key] === text),
      )?.value;
    expect(value('svc_ready')).toBe(1);
    expect(value('svc_build_info', { version: '0.1.0', git_short_sha: 'abc1234', host: 'host-a' })).toBe(1);
    expect(value('svc_component_up', { component: 'poller' })).toBe(1);
    expect(value('svc_component_restarts_total', { component: 'poller' })).toBe(0);
    expect(value('svc_queue_depth', { queue: 'poller' })).toBe(2);
    expect(value('svc_poll_ticks_total')).toBe(1);
    expect(value('svc_store_up', { store: '/a \\"b\\"\\\\c' })).toBe(0);
    expect(value('svc_store_fibers')).toBe(7);
    expect(value('svc_store_last_listing_timestamp_seconds')).toBe(5);
    expect(value('svc_held_fibers')).toBe(1);
    expect(value('svc_workers_most')).toBeUndefined();
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  it('[RDY-3] answers while booting and while the poller is down, and reports both', async () => {
    served.callers.poller.up = false;
    const without = async () => {
      const lines = await scrape();
      return [
        lines.find((line) => line.name === 'svc_poller_answers')?.value,
        lines.some((line) => line.name === 'svc_poll_ticks_total'),
      ];
    };
    expect(await without()).toEqual([0, false]);
    served.become({ ready_ms: null });
    expect(await without()).toEqual([0, false]);
  });

  it('counts the requests of each row in cumulative buckets', async () => {
    const { observe } = served.requests;
    for (const ms of [0.2, 3, 3, 700, 90_000])
      observe({ method: 'GET', path: '/api/v1/state', status: 200, ms, bytes: 10 });
    observe({ method: 'BREW', path: null, status: 404, ms: 1, bytes: 0 });
    const lines = (await scrape()).filter((line) => line.labels.route === '/api/v1/state');
    const bucket = (le: string) => lines.find((line) => line.labels.le === le)?.value;
    expect(['0.0005', '0.0025', '0.005', '0.5', '1', '60', '+Inf'].map(bucket)).toEqual([
      1, 1, 3, 3, 4, 4, 5,
    ]);
    const named = (end: string) => lines.find((line) => line.name.endsWith(end))?.value;
    expect([named('_count'), named('requests_total'), named('bytes_total')]).toEqual([5, 5, 50]);
    expect(named('duration_seconds_sum')).toBeCloseTo(90.7062);
  });

  it('has no labels that a client can choose', () => {
    const figures = new RequestFigures();
    for (const method of ['BREW', 'X1', 'X2'])
      figures.observe({ method, path: null, status: 404, ms: 1, bytes: 0 });
    expect(figures.figures()[0]?.samples).toEqual([
      sample(3, { method: 'other', route: 'none', status: '404' }),
    ]);
  });

  it('writes any text and any number correctly', () => {
    expect(
      expose([
        gauge('a', 'two\nlines', [sample(Number.POSITIVE_INFINITY, { x: '"\n\\' })]),
        gauge('b', '', null),
      ]),
    ).toBe('# HELP a two\\nlines\n# TYPE a gauge\na{x="\\"\\n\\\\"} +Inf\n');
  });

  it('measures the event loop only while it is requested', async () => {
    const clock = new FakeClock();
    const meter = new LoopDelayMeter(clock);
    expect(meter.read()).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const end = performance.now() + 120;
    while (performance.now() < end);
    // The meter learns of the delay when its timer fires next.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const late = await until('a delay', () => {
      const delay = meter.read();
      return delay !== null && delay.max > 0.05 ? delay : null;
    });
    expect(late.p50).toBeLessThanOrEqual(late.p99);
    clock.advance(6 * 60_000);
    expect(meter.read()).toBeNull();
    clock.advance(6 * 60_000);
  });
});
