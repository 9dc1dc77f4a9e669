import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SECURITY_HEADERS } from '../../src/access/security-headers.ts';
import { CodedError } from '../../src/base/errors.ts';
import { POLLER_STATE } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-board-'));
  served = await serveRoutes({ ui_dist: folder });
});

afterEach(async () => {
  await served.stop();
  await rm(folder, { recursive: true });
});

describe('GET /state', () => {
  it('[RPL-19] [OPR-2] combines the state of the poller, the ledgers, the fleet and the audio thread', async () => {
    const { poller, ledgers, fleet, audio } = served.callers;
    poller.answers.state = () => POLLER_STATE;
    ledgers.answers.state = () => ({
      sessions: { entries: 3, malformed: 0, bytes: 10 },
      commits: { entries: 2, malformed: 1, bytes: 20 },
      messages: null,
      events: { entries: 9, malformed: 4, bytes: 30, buckets: 5 },
    });
    fleet.answers.state = () => ({ remotes: [] });
    audio.answers.state = () => ({ meeting: null, sockets: 0 });
    const { status, json } = await served.get('/api/v1/state');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      host: 'host-a',
      ...POLLER_STATE,
      ledgers: { sessions: { entries: 3 }, commits: { malformed: 1 }, events: { malformed: 4 } },
      fleet: { remotes: [] },
      audio: { sockets: 0 },
    });
  });

  it('[OPR-2] shows a part that does not answer as null', async () => {
    served.callers.poller.answers.state = () => POLLER_STATE;
    served.callers.fleet.answers.state = () => {
      throw new CodedError('deadline_exceeded', 'too slow');
    };
    const { status, json } = await served.get('/api/v1/state');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ledgers: null,
      fleet: null,
      audio: null,
      boot_quarantine: { active: true },
    });
  });

  it('[OPR-2] fails without the poller', async () => {
    served.callers.poller.up = false;
    expect(await served.get('/api/v1/state')).toMatchObject({
      status: 503,
      json: { error: 'component_unavailable', component: 'poller' },
    });
  });
});

describe('GET /agents and /doctor', () => {
  it('[RPL-5] [RTE-3] returns the registry only of this host', async () => {
    served.callers.poller.answers.agents = () => ({ default: null, agents: [] });
    expect((await served.get('/api/v1/agents?origin=host-a')).json).toEqual({ default: null, agents: [] });
    expect(await served.get('/api/v1/agents?origin=host-z')).toMatchObject({
      status: 404,
      json: { error: 'unknown_host', origin: 'host-z' },
    });
  });

  it('shows the tools as the daemon finds them', async () => {
    const tools = {
      path: '/usr/bin',
      tools: [{ name: 'tmux', path: '/usr/bin/tmux', version: '3.4' }],
      agents: [{ id: 'a', harness: 'claude', signed_in: false, mend: 'run "claude" and log in' }],
    };
    served.callers.poller.answers.tools = () => tools;
    expect((await served.get('/api/v1/doctor')).json).toEqual(tools);
  });
});

describe('the board shell', () => {
  it('is served from the built folder, with the full policy of our own pages, and only when it changed', async () => {
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>Board</title>');
    const page = await served.get('/');
    expect(page).toMatchObject({
      status: 200,
      body: '<!doctype html><title>Board</title>',
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': SECURITY_HEADERS['Content-Security-Policy'],
        'x-frame-options': 'DENY',
      },
    });
    expect((await served.get('/', { 'If-None-Match': page.headers.etag! })).status).toBe(304);
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>New</title>');
    expect((await served.get('/', { 'If-None-Match': page.headers.etag! })).body).toContain('New');
  });

  it('[BRD-1] serves the page of a meeting in its place, whatever else the query says', async () => {
    await writeFile(join(folder, 'index.html'), 'the board');
    await writeFile(join(folder, 'meeting.html'), 'the meeting');
    for (const query of [
      '?view=meeting',
      '?view=meeting&fiber=a%2Fb&origin=another-host',
      '?view=meeting&view=day&fiber=%FF',
    ])
      expect(await served.get(`/${query}`)).toMatchObject({
        status: 200,
        body: 'the meeting',
        headers: { 'content-security-policy': SECURITY_HEADERS['Content-Security-Policy'] },
      });
    for (const query of [
      '',
      '?view=day',
      '?fiber=a%2Fb&origin=another-host',
      '?view=',
      '?fiber=a&fiber=b',
      '?fiber=%FF&%=%&view=%E0%A4%A',
      `?view=${'x'.repeat(2_000)}`,
    ])
      expect((await served.get(`/${query}`)).body).toBe('the board');
  });

  it.each([
    ['manifest.webmanifest', 'application/manifest+json; charset=utf-8'],
    ['sw.js', 'text/javascript; charset=utf-8'],
  ])('has %s asked for each time, also while the daemon boots', async (name, type) => {
    served.become({ ready_ms: null });
    expect(await served.get(`/${name}`)).toMatchObject({ status: 404, json: { error: 'not_found' } });
    await writeFile(join(folder, name), '{}');
    const first = await served.get(`/${name}`);
    expect(first).toMatchObject({
      status: 200,
      body: '{}',
      headers: {
        'content-type': type,
        'cache-control': 'no-cache',
        'content-security-policy': expect.stringContaining("script-src 'self'"),
      },
    });
    expect((await served.get(`/${name}`, { 'If-None-Match': first.headers.etag! })).status).toBe(304);
    await writeFile(join(folder, name), '{"of": "another build"}');
    expect((await served.get(`/${name}`, { 'If-None-Match': first.headers.etag! })).status).toBe(200);
  });

  it('has its assets kept for good, packed where the client takes that, and read from the disk once', async () => {
    const script = `export const text = '${'board '.repeat(400)}';`;
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'assets', 'index-a1.js'), script);
    const plain = await served.get('/assets/index-a1.js');
    expect(plain).toMatchObject({
      status: 200,
      body: script,
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'Accept-Encoding',
      },
    });
    await rm(join(folder, 'assets', 'index-a1.js'));
    const packed = await served.get('/assets/index-a1.js', { 'Accept-Encoding': 'br' });
    expect(packed).toMatchObject({ status: 200, headers: { 'content-encoding': 'br' } });
    expect(brotliDecompressSync(Buffer.from(packed.body, 'latin1')).toString()).toBe(script);
    expect((await served.get('/assets/index-a1.js', { 'If-None-Match': plain.headers.etag! })).status).toBe(
      304,
    );
  });

  it.each(['missing.js', '..%2Findex.html', '.stamp', 'index', 'a%00.js', 'sub%2Fa.js'])(
    'has no asset %s',
    async (name) => {
      await writeFile(join(folder, 'index.html'), 'page');
      const answer = await served.get(`/assets/${name}`);
      expect([400, 404]).toContain(answer.status);
      expect(answer.json.error).toMatch(/^(?:not_found|invalid_request)$/);
    },
  );

  it('finds an asset that was built after it was asked for', async () => {
    expect((await served.get('/assets/late-1.css')).status).toBe(404);
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'assets', 'late-1.css'), 'p{}');
    expect(await served.get('/assets/late-1.css')).toMatchObject({ status: 200, body: 'p{}' });
  });

  it('[BRD-1] says how to build the board if there is none', async () => {
    const missing = await served.get('/');
    expect(missing).toMatchObject({ status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(missing.body).toContain('npm run build');
  });

  it('[BRD-1] redirects a phone to the board', async () => {
    expect(await served.get('/phone')).toMatchObject({ status: 302, body: '', headers: { location: '/' } });
  });
});
