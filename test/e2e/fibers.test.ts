import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fibersDeltaSchema, fibersFeedSchema, fibersWholeSchema } from '../../src/contract/http/fibers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { until } from '../kit/until.ts';

const UID = '01J0000000000000000000000A';
const WHOLE = `---
# kept: who wrote this
id: ${UID}
name: Rewrite the loader
status: open
my-own-key: {nested: [1, two]}
tags: [methods, loader]
created-at: 2026-01-31T02:40:05.884Z
outcome: One line that the card shows.
due: 2026-02-14
horizon: stashed
project_dir: /srv/dev/top-level
collaboration: {reviewer: [ada], editor: []}
svc:
  kind: standing
  host: test-host # ours
  agent: stays
  effort: high
  surface: cli
  schedule: "0 9 * * 1-5"
  tz: Europe/Paris
  unknown-to-us: 7
  runtime: {meeting: launch-1, dispatched_at: "2026-01-31T03:00:00.000Z", handed_off_at: "2026-01-31T04:00:00.000Z"}
---
The body, with [[links]].

## Status

Nothing yet.
`;

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      home.write('store/.fibers/work/loader/loader.md', WHOLE);
      home.fiber('work', { svc: null });
      home.fiber('work/plain', { svc: null });
      home.fiber('foreign', { svc: { host: 'another-host' } });
    },
  });
  await until('the listing', async () => (await daemon.fibers()).length === 4);
});
afterAll(() => daemon.dispose());

describe('a row of GET /fibers', () => {
  it('[RPL-1][FIB-1][FIB-2][FIB-3][FIB-4][FIB-5][FIB-6][FIB-7][FIB-8][FIB-9][FIB-10][FIB-11][FIB-12][FIB-13] contains the frontmatter', async () => {
    const row = await daemon.row('work/loader');
    expect(row).toMatchObject({
      id: 'work/loader',
      uid: UID,
      leaf: 'loader',
      store: daemon.home.store,
      path: daemon.home.documentPath('work/loader'),
      name: 'Rewrite the loader',
      status: 'open',
      tags: ['methods', 'loader'],
      created_at: '2026-01-31T02:40:05.884Z',
      outcome: 'One line that the card shows.',
      due: '2026-02-14',
      horizon: 'stashed',
      project_dir: '/srv/dev/top-level',
      collaboration: { reviewer: ['ada'], editor: [] },
      svc: {
        kind: 'standing',
        host: 'test-host',
        schedule: '0 9 * * 1-5',
        tz: 'Europe/Paris',
        surface: 'cli',
        runtime: {
          meeting: 'launch-1',
          dispatched_at: '2026-01-31T03:00:00.000Z',
          handed_off_at: '2026-01-31T04:00:00.000Z',
        },
      },
    });
    expect(row).not.toHaveProperty('body');
  });

  it('[RPL-1][P22] has the documented form, and ?svc and ?body select its content', async () => {
    const all = await daemon.http.get('/fibers');
    expect(fibersFeedSchema.parse(all.body)).toMatchObject({ host: 'test-host', state: 'fresh' });
    expect((await daemon.fibers()).map((row) => row.id)).toEqual([
      'foreign',
      'work',
      'work/loader',
      'work/plain',
    ]);
    expect((await daemon.fibers('?svc=true')).map((row) => row.id)).toEqual(['work/loader']);
    const [own] = await daemon.fibers('?svc=true&body=true');
    expect(own?.body).toContain('The body, with [[links]].');
  });

  it('[RPL-1] has a strong tag that gives 304 until something changes, and then changes too', async () => {
    const first = await daemon.http.get('/fibers');
    const tag = first.headers.etag ?? '';
    expect(tag).toMatch(/^"[^"]+"$/);
    const again = await daemon.http.get('/fibers', { 'if-none-match': tag });
    expect(again).toMatchObject({ status: 304, text: '', headers: { etag: tag } });
    expect(await daemon.http.get('/fibers', { 'if-none-match': '"other"' })).toMatchObject({ status: 200 });

    const own = (await daemon.http.get('/fibers?svc=true')).headers.etag ?? '';
    daemon.home.fiber('work/another', { svc: null });
    await daemon.rowWhen('work/another', 'listed', () => true);
    const moved = await daemon.http.get('/fibers', { 'if-none-match': tag });
    expect(moved.status).toBe(200);
    expect(moved.headers.etag).not.toBe(tag);
    const bodies = await daemon.http.get('/fibers?body=true');
    expect(bodies.headers.etag).not.toBe(moved.headers.etag);
    expect((await daemon.http.get('/fibers?svc=true', { 'if-none-match': own })).status).toBe(304);
  });
});

