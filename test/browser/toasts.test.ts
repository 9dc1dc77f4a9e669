import { setTimeout as pause } from 'node:timers/promises';
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
  page.run<{ x: number; y: number } | null>(
    `(name) => {
      const one = [...document.querySelectorAll('[role=status] p, [role=status] button')]
        .find(({ innerText }) => innerText.includes(name));
      if (one === undefined) return null;
      const { left, width, top, height } = one.getBoundingClientRect();
      const at = { x: left + width / 2, y: top + height / 2 };
      return one.contains(document.elementFromPoint(at.x, at.y)) ? at : null;
    }`,
    name,
  );

/** The controls of the page that a toast lies over, and the toasts that reach out of the page. */
const covered = () =>
  page.learn<string[]>(`(() => {
    const toasts = [...document.querySelectorAll('[role=status] > [data-tone]')].map((one) => one.getBoundingClientRect());
    if (toasts.length === 0) throw new Error('there is no toast');
    const out = toasts.filter(({ left, right, bottom }) => left < 0 || right > innerWidth || bottom > innerHeight);
    const shown = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
    const found = [...shown.querySelectorAll('button, input, textarea, select, a, summary')]
      .filter((one) => one.closest('[data-tone]') === null || one.closest('[role=status]') === null)
      .flatMap((one) => toasts.map((toast) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const x = (Math.max(left, toast.left) + Math.min(right, toast.right)) / 2;
        const y = (Math.max(top, toast.top) + Math.min(bottom, toast.bottom)) / 2;
        const over = x > Math.max(left, toast.left) && y > Math.max(top, toast.top);
        if (!over) return null;
        // What is scrolled out of its list is not hidden by the toast.
        for (let area = one.parentElement; area !== null; area = area.parentElement) {
          const seen = area.getBoundingClientRect();
          if (getComputedStyle(area).overflowY !== 'visible' && (y < seen.top || y > seen.bottom)) return null;
        }
        return one.innerText || one.getAttribute('aria-label') || one.tagName;
      }))
      .filter((one) => one !== null);
    return [...out.map(() => 'a toast out of the page'), ...found];
  })()`);

async function hits(name: string): Promise<{ x: number; y: number }> {
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
    await hits('The body is saved.');
    expect(await covered()).toEqual([]);
    expect(await axeFaults(page)).toEqual([]);
    await press('Dismiss');
    await until('the end of the toast', async () => (await hit('The body is saved.')) === null);
    expect(await dialogs()).toBe(1);
  });

  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)(
    'covers no control of the page, or of a dialog that is longer than it: %s',
    async (name, view) => {
      await open('', { ...view, height: 520 });
      const column = view.phone ? 'Drafts' : 'Stash';
      await click(page, column);
      if (!view.phone) await page.press('Escape');
      await cardWhen(page, 'other', 'shown');
      await page.learn(`document.querySelector('[data-fiber=other]').focus()`);
      // A person sees which card has the focus before they press a key for it.
      await pause(600);
      await page.press('z');
      await read(page, 'Tomorrow');
      await page.press('1');
      await hits('Undo');
      expect(await covered()).toEqual([]);
      await page.press('c');
      await until('the form', async () => (await dialogs()) === 1);
      await hits('Undo');
      expect(await covered()).toEqual([]);
      await page.press('Escape');
      await until('the end of the form', async () => (await dialogs()) === 0);
      await press('Undo');
      await cardWhen(page, 'other', `back on a ${name}`);
    },
  );

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
