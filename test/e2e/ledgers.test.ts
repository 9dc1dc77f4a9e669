import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { Life } from '../../src/contract/http/life.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const HOUR = 3_600_000;
const event = (at: number, more: object = {}) =>
  JSON.stringify({ timestamp: at, type: 'stop_failure', sessionId: 's-1', cwd: '/srv', ...more });
const session = JSON.stringify({
  ...{ fiber: 'work/a', uid: 'u-1', session: 's-1', thread_id: null, harness: 'claude' },
  ...{ host: 'host-a', mux: null, at: 1, kind: 'dispatch' },
});
const commit = JSON.stringify({
  ...{ at: 1, kind: 'commit', sha: 'a'.repeat(40), subject: 'Add', repo: '/srv', files: 1 },
  ...{ insertions: 2, deletions: 0, session: 's-1', mux: null, cwd: '/srv' },
});
const WINDOW = `/activity?from_ms=0&to_ms=${24 * HOUR}`;

let daemon: TestDaemon;
const ledger = (home: TestHome, name: string) => join(home.data, name);
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      mkdirSync(home.data, { mode: 0o700 });
      writeFileSync(ledger(home, 'events.jsonl.1'), `${event(1)}\n{"timestamp":"then"}\n`);
      writeFileSync(ledger(home, 'events.jsonl'), `${event(HOUR)}\n\n[]\n{"torn":`);
      writeFileSync(ledger(home, 'sessions.jsonl'), `${session}\nx\n`);
      writeFileSync(ledger(home, 'commits.jsonl'), `${commit}\n{"at":1}\n"y"\n`);
    },
  });
});
afterAll(() => daemon.dispose());

/** Waits until the daemon has read what was added, and counts it so. */
const counts = (expected: object) =>
  expect.poll(async () => (await daemon.state()).ledgers, { timeout: 20_000 }).toMatchObject(expected);

describe('the ledgers of a daemon', () => {
  it('[EVT-4] [RPL-19] count their malformed lines in GET /state, also after a restart', async () => {
    const expected = {
      sessions: { entries: 1, malformed: 1 },
      commits: { entries: 1, malformed: 2 },
      events: { entries: 2, malformed: 2, buckets: 2 },
    };
    await counts(expected);
    appendFileSync(ledger(daemon.home, 'events.jsonl'), `\n${event(2 * HOUR)}\n`);
    appendFileSync(ledger(daemon.home, 'sessions.jsonl'), 'z\n');
    const more = {
      ...expected,
      sessions: { entries: 1, malformed: 2 },
      events: { entries: 3, malformed: 3, buckets: 3 },
    };
    await counts(more);
    await daemon.restart();
    await counts(more);
  });

  it('[TMP-1] [TMP-7] [EVT-5] return the current content of both files, and 304 while neither changes', async () => {
    const first = await daemon.http.get(WINDOW);
    const etag = first.headers.etag!;
    expect(etag).toMatch(/^W\/"/);
    const since = { 'If-None-Match': etag };
    expect((await daemon.http.get(WINDOW, since)).status).toBe(304);
    const hours = (body: unknown) =>
      (body as { buckets: { m: number }[] }).buckets.map(({ m }) => m / HOUR).sort();
    expect(hours(first.body)).toEqual([0, 1, 2]);
    const live = ledger(daemon.home, 'events.jsonl');
    renameSync(live, `${live}.1`);
    appendFileSync(live, `${event(3 * HOUR)}\n`);
    await until('word of the rotation', async () => (await daemon.http.get(WINDOW, since)).status === 200);
    await expect.poll(async () => hours((await daemon.http.get(WINDOW)).body)).toEqual([1, 2, 3]);
  });

  it('[TMP-2] [TMP-3] [TMP-5] tell the life of a fiber in order, by HTTP and by `svc log` alike', async () => {
    const { home } = daemon;
    const at = Date.UTC(2026, 2, 7, 12);
    const { fiber } = (await daemon.http.post<{ fiber: FiberRow }>('/fiber/create', { name: 'Loader' })).body;
    const { uid } = fiber;
    const run = { fiber: fiber.id, uid, session: 's-9', mux: 'm-9', run_id: 'run-9', agent: 'claude-sonnet' };
    const lines = [
      { ...JSON.parse(session), ...run, at: at + 250 },
      // As a daemon of before wrote it, in whole seconds.
      { ...JSON.parse(session), ...run, at, kind: 'ended', reason: 'exited' },
      { ...JSON.parse(session), ...run, at: at + 2_000, run_id: 'run-10', resumed: true },
      { ...JSON.parse(session), ...run, at: at + 62_000, run_id: 'run-10', kind: 'ended', reason: 'handoff' },
    ];
    for (const line of lines) appendFileSync(ledger(home, 'sessions.jsonl'), `${JSON.stringify(line)}\n`);
    const made = { ...JSON.parse(commit), sha: 'c'.repeat(40), session: 's-9', at: at + 5_000 };
    appendFileSync(ledger(home, 'commits.jsonl'), `${JSON.stringify(made)}\n`);
    const typed = { type: 'user_prompt_submit', sessionId: 's-9' };
    appendFileSync(ledger(home, 'events.jsonl'), `${event(at + 3_000, typed)}\n`);
    await daemon.http.post('/fiber-edit', { fiber_id: fiber.id, status: 'closed', tempered: true });

    const ask = async (query: string) => (await daemon.http.get<Life>(`/fiber-life?uid=${uid}${query}`)).body;
    const { entries } = await ask('');
    expect(
      entries.map(({ at: when, kind }) => [kind, kind === 'closed' || kind === 'accepted' || when - at]),
    ).toEqual([
      ['dispatch', 250],
      ['ended', 250],
      ['resume', 2_000],
      ['prompts', 2_000],
      ['commit', 5_000],
      ['handoff', 62_000],
      ['closed', true],
      ['accepted', true],
    ]);
    expect(await ask('&limit=2')).toMatchObject({ entries: entries.slice(-2), earlier: 6 });
    expect(await ask(`&limit=1&before_ms=${at + 5_000}`)).toMatchObject({
      entries: entries.slice(2, 4),
      earlier: 2,
    });
    const { etag } = (await daemon.http.get(`/fiber-life?uid=${uid}`)).headers;
    const since = { 'If-None-Match': etag! };
    expect((await daemon.http.get(`/fiber-life?uid=${uid}`, since)).status).toBe(304);

    const { stdout } = await home.svc('log', fiber.id, '--json');
    expect(JSON.parse(stdout).entries).toEqual(entries);
    const page = (await home.svc('log', fiber.id, '--verbose')).stdout;
    expect(page).toMatch(/handed off\ts-9\tafter 1 min\n/);
    expect(page).toMatch(/closed\t-\t\n.*accepted\t-\t\n/);

    rmSync(fiber.path);
    await until('the removal is seen', async () => (await ask('')).entries.length === 6);
  });
});