describe('GET /fibers?since=', () => {
  it('[RPL-1] returns what changed on disk since the client’s tag, and nothing else', async () => {
    type Delta = { tag: string; rows: Json[]; removed: string[] };
    const first = await daemon.http.get<Json>('/fibers?since=');
    expect(fibersWholeSchema.parse(first.body).state).toBe('fresh');
    daemon.home.fiber('work/short-lived', { svc: null });
    const path = daemon.home.documentPath('work/short-lived');
    let { tag } = first.body as unknown as Delta;
    const told = async (when: (delta: Delta) => boolean) => {
      let delta: Delta | undefined;
      await until('the change', async () => {
        const { body } = await daemon.http.get<Json>(`/fibers?since=${tag}`);
        delta = fibersDeltaSchema.parse(body);
        return when(delta);
      });
      return delta!;
    };
    const came = await told(({ rows }) => rows.length > 0);
    expect(came).toMatchObject({ rows: [{ id: 'work/short-lived', path }], removed: [] });
    tag = came.tag;
    rmSync(dirname(path), { recursive: true });
    expect(await told(({ removed }) => removed.length > 0)).toMatchObject({ rows: [], removed: [path] });
  });
});

describe('GET /fibers/*id', () => {
  it.each([
    ['its canonical id', 'work/loader'],
    ['its canonical id, encoded', 'work%2Floader'],
    ['its uid', UID],
  ])('[RPL-3][FIB-1] answers one fiber with its body, by %s', async (_how, id) => {
    const { status, body } = await daemon.http.get<{ fiber: Json }>(`/fibers/${id}`);
    expect(status).toBe(200);
    expect(body.fiber).toMatchObject({ id: 'work/loader', uid: UID });
    expect(body.fiber.body).toBe(WHOLE.slice(WHOLE.indexOf('The body')));
  });

  it('[RPL-3] answers 404 for an unknown fiber', async () => {
    expect(await daemon.http.get('/fibers/work/nobody')).toMatchObject({
      status: 404,
      body: { error: 'fiber_not_found' },
    });
  });
});

