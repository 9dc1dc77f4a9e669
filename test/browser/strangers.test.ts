import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { HOSTILE_SCRIPT, type HostileSite, serveHostileSite } from './hostile-site.ts';

type Loot = Record<string, string>;

/** In the name of the only fiber, so that no byte of it can be seen without being noticed. */
const SECRET = 'violet-heron-4711';
const MANY_ATTEMPTS = 60;
/** What the hostile page opens in windows of their own, once for each name of the daemon. */
const OPENED = ['/', '/api/v1/fibers', '/api/v1/state', '/api/v1/version'];

let daemon: TestDaemon;
let site: HostileSite;
let browser: Chromium;

const port = () => daemon.address.split(':').at(-1)!;
const ownBase = () => `http://127.0.0.1:${port()}`;
const DISPATCH = JSON.stringify({ fiber_id: 'quiet', force: true, ad_hoc: true });

let read = 0;
let marks = 0;

/** What the daemon has written down of the requests since the last call, our own excepted. */
async function takeServed(): Promise<{ method: string; path: string; status: number }[]> {
  marks += 1;
  const path = `/api/v1/mark-${marks}`;
  await daemon.http.get(path.slice('/api/v1'.length));
  const end = await until('the mark in the log', () => {
    const at = daemon.log.indexOf(`"path":"${path}"`, read);
    return at < 0 ? null : daemon.log.indexOf('\n', at) + 1 || null;
  });
  const lines = daemon.log.slice(read, end).split('\n');
  read = end;
  return lines
    .filter((line) => line.includes('"msg":"request"') && !line.includes('/mark-'))
    .map((line) => JSON.parse(line));
}

function launches(): string[] {
  try {
    return readdirSync(join(daemon.home.data, 'runs'));
  } catch {
    return [];
  }
}

function expectNothing(loot: Loot): void {
  const text = JSON.stringify(loot);
  for (const known of [SECRET, 'git_short_sha', 'poll_health', 'npm run build', 'peer_gate'])
    expect(text).not.toContain(known);
  for (const [name, got] of Object.entries(loot)) {
    expect(got, name).not.toMatch(/^(?:basic|cors|opened|started)/);
    expect(got, name).not.toMatch(/^loaded [1-9]/);
  }
}

async function expectNoEffect(): Promise<void> {
  const row = await daemon.row('quiet');
  expect(row?.name).toBe(SECRET);
  expect(row?.runtime ?? null).toBeNull();
  expect(launches()).toEqual([]);
  expect((await daemon.state()).boot_quarantine).toMatchObject({ active: true });
  await takeServed();
}

const ELSEWHERE: [string, (port: number) => string][] = [
  ['another site', (at) => `http://evil.example:${at}/`],
  ['another port of this machine', (at) => `http://127.0.0.1:${at}/`],
  ['another port of localhost', (at) => `http://localhost:${at}/`],
];

