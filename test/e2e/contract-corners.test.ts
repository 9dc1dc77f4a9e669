import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';

describe('corners of the contract', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_POLL_INTERVAL_MS: '30000' } });
  });
  afterAll(() => daemon.dispose());
  const post = (path: string, body: object) => daemon.http.post(path, body);
  const dispatch = (fiber_id: string) => post('/dispatch', { fiber_id });
  const promptOf = (id: string) => {
    const runs = join(daemon.home.data, 'runs');
    const run = readdirSync(runs).find(
      (one) => JSON.parse(readFileSync(join(runs, one, 'run.json'), 'utf8')).fiber === id,
    );
    return readFileSync(join(runs, run!, 'prompt.md'), 'utf8');
  };
  const parked = { front: { status: 'open' } };

  it('[WPL-1] [FIB-2] a document written a moment ago is dispatched by its id, its leaf and its ULID', async () => {
    daemon.home.fiber('moment/by-id', parked);
    expect((await dispatch('moment/by-id')).status).toBe(200);
    daemon.home.fiber('moment/by-leaf', parked);
    expect((await dispatch('by-leaf')).status).toBe(200);
    const uid = daemon.home.fiber('moment/by-uid', parked);
    expect((await dispatch(uid)).status).toBe(200);
    expect((await dispatch('moment/nowhere')).status).toBe(404);
  });

  it('[DSP-9] a worker of a fiber whose name has spaces, accents and another script runs and ends', async () => {
    for (const id of ['über-fäden', 'a b', 'x+y=z', '日本語の仕事', "it's #1"]) {
      const uid = daemon.home.fiber(id, parked);
      expect((await dispatch(uid)).status).toBe(200);
      expect(await daemon.home.sessions()).toContain(`${id}-${uid}-svc`);
      expect(await post('/kill', { fiber_id: uid })).toMatchObject({ status: 200 });
      expect(await daemon.home.sessions()).not.toContain(`${id}-${uid}-svc`);
    }
  });

  it('[PRM-6] [PRM-7] the launch message names the store of roles and ends with the exact words', async () => {
    const roles = join(daemon.home.store, 'roles');
    mkdirSync(roles);
    writeFileSync(join(roles, 'reviewer.md'), '# Reviewer\n');
    daemon.home.fiber('roster', { front: { status: 'open', collaboration: { reviewer: ['ada'] } } });
    const user_message = '  Two lines.\n\nAnd the last newlines.\n\n\n';
    expect((await post('/dispatch', { fiber_id: 'roster', user_message })).status).toBe(200);
    const prompt = promptOf('roster');
    expect(prompt).toContain(`Collaboration: role reviewer; collaborator ada; role store ${roles}\n`);
    expect(prompt.endsWith(`From User:\n${user_message}`)).toBe(true);
  });

  it.each([
    [{ due: 'soon' }, 'is not a day'],
    [{ svc: { kind: 'standing', schedule: 'bogus' } }, 'is not a cron schedule'],
    [{ svc: { tz: 'Mars/Base' } }, 'is not a time zone'],
    [{ svc: { agent: 'nobody' } }, 'there is no agent'],
    [{ svc: { surface: 'desktop' } }, ''],
  ])('[FIB-8] [FIB-7] %j is refused when a fiber is made or edited', async (fields, message) => {
    const made = await post('/fiber/create', { name: 'Never', ...fields });
    expect([made.status >= 400, made.text.includes(message)]).toEqual([true, true]);
    daemon.home.fiber('edited', parked);
    const { svc = {}, ...set } = fields as { svc?: object };
    const paths = Object.entries(svc).map(([key, value]) => [`svc.${key}`, value]);
    const edit = { fiber_id: 'edited', set: { ...set, ...Object.fromEntries(paths) } };
    const edited = await post('/fiber-edit', edit);
    expect([edited.status >= 400, edited.text.includes(message)]).toEqual([true, true]);
    const words = Object.entries(edit.set).map(([key, value]) => `${key}=${value}`);
    const typed = await daemon.home.svc('fiber', 'edit', 'edited', '--set', ...words);
    expect([typed.code !== 0, typed.stderr.includes(message)]).toEqual([true, true]);
  });

  it('[FIB-8] a fiber without a surface runs in a terminal', async () => {
    daemon.home.fiber('no-surface', parked);
    expect((await dispatch('no-surface')).body).toMatchObject({ surface: 'cli' });
  });

  it('[RPL-2] [RPL-3] [FIB-1] the feed of several hosts is not read as a fiber', async () => {
    const uid = daemon.home.fiber('composite', parked);
    await daemon.rowWhen('composite', 'listed', () => true);
    const { host } = (await daemon.http.get<{ host: string }>('/version')).body;
    const feed = (await daemon.http.get<{ fibers: { id: string }[] }>('/fibers')).body;
    expect(await daemon.http.get('/fibers/composite')).toMatchObject({
      status: 200,
      body: {
        host,
        origins: { [host]: { state: 'fresh', read: { fibers: feed.fibers.map(({ id }) => ({ id })) } } },
      },
    });
    expect((await daemon.http.get(`/fibers/${uid}`)).status).toBe(200);
  });

  it('[FIB-1] names without Latin letters get distinct, readable slugs', async () => {
    const ids: string[] = [];
    for (const name of ['ログを直す', '日本語', '🎉', '🎈'])
      ids.push((await daemon.http.post<{ fiber: { id: string } }>('/fiber/create', { name })).body.fiber.id);
    expect(ids).toEqual(['ログを直す', '日本語', 'fiber', 'fiber-2']);
  });
});
