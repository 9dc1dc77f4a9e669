import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Composite } from '../../src/contract/http/composite.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

const HOUR = 3_600_000;
const ANSWER_MS = 2_000;
const SETTINGS = {
  SVC_HOST: 'host-a',
  SVC_REMOTE_REUSE_MS: '2000',
  SVC_REMOTE_ANSWER_MS: String(ANSWER_MS),
  SVC_REMOTE_STALE_MS: '4000',
};
const EVENT = { timestamp: 1, type: 'stop_failure', sessionId: 's-1', cwd: '/srv' };
const SENT = { ...EVENT, type: 'pre_tool_use', tool: 'SendUserFile', toolInput: { files: ['a.png'] } };
const SESSION = {
  ...{ fiber: 'work/a', uid: 'u-1', session: 's-1', thread_id: null, harness: 'claude' },
  ...{ host: 'host-b', mux: null, at: 1, kind: 'dispatch' },
};
const COMMIT = {
  ...{ at: 1, kind: 'commit', sha: 'a'.repeat(40), subject: 'Add', repo: '/srv', files: 1 },
  ...{ insertions: 2, deletions: 0, session: 's-1', mux: null, cwd: '/srv' },
};
const WINDOW = `?from_ms=0&to_ms=${HOUR}`;
const FEEDS = [
  ['/activity', WINDOW],
  ['/sessions', ''],
  ['/sessions', '?uid=u-1'],
  ['/commits', ''],
  ['/sent-files/all', ''],
] as const;

/** The daemon that is asked, the one that it asks, and what takes connections and says nothing. */
let hub: TestDaemon;
let owner: TestDaemon;
let silent: Server;
const lines = (...all: object[]) => all.map((one) => `${JSON.stringify(one)}\n`).join('');
beforeAll(async () => {
  silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  [hub, owner] = await Promise.all([
    startTestDaemon({ release: false, settings: SETTINGS }),
    startTestDaemon({
      release: false,
      settings: { SVC_HOST: 'host-b' },
      prepare({ data }) {
        mkdirSync(data, { mode: 0o700 });
        writeFileSync(join(data, 'events.jsonl'), lines(EVENT, SENT));
        writeFileSync(join(data, 'sessions.jsonl'), lines(SESSION));
        writeFileSync(join(data, 'commits.jsonl'), lines(COMMIT));
      },
    }),
  ]);
  await until('its commits', async () => (await owner.http.get('/commits')).text.includes(COMMIT.sha));
  configure();
});
afterAll(async () => {
  silent.close();
  await Promise.all([hub.dispose(), owner.dispose()]);
});

/** Names the owner, and perhaps what says nothing, as remotes of the hub. */
function configure(more: Record<string, number> = {}): void {
  const others = Object.entries(more).map(([name, port]) => ({ name, port }));
  const remotes = [{ name: 'host-b', url: `http://${owner.address}` }, ...others];
  hub.home.write('config/remotes.json', { remotes });
}

async function composite(path: string, query = '') {
  const { body } = await hub.http.get<Composite>(`${path}/composite${query}`);
  return body.origins;
}

/** The part of a host once it satisfies `condition`. */
const partWhen = (what: string, host: string, condition: (part: Composite['origins'][string]) => boolean) =>
  until(what, async () => {
    const part = (await composite('/commits'))[host];
    return part !== undefined && condition(part) ? part : null;
  });

describe('the past of other hosts', () => {
  it.each(FEEDS)(
    '[TMP-6] [RTE-7] is in the composite as its own daemon tells it: %s%s',
    async (path, query) => {
      await partWhen('the remote', 'host-b', ({ read }) => read !== null);
      const direct = await owner.http.get(`${path}${query}`);
      const answer = await hub.http.get<Composite>(`${path}/composite${query}`);
      expect(answer.body.origins['host-b']).toMatchObject({ state: 'fresh', error: null, read: direct.body });
      expect(answer.text).toContain(direct.text);
      expect(answer.body.origins['host-a']).toMatchObject({ state: 'fresh', last_ok_at: null });
    },
  );

  it('[TMP-8] is confirmed by a 304 while no host has anything new, and moves with the remote', async () => {
    const { headers } = await hub.http.get('/commits/composite');
    const since = { 'If-None-Match': headers.etag! };
    expect((await hub.http.get('/commits/composite', since)).status).toBe(304);
    const sha = 'b'.repeat(40);
    appendFileSync(join(owner.home.data, 'commits.jsonl'), lines({ ...COMMIT, sha }));
    const moved = await until('the new commit', async () => {
      const answer = await hub.http.get('/commits/composite', since);
      return answer.status === 200 ? answer : null;
    });
    expect(moved.text).toContain(sha);
  });

  it('[TMP-8] [LIM-15] waits for a host that says nothing once, and for no other one', async () => {
    const { port } = silent.address() as { port: number };
    configure({ 'host-c': port });
    const timed = async () => {
      const from = performance.now();
      const origins = await composite('/sessions');
      return { origins, ms: performance.now() - from };
    };
    const late = await until('the silent host', async () => {
      const answer = await timed();
      return answer.origins['host-c'] !== undefined ? answer : null;
    });
    expect(late.ms).toBeGreaterThanOrEqual(ANSWER_MS - 50);
    expect(late.origins).toMatchObject({
      'host-b': { state: 'fresh', error: null },
      'host-c': { state: 'no_answer', error: { code: 'deadline_exceeded' }, read: null },
    });
    await until('an answer that waits for nobody', async () => (await timed()).ms < ANSWER_MS / 2);
    configure();
    await partWhen('the last change', 'host-b', () => true);
  });

  it('[TMP-8] is its last good answer once it has stopped, stale in time, also after a restart of the hub', async () => {
    const before = await partWhen('an answer', 'host-b', ({ error }) => error === null);
    await owner.kill9();
    const away = await partWhen('that it has stopped', 'host-b', ({ error }) => error !== null);
    expect(away).toMatchObject({ error: { code: 'remote_unreachable' }, read: before.read });
    const stale = await partWhen('that it is stale', 'host-b', ({ state }) => state === 'stale');
    await hub.kill9();
    await hub.start({ release: false });
    const kept = await partWhen('the remote', 'host-b', () => true);
    // It has told its build to the hub of before alone.
    expect(kept).toMatchObject({ ...stale, build: null, error: { code: 'remote_unreachable' } });

    await owner.start();
    configure();
    const back = await partWhen('that it is back', 'host-b', ({ error }) => error === null);
    expect(back).toMatchObject({ state: 'fresh', read: before.read });
  });
});
