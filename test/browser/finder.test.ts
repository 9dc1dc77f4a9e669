import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { axeFaults, click, read, VIEWS, words } from './controls.ts';
import { cardWhen, focused } from './desk-page.ts';

const TITLE = `the finder in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;
let page: Page;

const [, DESKTOP] = VIEWS[0]!;
const open = async (query = '', view = DESKTOP) => {
  page = await browser.open(`http://${daemon.address}/${query}`, { view: (one) => one.look(view) });
  await read(page, 'test-host');
};
const search = () => page.learn<string>('location.search');
/** The entries in order; the chosen one begins with a star. */
const entries = () =>
  page.learn<string[]>(
    `[...document.querySelectorAll('[role=option]')].map((one) =>
      (one.ariaSelected === 'true' ? '*' : '') + (one.querySelector('b') ?? one).innerText)`,
  );
const entriesAre = (...expected: string[]) =>
  until(`the entries ${expected.join(', ')}`, async () => (await entries()).join('|') === expected.join('|'));

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        const draft = (id: string, name: string, front: object = {}, body = '') =>
          home.fiber(id, { front: { name, status: 'open', ...front }, body });
        draft('manual', 'Write the manual', { tags: ['docs'] }, 'The chapter on barnacles is missing.');
        draft('index', 'Index of the manual', {}, 'By keyword.');
        draft('old-manual', 'Old manual', { status: 'closed', tempered: true });
        draft('pictures', 'Pictures', { horizon: 'stashed' }, 'Draw the barnacles.');
      },
    });
  });
  // A browser says by itself that a request was refused.
  afterEach(() => expect(page.complaints.filter((one) => !/status of 400/.test(one))).toEqual([]));
  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('finds by title from the key to the sheet, with the keyboard alone, and comes back to where it was', async () => {
    await open();
    await cardWhen(page, 'index', 'is there');
    await page.learn(`document.querySelector('[data-fiber=index]').focus()`);
    await page.press('/');
    await read(page, 'Changed last');
    await page.type('man');
    await entriesAre('*Index of the manual', 'Write the manual', 'Old manual');
    await page.press('ArrowDown');
    await entriesAre('Index of the manual', '*Write the manual', 'Old manual');
    await until('the address with the query', async () => (await search()) === '?sheet=find&q=man');
    expect(await page.learn('document.activeElement.getAttribute("aria-activedescendant")')).toBe(
      await page.learn('document.querySelector("[aria-selected=true]").id'),
    );
    await page.press('Enter');
    await until('its sheet', async () => (await search()) === '?fiber=manual');
    await read(page, 'The chapter on barnacles is missing.');
    await page.press('Escape');
    expect(await focused(page)).toBe('index');
    await page.press('/');
    await read(page, 'Changed last');
    await page.type('man');
    await entriesAre('*Index of the manual', 'Write the manual', 'Old manual');
    await page.press('Enter');
    await until('the sheet, which is loaded by now', async () => (await search()) === '?fiber=index');
    await page.press('Escape');
    expect(await focused(page)).toBe('index');
    await page.press('/');
    await read(page, 'Changed last');
    await page.press('Escape');
    await until('the Desk', async () => (await search()) === '');
  });

  it('finds what is judged or rests and says so, and bodies by the daemon, from an address', async () => {
    await open('?sheet=find&q=barnacles');
    await read(page, 'In the text');
    await entriesAre('*Pictures', 'Write the manual').catch(() =>
      entriesAre('*Write the manual', 'Pictures'),
    );
    const text = await words(page);
    for (const word of ['Resting', 'Draw the barnacles.', 'The chapter on barnacles is missing.'])
      expect(text).toContain(word);
    await page.press('Escape');
    await open('?sheet=find&q=old');
    await read(page, 'Accepted');
  });

  it('says in the words of the daemon why it searched no text, and finds the rest all the same', async () => {
    await open('?sheet=find&q=%22%22');
    await read(page, 'The texts were not searched. The query contains no word to search for.');
    await open('?sheet=find&q=docs');
    await entriesAre('*Write the manual');
    await open('?sheet=find&q=zzz');
    await read(page, 'Nothing has “zzz”');
  });

  it('runs commands', async () => {
    await open('?sheet=find&q=emerg');
    await entriesAre('*Settings: emergency brake');
    await page.press('Enter');
    await until('the settings', async () => (await search()) === '?view=settings&part=brake');
    expect(await page.learn('document.querySelector("dialog:modal")')).toBe(null);
  });

  it.each(VIEWS)('is whole and accessible, in %s', async (_, view) => {
    await open('', view);
    await click(page, view.phone ? 'Find' : 'Find a fiber or a command');
    await read(page, 'Changed last');
    await page.type('manual');
    await read(page, 'Fibers');
    await until('the pause', async () => (await search()).endsWith('q=manual'));
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    if (view.phone === true) await click(page, 'Close');
    else await page.press('Escape');
    await until('the Desk', async () => (await search()) === '');
  });
});
