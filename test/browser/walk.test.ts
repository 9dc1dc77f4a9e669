import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programOf } from '../kit/built-package.ts';
import { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { click, fill, read } from './controls.ts';
import { cards, cardWhen, faults, focused } from './desk-page.ts';

/** Where the pictures go that the documentation shows; `npm run pictures` sets it. */
const KEPT = process.env.PICTURES_FOLDER;
const TITLE = `the walk of a newcomer${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;
const ID = 'sort-the-spring-letters';
const CARD = `[data-fiber="${ID}"]`;
/** Of the demo agent; slow where a picture is to show it at work. */
const PACE_MS = KEPT === undefined ? 700 : 2_500;

/** The demo alone, and a browser: no command but the one that starts it. */
describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  let home: TestHome;
  let demo: ChildProcess;
  let browser: Chromium;
  let page: Page;
  const LAUNCHER = programOf('launcher.mjs');

  beforeAll(async () => {
    home = new TestHome({ SVC_STORES: undefined, SVC_HOST: undefined, SVC_LISTEN: '127.0.0.1:0' });
    demo = spawn(
      process.execPath,
      [LAUNCHER, 'demo', '--dir', home.path('demo'), '--pace-ms', String(PACE_MS)],
      { env: home.env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    demo.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const address = await until('the address of the board', () => /^Board: (\S+)/m.exec(said)?.[1]);
    browser = new Chromium();
    page = await browser.open(address, { view: (one) => one.look({ width: 1280, height: 800 }) });
  });

  afterAll(async () => {
    await browser?.close();
    await home.svc('demo', '--dir', home.path('demo'), '--remove', '--force');
    demo.kill();
    await home.dispose();
  });

  /** Keeps what is shown as a picture of the documentation. */
  async function photograph(name: string): Promise<void> {
    if (KEPT === undefined) return;
    await page.settled();
    mkdirSync(KEPT, { recursive: true });
    writeFileSync(join(KEPT, `walk-${name}.webp`), await page.photo('webp'));
  }
  async function focus(): Promise<void> {
    await until('the focus on the card', async () => {
      await page.learn(`document.querySelector('${CARD}')?.focus()`);
      return (await focused(page)) === ID;
    });
  }
  const noDialog = () =>
    until('the end of the dialog', () => page.learn<boolean>("document.querySelector('dialog') === null"));

  it('[SVC-3] leads from the demo’s board to a task that is stashed, launched, watched, answered and accepted, and back', async () => {
    await read(page, 'live');
    await cardWhen(page, 'loader', 'at work', ({ column }) => column === 'In flight');
    await until('a wake', () => page.learn<boolean>("document.querySelector('article [role=img]') !== null"));
    await photograph('1-desk');

    await page.press('s');
    await read(page, 'Stash a draft');
    await page.type('Sort the spring letters\nBy sender, then by day.');
    await fill(page, 'Project', home.path('demo', 'projects', 'notes'));
    await photograph('2-stash');
    await click(page, 'Stash it');
    await cardWhen(page, ID, 'a draft', ({ column }) => column === 'Drafts');

    await noDialog();
    await focus();
    await page.press('L');
    await read(page, `Start demo for ${ID}`);
    await photograph('3-launch');
    await click(page, 'Launch');
    await cardWhen(page, ID, 'asking', ({ state }) => state === 'waiting');
    await photograph('4-asks');

    await focus();
    await page.press('w');
    await until('its screen', () =>
      page.learn<boolean>(
        `document.querySelector('[role=region][aria-label="Screen of the worker"]')?.innerText.includes('begin with?\\n') === true`,
      ),
    );
    await photograph('5-screen');
    await page.press('Escape');
    await noDialog();

    await page.run(`(css) => document.querySelector(css).click()`, `${CARD} p`);
    await read(page, 'This run');
    await fill(page, 'Reply to the worker', 'Begin with the letters from the coast.');
    await click(page, 'Reply');
    await until('the receipt of the reply', async () =>
      /from the coast\.\s+Accepted/.test(
        await page.learn<string>(`document.querySelector('dialog [data-part=Messages]')?.innerText ?? ''`),
      ),
    );
    await photograph('6-reply');
    await page.press('Escape');
    await noDialog();

    await cardWhen(page, ID, 'awaiting review', ({ column }) => column === 'Awaiting review');
    await page.run(`(css) => document.querySelector(css).click()`, `${CARD} p`);
    await read(page, 'You said: Begin with the letters from the coast.');
    // Its worker has ended.
    await read(page, 'Set-up');
    await photograph('7-review');
    await page.press('Escape');
    await noDialog();
    await focus();
    await page.press('a');
    await read(page, 'Undo');
    await until('no card', async () => !(await cards(page)).some(({ fiber }) => fiber === ID));
    await photograph('8-accepted');
    await page.press('u');
    await cardWhen(page, ID, 'back', ({ column }) => column === 'Awaiting review');
    expect(faults(page)).toEqual([]);
  });

  it('ends with one command, which ends the demo in the other terminal and removes all it made', async () => {
    const removed = await home.svc('demo', '--dir', home.path('demo'), '--remove', '--force');
    expect(removed).toMatchObject({ code: 0, stderr: '' });
    expect(removed.stdout).toContain(`Removed ${home.path('demo')}`);
    expect(existsSync(home.path('demo'))).toBe(false);
    await until('the end of the demo', () => demo.exitCode !== null);
    expect(demo.exitCode).toBe(0);
  });
});
