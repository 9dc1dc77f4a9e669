import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionLine } from '../../../src/contract/ledger.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const line = (session: string, uid: string | null, at: number): SessionLine => ({
  ...{ fiber: uid === null ? null : `work/${uid}`, uid, session, thread_id: null, harness: 'claude' },
  ...{ agent: 'sonnet', host: 'host-a', mux: null, at, kind: 'dispatch' as const },
});
const spend = (...told: [session: string, input: number | null][]) => ({
  body: {
    host: 'host-a',
    sessions: told.map(([session, input]) => ({
      ...{ session, answers: 1, models: [], unknown: input === null ? 'no_counts' : null },
      ...{ harness: 'claude', began_at: 1 },
      tokens: input === null ? null : { input, cache_read: 0, cache_write: 0, output: 1 },
    })),
    total: null,
    unknown: 0,
  },
});

describe('svc spend', () => {
  it('[P25] asks each fiber once, and counts each session once', async () => {
    const now = Date.now();
    const { seen } = await serveDaemon(machine, {
      'GET /sessions': {
        body: {
          host: 'host-a',
          sessions: [
            ...[line('old', 'u1', now - 30 * 86_400_000), line('a', 'u1', now), line('b', 'u1', now)],
            ...[line('b', 'u2', now), line('c', null, now)],
          ],
        },
      },
      'GET /spend?uid=u1': spend(['old', 1_000], ['a', 10], ['b', 20]),
      'GET /spend?uid=u2': spend(['b', 20]),
      'GET /spend?session=c': spend(['c', null]),
    });
    const { code, out } = await machine.svc('spend', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ host: 'host-a', by: 'fiber', since: expect.any(Number), unknown: 1 },
      rows: [
        { key: 'work/u2', sessions: 1, tokens: { input: 20 } },
        { key: 'work/u1', sessions: 1, tokens: { input: 10 } },
        { key: '(no fiber)', sessions: 1, unknown: 1, tokens: null },
      ],
      total: { input: 30, output: 2 },
    });
    expect(seen.map(({ path }) => path)).toEqual([
      ...['/sessions', '/spend?uid=u1', '/spend?uid=u2', '/spend?session=c'],
    ]);
    const { out: page } = await machine.svc('spend', '--by', 'agent', '--since', 'all');
    expect(page).toMatch(/sonnet\t4\t1 k/);
  });

  it('refuses a time that is none, and names those that it takes', async () => {
    const { code, err } = await machine.svc('spend', '--since', 'yesterday');
    expect([code, err]).toEqual([
      2,
      'svc: "yesterday" is no time; give hours, days or weeks (24h, 7d, 4w), a day (2026-11-20) or all\n',
    ]);
  });
});