const TITLE = `in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    daemon = await startTestDaemon({
      // Without the board, which would ask for more by itself where its page is opened.
      settings: { SVC_LOG_LEVEL: 'debug', SVC_UI_DIST: '/nonexistent' },
      prepare: (home) => void home.fiber('quiet', { front: { name: SECRET } }),
      release: false,
    });
    site = await serveHostileSite();
    browser = new Chromium({ 'evil.example': '127.0.0.1', 'rebind.example': '127.0.0.1' });
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await daemon?.dispose();
  });

  describe.each(ELSEWHERE)('a page of %s', (_, address) => {
    let page: Page;
    beforeEach(async () => {
      page = await browser.open(address(site.port));
    });

    it('[AUT-3] [P18] reads no byte by any means of a script', async () => {
      await takeServed();
      const bases = [ownBase(), `http://localhost:${port()}`];
      for (const loot of await Promise.all(bases.map((base) => page.run<Loot>('plunder', base)))) {
        expect(Object.keys(loot).length).toBeGreaterThan(MANY_ATTEMPTS);
        expectNothing(loot);
      }
      const served = (await takeServed()).filter((one) => one.status !== 403);
      await expectNoEffect();
      // A window of its own may show the board or an answer to the person; the page that opened it cannot look in.
      for (const one of served) expect(one.method).toBe('GET');
      // For such a window the browser may ask for an icon, which there is none of.
      const icons = served.filter(({ path }) => path === '/favicon.ico');
      for (const one of icons) expect(one.status).toBe(404);
      const shown = served.filter(({ path }) => path !== '/favicon.ico').map(({ path }) => path);
      for (const path of shown) expect(OPENED).toContain(path);
      for (const path of OPENED) expect(shown.filter((one) => one === path).length, path).toBeLessThan(3);
    });

    it('[AUT-3] has no effect by any request of a script or a form', async () => {
      await takeServed();
      for (const path of ['/api/v1/dispatch', '/api/v1/quarantine/release']) {
        expectNothing(await page.run<Loot>('strike', ownBase() + path, DISPATCH));
      }
      const writes = (await takeServed()).filter((one) => one.method !== 'GET');
      await expectNoEffect();
      expect(writes.length).toBeGreaterThan(15);
      for (const one of writes) expect(one, JSON.stringify(one)).toMatchObject({ status: 403 });
    });
  });

  describe('a host name that an attacker resolves to this machine', () => {
    it('[P18] is refused: its page reads nothing and has no effect under the daemon’s own port', async () => {
      const base = `http://rebind.example:${port()}`;
      await takeServed();
      const page = await browser.open(`${base}/`);
      expect(await page.run<string>('() => document.documentElement.textContent')).toContain(
        'forbidden_host',
      );
      await page.learn(HOSTILE_SCRIPT);
      const loot = await page.run<Loot>('plunder', base);
      for (const [name, got] of Object.entries(loot)) {
        if (/^basic/.test(got)) expect(got, name).toMatch(/^basic 403 /);
      }
      expect(JSON.stringify(loot)).not.toContain(SECRET);
      expect(JSON.stringify(loot)).toContain('forbidden_host');
      await page.run<Loot>('strike', `${base}/api/v1/dispatch`, DISPATCH);
      const served = await takeServed();
      expect(served.length).toBeGreaterThan(30);
      for (const one of served) expect(one, JSON.stringify(one)).toMatchObject({ status: 403 });
      await expectNoEffect();
    });
  });

  describe('a page that a worker has written', () => {
    it('[RPL-10] is shown in a sandbox: it runs no script and has an opaque origin', async () => {
      const text = '<!doctype html><p>report</p><script>window.inline = true</script>';
      const path = daemon.home.write('report.html', text);
      const page = await browser.open(`${ownBase()}/api/v1/file?path=${encodeURIComponent(path)}`);
      expect(await page.learn("document.querySelector('p').textContent")).toBe('report');
      expect(await page.learn('[window.origin, typeof window.inline]')).toEqual(['null', 'undefined']);
    });
  });

  describe('a script on a disk', () => {
    it('[RPL-10] is never run by the daemon’s own page, as a script, a module or a worker', async () => {
      const path = daemon.home.write(
        'evil.js',
        'globalThis.ran = true; globalThis.postMessage?.("ran", "*")',
      );
      const page = await browser.open(`${ownBase()}/`);
      const source = JSON.stringify(`/api/v1/file?path=${encodeURIComponent(path)}`);
      const outcomes = await page.learn(`(async () => {
        const allowed = trustedTypes.createPolicy('test', { createScriptURL: (text) => text });
        const url = allowed.createScriptURL(${source});
        const told = (one) => new Promise((done) => {
          one.onload = () => done('loaded');
          one.onmessage = () => done('ran');
          one.onerror = () => done('failed');
        });
        const script = (type) => {
          const element = Object.assign(document.createElement('script'), { type });
          element.src = url;
          document.head.append(element);
          return element;
        };
        return [
          await told(script('text/javascript')),
          await told(script('module')),
          await told(new Worker(url)),
          await navigator.serviceWorker.register(url).then(() => 'ran', () => 'failed'),
          (await fetch(${source})).status,
          typeof globalThis.ran,
        ];
      })()`);
      expect(outcomes).toEqual(['failed', 'failed', 'failed', 'failed', 200, 'undefined']);
    });
  });

  describe('the daemon’s own page', () => {
    it('reads and writes, so the attempts above fail only because of their origin', async () => {
      const page = await browser.open(`${ownBase()}/`);
      await page.learn(HOSTILE_SCRIPT);
      await until('what the page reads', async () =>
        (await page.run<Loot>('plunder', ownBase()))['fetch /api/v1/fibers']?.includes(SECRET),
      );
      const got = await page.run<Loot>('strike', `${ownBase()}/api/v1/dispatch`, DISPATCH);
      expect(got['fetch JSON']).toMatch(/^basic 200 .*"dispatched":true/);
      await daemon.running('quiet');
      expect(launches().length).toBeGreaterThan(0);
      // Plain text has no effect even from here.
      expect(got['fetch text']).toMatch(/^basic 415 /);
      for (const type of ['text/plain', 'multipart', 'urlencoded'])
        expect(got[`form ${type}`], type).toBe('forbidden by form-action');
    });
  });
});