describe('POST /fiber-edit', () => {
  it('[WPL-11][FIB-14][P27] changes the requested fields and keeps every other byte', async () => {
    const { status, body } = await daemon.http.post<{ fiber: Json }>('/fiber-edit', {
      fiber_id: UID,
      outcome: 'Rewritten.',
      set: { 'svc.effort': 'low' },
      unset: ['horizon'],
    });
    expect(status).toBe(200);
    expect(body.fiber).toMatchObject({ id: 'work/loader', outcome: 'Rewritten.' });
    const expected = WHOLE.replace('outcome: One line that the card shows.', 'outcome: Rewritten.')
      .replace('effort: high', 'effort: low')
      .replace('horizon: stashed\n', '');
    const written = daemon.home.document('work/loader');
    expect(written.replace(/^updated-at: .*\n/m, '')).toBe(expected);
    expect(written).toMatch(/^updated-at: \d{4}-/m);
    expect(await daemon.row('work/loader')).toMatchObject({
      outcome: 'Rewritten.',
      digest: body.fiber.digest,
    });
  });

  it('[WPL-11][ERR-12] of a document that has changed meanwhile is a conflict and writes nothing', async () => {
    daemon.home.fiber('moved', { svc: null });
    const { digest } = await daemon.rowWhen('moved', 'listed', () => true);
    const edit = { fiber_id: 'moved', name: 'Mine', expected_digest: digest };
    expect((await daemon.http.post('/fiber-edit', edit)).status).toBe(200);
    const written = daemon.home.document('moved');
    expect(await daemon.http.post('/fiber-edit', { ...edit, name: 'Too late' })).toMatchObject({
      status: 409,
      body: { conflict: true },
    });
    expect(daemon.home.document('moved')).toBe(written);
  });

  it('[WPL-11][FIB-13] accepts only a roster on its own, replaces it exactly, and starts no worker', async () => {
    daemon.home.fiber('crewed', {
      front: { status: 'open', collaboration: { reviewer: ['ada'], editor: [] } },
    });
    await daemon.rowWhen('crewed', 'listed', () => true);
    const collaboration = { writer: ['grace', 'ada'], reader: [] };
    const mixed = { fiber_id: 'crewed', collaboration, status: 'active' };
    const before = daemon.home.document('crewed');
    expect(await daemon.http.post('/fiber-edit', mixed)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(daemon.home.document('crewed')).toBe(before);
    const { status, body } = await daemon.http.post<{ fiber: Json }>('/fiber-edit', {
      fiber_id: 'crewed',
      collaboration,
    });
    expect(status).toBe(200);
    expect(body.fiber.collaboration).toEqual(collaboration);
    await daemon.ticks();
    expect(await daemon.row('crewed')).toMatchObject({
      status: 'open',
      svc: { agent: 'stays' },
      collaboration,
    });
    expect(await daemon.home.sessions()).toEqual([]);
  });

  it('[WPL-11][FIB-2] never changes the id of a fiber', async () => {
    const edit = { fiber_id: UID, set: { id: '01BX5ZZKBKACTAV9WEVGEMMVRZ' } };
    expect(await daemon.http.post('/fiber-edit', edit)).toMatchObject({ status: 400 });
    expect((await daemon.row('work/loader'))?.uid).toBe(UID);
  });
});

describe('POST /fiber/create', () => {
  it('[WPL-13][FIB-2] creates a document with a uid, below its parent, which is listed at once', async () => {
    const { status, body } = await daemon.http.post<{ fiber: Json }>('/fiber/create', {
      name: 'A new piece',
      parent: 'work',
      body: 'Do it.\n',
      tags: ['fresh'],
      status: 'open',
    });
    expect(status).toBe(201);
    expect(body.fiber).toMatchObject({
      id: 'work/a-new-piece',
      name: 'A new piece',
      status: 'open',
      tags: ['fresh'],
    });
    expect(body.fiber.uid).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect((await daemon.row('work/a-new-piece'))?.uid).toBe(body.fiber.uid);
    expect(daemon.home.document('work/a-new-piece')).toContain('Do it.');
  });

  it('[WPL-13] refuses a taken id and an invalid request', async () => {
    const taken = { name: 'Anything', slug: 'plain', parent: 'work' };
    expect(await daemon.http.post('/fiber/create', taken)).toMatchObject({
      status: 409,
      body: { error: 'already_exists' },
    });
    expect(await daemon.http.post('/fiber/create', { name: '  ' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', issues: [{ path: 'name' }] },
    });
  });
});

describe('any request', () => {
  it('to an unknown route is answered in JSON', async () => {
    expect(await daemon.http.get('/no-such-route')).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
    const wrong = await daemon.http.get('/dispatch');
    expect(wrong).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(wrong.body.error).toBe('method_not_allowed');
  });

  it('[AUT-3] from a foreign page is refused before it has an effect', async () => {
    const edit = { fiber_id: 'work/plain', name: 'Hijacked' };
    const headers = { origin: 'https://elsewhere.example' };
    expect((await daemon.http.post('/fiber-edit', edit, headers)).status).toBe(403);
    expect((await daemon.http.get('/fibers', { host: 'elsewhere.example' })).status).toBe(403);
    expect((await daemon.row('work/plain'))?.name).toBe('Fiber plain');
  });
});
