import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, VIEWS } from './controls.ts';
import { DESKTOP, faults } from './desk-page.ts';

/** Every kind of colour and attribute, some of them made for one ground alone. */
const COLOURS = [
  "for n in 0 1 2 3 4 5 6 7; do printf '\\033[3%dmcolour\\033[0m \\033[9%dmbright\\033[0m \\033[4%dmground\\033[0m ' $n $n $n; done; echo",
  "printf '\\033[38;5;226myellow\\033[0m \\033[38;5;17mnavy\\033[0m \\033[38;2;255;255;255mwhite\\033[0m \\033[38;2;0;0;0mblack\\033[0m\\n'",
  "printf '\\033[1mbold\\033[0m \\033[2mdim\\033[0m \\033[3mitalic\\033[0m \\033[4munder\\033[0m \\033[7mreverse\\033[0m \\033[9mgone\\033[0m\\n'",
  "printf '┌──────┐\\n│ 漢字 │\\n└──────┘\\n'",
].join('; ');

let daemon: TestDaemon;
let browser: Chromium;

const open = (fiber: string, view: View = DESKTOP) =>
  browser.open(`http://${daemon.address}/?part=screen&fiber=${fiber}`, { view: (page) => page.look(view) });

/** Has the agent of a fiber run a shell command on its terminal. */
function order(fiber: string, command: string): void {
  daemon.home.write(`projects/${fiber}/orders`, `{ ${command}; } >/dev/tty 2>&1`);
}

const AREA = 'document.querySelector(\'[role=region][aria-label="Screen of the worker"]\')';
const shown = (page: Page) => page.learn<string>(`${AREA}?.innerText ?? ''`);
const standing = (page: Page) =>
  page.learn<string>("document.querySelector('[data-standing]')?.innerText ?? ''");
const shows = (page: Page, words: string) => until(words, async () => (await shown(page)).includes(words));
const stands = (page: Page, words: string) =>
  until(words, async () => (await standing(page)).includes(words));
const isAtEnd = (page: Page) =>
  page.learn<boolean>(`${AREA}.scrollHeight - ${AREA}.clientHeight - ${AREA}.scrollTop < 24`);

async function start(fiber: string): Promise<void> {
  await daemon.dispatch({ fiber_id: fiber, force: true });
  await daemon.running(fiber);
}

const TITLE = `the screen of a worker in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      settings: { SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
      prepare(home) {
        for (const fiber of ['watched', 'ending', 'unseen', 'idle'])
          home.fiber(fiber, { agent: 'talks', front: { status: 'open' } });
      },
    });
    await start('watched');
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('shows what the worker writes, as text that can be selected, and colours that can be read', async () => {
    const page = await open('watched');
    await stands(page, 'Live, read only');
    order('watched', `${COLOURS}; echo end of colours`);
    await shows(page, 'end of colours');
    expect(await shown(page)).toContain('┌──────┐\n│ 漢字 │\n└──────┘');
    const selected = await page.learn<string>(`(() => {
      getSelection().selectAllChildren(${AREA});
      return getSelection().toString();
    })()`);
    expect(selected).toContain('┌──────┐\n│ 漢字 │\n└──────┘');
    const [yellow, bold] = await page.learn<string[]>(`(() => {
      const find = (text) => [...${AREA}.querySelectorAll('span')].find((one) => one.innerText === text);
      return [getComputedStyle(find('yellow')).color, getComputedStyle(find('bold')).fontWeight];
    })()`);
    expect(yellow).toMatch(/^rgb\(/);
    expect(bold).toBe('700');
    expect(faults(page)).toEqual([]);
  });

  it('follows the newest lines until the reader scrolls up, and again when asked to', async () => {
    const page = await open('watched');
    await stands(page, 'Live');
    order('watched', 'i=0; while [ $i -lt 120 ]; do echo "line $i"; i=$((i+1)); done');
    await shows(page, 'line 119');
    expect(await isAtEnd(page)).toBe(true);
    await page.learn(`${AREA}.scrollTop = 0`);
    await until('the button', () => page.learn("document.body.innerText.includes('Newest lines')"));
    order('watched', 'echo one more line');
    await shows(page, 'one more line');
    expect(await page.learn(`${AREA}.scrollTop`)).toBe(0);
    await page.learn(
      "[...document.querySelectorAll('button')].find(({ innerText }) => innerText === 'Newest lines').click()",
    );
    await until('the end', () => isAtEnd(page));
    order('watched', 'echo and another');
    await shows(page, 'and another');
    await until('the end', () => isAtEnd(page));
    expect(faults(page)).toEqual([]);
  });

  it('opens with a key on the card, and closes with Escape', async () => {
    const page = await browser.open(`http://${daemon.address}/`, { view: (one) => one.look(DESKTOP) });
    await until('the card', () =>
      page.learn(
        "(document.querySelector('[data-fiber=watched]')?.focus(), document.activeElement.dataset.fiber === 'watched')",
      ),
    );
    await page.press('w');
    await stands(page, 'Live');
    expect(await page.learn('location.search')).toBe('?part=screen&fiber=watched');
    await page.press('Escape');
    await until('the end of it', () => page.learn(`${AREA} === null`));
    expect(await page.learn('location.search')).toBe('');
    await page.press('Enter');
    await until('the sheet', () => page.learn("document.querySelector('[data-fiber-sheet]') !== null"));
    await page.press('w');
    await stands(page, 'Live');
    await page.press('Escape');
    await until('the sheet again', () => page.learn(`${AREA} === null`));
    expect(await page.learn('location.search')).toBe('?fiber=watched');
    expect(faults(page)).toEqual([]);
  });

  it('keeps the last screen of a worker that has ended, and says so', async () => {
    await start('ending');
    const page = await open('ending');
    order('ending', 'echo last words');
    await shows(page, 'last words');
    await daemon.kill('ending');
    await stands(page, 'The worker has ended. This is what it showed last.');
    expect(await shown(page)).toContain('last words');
    expect(faults(page)).toEqual([]);
  });

  it('says that there is nothing to show of a fiber without a worker, and of none', async () => {
    const page = await open('idle');
    await until('the sentence', () =>
      page.learn("document.body.innerText.includes('No worker runs for this fiber now')"),
    );
    const none = await open('no-such-fiber');
    await until('the sentence', () => none.learn("document.body.innerText.includes('no such fiber')"));
  });

  it.each(VIEWS)(
    'can be read, has no serious fault that axe finds, and fits the page: %s',
    async (_, view) => {
      const page = await open('watched', view);
      order('watched', `${COLOURS}; echo end of colours`);
      await shows(page, 'end of colours');
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.learn<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      const wraps = await page.learn<boolean>(`${AREA}.scrollWidth <= ${AREA}.clientWidth`);
      if (view.phone) expect(wraps).toBe(true);
      expect(faults(page)).toEqual([]);
    },
  );

  it('says that the daemon is gone, and goes on by itself when it is back', async () => {
    const page = await open('watched');
    order('watched', 'echo before');
    await shows(page, 'before');
    await daemon.stop('SIGKILL');
    await stands(page, 'No answer from the daemon since');
    expect(await shown(page)).toContain('before');
    await daemon.start();
    await stands(page, 'Live');
    order('watched', 'echo afterwards');
    await shows(page, 'afterwards');
    expect(faults(page)).toEqual([]);
  });
});
