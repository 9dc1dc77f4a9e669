import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { builtBoard } from '../kit/built-package.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { faults } from './desk-page.ts';

const BUILT = builtBoard();

let browser: Chromium;
let daemon: TestDaemon;
/** A copy of the built board, which a test may build again. */
let board: string;

const open = () =>
  browser.open(`http://${daemon.address}/`, { view: (page) => page.look({ width: 1400, height: 875 }) });
const text = (page: Page) => page.learn<string>('document.body.innerText');
const says = (page: Page, words: string) => until(words, async () => (await text(page)).includes(words));
/** What the browser keeps for when the daemon does not answer, by the name of the cache. */
const kept = (page: Page) =>
  page.learn<
    Record<string, string[]>
  >(`(async () => Object.fromEntries(await Promise.all((await caches.keys()).map(
    async (name) => [name, (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)]))))()`);
const whenKept = (page: Page) =>
  until('the page to be kept', async () => {
    const all = Object.values(await kept(page));
    const controlled = await page.learn<boolean>('navigator.serviceWorker.controller !== null');
    return controlled && all.length === 1 && all[0]?.includes('/') ? all[0] : null;
  });
const press = (page: Page, name: string) =>
  until(`the button ${name}`, () =>
    page.learn<boolean>(`(() => {
      const button = [...document.querySelectorAll('[role=status] button')].find(({ innerText }) => innerText === '${name}');
      button?.click();
      return button !== undefined;
    })()`),
  );

/** Builds the same board under other names, as a build of changed sources would. */
function buildAnew(): string {
  const entry = readdirSync(join(board, 'assets')).find((name) => /^index-.*\.js$/.test(name)) ?? '';
  const next = `index-anew${entry.slice('index-'.length)}`;
  cpSync(join(board, 'assets', entry), join(board, 'assets', next));
  const page = readFileSync(join(board, 'index.html'), 'utf8');
  writeFileSync(join(board, 'index.html'), page.replace(entry, next));
  return `/assets/${next}`;
}

const TITLE = `the board as an app in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    board = mkdtempSync(join(tmpdir(), 'svc-board-'));
    cpSync(BUILT, board, { recursive: true });
    daemon = await startTestDaemon({
      settings: { SVC_LISTEN: `127.0.0.1:${await unusedPort()}`, SVC_UI_DIST: board },
      prepare: (home) => void home.fiber('sketch', { front: { status: 'open' } }),
    });
  });

  afterEach(() => {
    rmSync(board, { recursive: true });
    cpSync(BUILT, board, { recursive: true });
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
    rmSync(board, { recursive: true, force: true });
  });

  it('can be installed: its manifest is whole, with every icon', async () => {
    const page = await open();
    await says(page, 'sketch');
    const { manifest, icons, errors } = await page.manifest();
    expect(errors).toEqual([]);
    expect(manifest).toMatchObject({
      id: '/',
      start_url: '/',
      display: 'standalone',
      name: 'Fiber Dispatch',
    });
    const sizes = await page.learn<string[]>(`Promise.all(${JSON.stringify(icons)}.map(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      return src + ' ' + image.naturalWidth;
    }))`);
    expect(sizes.length).toBeGreaterThan(2);
    for (const one of sizes) expect(one).toMatch(/-(\d+)-\d+\.png \1$/);
    const touch = await page.learn<number>(
      "fetch(document.querySelector('[rel=apple-touch-icon]').href).then(({ status }) => status)",
    );
    expect(touch).toBe(200);
    expect(faults(page)).toEqual([]);
  });

  it('opens without the daemon and says so, shows what the last page knew with its age, and is live again by itself', async () => {
    const page = await open();
    await says(page, 'sketch');
    const paths = await whenKept(page);
    expect(paths.filter((path) => path !== '/' && !path.startsWith('/assets/'))).toEqual([]);
    await daemon.stop('SIGKILL');
    await says(page, 'No answer from');
    const again = await open();
    await says(again, 'sketch');
    expect(await text(again)).toMatch(/No answer from test-host.*showing \d\d:\d\d/s);
    expect(await text(again)).not.toMatch(/\blive\b/);
    await daemon.start();
    await says(again, 'sketch');
    await says(again, 'live');
    expect(faults(again)).toEqual([]);
  });

  it('keeps one build alone, and never an answer of the API', async () => {
    const page = await open();
    await says(page, 'sketch');
    const before = await whenKept(page);
    const next = buildAnew();
    expect(before).not.toContain(next);
    const reloaded = await open();
    await says(reloaded, 'sketch');
    const after = await until('the new build', async () => {
      const [only, ...others] = Object.values(await kept(reloaded));
      return others.length === 0 && only?.includes(next) ? only : null;
    });
    expect(after.filter((path) => path.includes('index-') && path.endsWith('.js'))).toEqual([next]);
    expect(after.join()).not.toContain('/api');
    await daemon.stop('SIGKILL');
    const offline = await open();
    await says(offline, 'No answer from');
    expect(await offline.learn("document.querySelector('script[type=module]').getAttribute('src')")).toBe(
      next,
    );
    await daemon.start();
  });

  it('says that another build is served, and shows that one once it is loaded again', async () => {
    const page = await open();
    await says(page, 'sketch');
    expect(await text(page)).not.toContain('The board was updated');
    const next = buildAnew();
    await page.learn("document.dispatchEvent(new Event('visibilitychange'))");
    await says(page, 'The board was updated');
    await press(page, 'Reload');
    await until('the new page', () =>
      page.learn<boolean>(`document.querySelector('script[src="${next}"]') !== null`).catch(() => false),
    );
    await says(page, 'sketch');
    expect(await text(page)).not.toContain('The board was updated');
    expect(faults(page)).toEqual([]);
  });

  it('says so where it opens a part that another build has no more', async () => {
    const page = await open();
    await says(page, 'sketch');
    for (const name of readdirSync(join(board, 'assets')))
      if (name.startsWith('KeySheet-')) rmSync(join(board, 'assets', name));
    buildAnew();
    await page.learn("document.querySelector('header button[aria-label=Keys]').click()");
    await says(page, 'The board was updated. Reload the page to open this.');
  });

  it('asks for that as well when the daemon is back', async () => {
    const page = await open();
    await says(page, 'live');
    await daemon.stop('SIGKILL');
    await says(page, 'No answer from');
    buildAnew();
    await daemon.start();
    await says(page, 'The board was updated');
  });

  it('says that the daemon is older where it does not know a route', async () => {
    const page = await open();
    await says(page, 'sketch');
    await page.learn(`(() => {
      const ask = window.fetch;
      window.fetch = (path, options) => ask(path === '/api/v1/dispatch' ? '/api/v1/no-such-route' : path, options);
    })()`);
    await page.learn("document.querySelector('[data-fiber=sketch]').focus()");
    await page.press('L');
    await says(page, 'This daemon is older than the board');
    await says(page, 'svc daemon restart');
  });
});
