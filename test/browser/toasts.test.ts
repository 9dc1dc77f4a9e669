import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, click, fill, read } from './controls.ts';
import { cardWhen, DESKTOP, faults, PHONE } from './desk-page.ts';

const TITLE = `what the board says at its bottom${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;
let page: Page;

const open = async (query: string, view: View = DESKTOP) => {
  page = await browser.open(`http://${daemon.address}/${query}`, { view: (shown) => shown.look(view) });
};
const dialogs = () => page.learn<number>("document.querySelectorAll('dialog').length");

/** The middle of an element of a toast if the mouse hits it there, else null. */
const hit = (name: string) =>
  page.run<{ x: number; y: number; below: number } | null>(
    `(name) => {
      const one = [...document.querySelectorAll('[role=status] p, [role=status] button')]
        .find(({ innerText }) => innerText.includes(name));
      if (one === undefined) return null;
      const { left, width, top, height } = one.getBoundingClientRect();
      const at = { x: left + width / 2, y: top + height / 2 };
      const bottom = one.closest('div').getBoundingClientRect().bottom;
      return one.contains(document.elementFromPoint(at.x, at.y)) ? { ...at, below: innerHeight - bottom } : null;
    }`,
    name,
  );

async function hits(name: string): Promise<{ x: number; y: number; below: number }> {
  return until(`${name} in reach of the mouse`, () => hit(name));
}

async function openHosts(): Promise<void> {
  await page.press('g');
  await page.press('h');
  await until('the sheet', async () => (await dialogs()) === 1);
}

async function press(name: string): Promise<void> {
  const { x, y } = await hits(name);
  await page.mouse('down', x, y);
  await page.mouse('up', x, y);
}

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        home.fiber('edited', { front: { status: 'open' }, body: 'one\n' });
        home.fiber('sketch', { front: { status: 'open' } });
        home.fiber('other', { front: { status: 'open' } });
      },
    });
  });

  afterEach(() => expect(faults(page)).toEqual([]));

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)('can be read and put away at the bottom of an open sheet: %s', async (name, view) => {
    await open('?fiber=edited', view);
    await click(page, 'Edit the body');
    await fill(page, 'Markdown', `two on a ${name}`);
    await click(page, 'Save');
    const { below } = await hits('The body is saved.');
    expect(below).toBeGreaterThanOrEqual(0);
    expect(await axeFaults(page)).toEqual([]);
    await press('Dismiss');
    await until('the end of the toast', async () => (await hit('The body is saved.')) === null);
    expect(await dialogs()).toBe(1);
  });

  it('is taken back with its key over an open sheet, and goes back to the page with the end of the sheet', async () => {
    await open('');
    await cardWhen(page, 'sketch', 'shown');
    await page.learn(`document.querySelector('[data-fiber=sketch]').focus()`);
    await page.press('z');
    await read(page, 'Tomorrow');
    await page.press('1');
    await read(page, 'Undo');
    await openHosts();
    await hits('Undo');
    await page.press('Escape');
    await until('the end of the sheet', async () => (await dialogs()) === 0);
    await hits('Undo');
    await openHosts();
    await page.press('u');
    await cardWhen(page, 'sketch', 'back');
    expect(await dialogs()).toBe(1);
  });
});
