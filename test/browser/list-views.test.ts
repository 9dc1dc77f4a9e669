import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { axeFaults, read, VIEWS, words } from './controls.ts';
import { cards, cardWhen, faults, focused } from './desk-page.ts';
import { addPast, tides, yesterday, yesterdayAt } from './past.ts';

const TITLE = `the Week, the Chronicle and the Shelf${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;

const open = async (query: string, view: (typeof VIEWS)[number][1]) => {
  const page = await browser.open(`http://${daemon.address}/${query}`, { view: (one) => one.look(view) });
  await read(page, 'live');
  return page;
};
const ids = async (page: Page) => (await cards(page)).map(({ fiber }) => fiber);

/** Nothing of a page that is looked at with 200 % reaches out of it. */
async function fitsAtTwice(page: Page): Promise<boolean> {
  await page.look({ width: 640, height: 450 });
  await page.settled();
  return page.learn<boolean>('document.documentElement.scrollWidth <= innerWidth');
}

async function photo(page: Page, name: string): Promise<void> {
  const folder = process.env.SVC_TEST_PHOTOS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.settled();
  writeFileSync(`${folder}/${name}.png`, await page.photo());
}

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        const closed = (id: string, at: string, tempered?: boolean) =>
          home.fiber(id, {
            front: {
              status: 'closed',
              outcome: `What came of ${id}.`,
              'closed-at': at,
              ...(tempered === undefined ? {} : { tempered }),
            },
          });
        closed('taken', '2026-03-02T12:00:00.000Z', true);
        closed('left', '2026-03-02T10:00:00.000Z', false);
        closed('asked', '2026-03-01T12:00:00.000Z');
        addPast(home, yesterdayAt(24), [
          { session: 'past', work: [[600, 480, tides(1)]], words: [600, 540] },
        ]);
        home.fiber('asleep', { front: { status: 'open', horizon: 'stashed', outcome: 'Waits for spring.' } });
        home.fiber('awake', { front: { status: 'open' } });
      },
    });
    await daemon.rowWhen('awake', 'listed', () => true);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it.each(VIEWS)('show what was done on each day of a week, and lead to that day: %s', async (name, view) => {
    const page = await open(`?view=week&d=${yesterday()}`, view);
    await read(page, /Agents worked [12] h \d\d, you spoke 2 times/);
    await until('all of it', async () => !(await words(page)).includes('Reading …'));
    await photo(page, `week-${name}`);
    expect(await axeFaults(page)).toEqual([]);
    expect(await fitsAtTwice(page)).toBe(true);
    await page.look(view);
    await page.learn(
      "[...document.querySelectorAll('main li button')].find((one) => one.innerText.includes('you spoke')).click()",
    );
    await until(
      'the Day',
      async () => (await page.learn('location.search')) === `?view=day&d=${yesterday()}`,
    );
    await page.learn('history.back()');
    await read(page, 'you spoke 2 times');
    await page.press('[');
    await until('the week before', async () => !(await words(page)).includes('you spoke'));
    await page.press('t');
    await until('this week', async () => (await page.learn('location.search')) === '?view=week');
    expect(page.writes).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it.each(VIEWS)('show what was closed by day, and take the keys of a card: %s', async (name, view) => {
    const page = await open('', view);
    await cardWhen(page, 'asked', 'shown');
    if (view.phone)
      await page.learn(`{
        const pick = document.querySelector('nav select');
        pick.value = 'chronicle';
        pick.dispatchEvent(new Event('change', { bubbles: true }));
      }`);
    else await page.press('4');
    await cardWhen(page, 'taken', 'shown', ({ state }) => state === 'accepted');
    expect(await ids(page)).toEqual(['taken', 'left', 'asked']);
    expect(await words(page)).toMatch(/accepted, closed 2 Mar.*set aside, closed 2 Mar/s);
    await page.press('j');
    await until('the focus on the first', async () => (await focused(page)) === 'taken');
    await page.press('j');
    await until('the focus on the next', async () => (await focused(page)) === 'left');
    await page.press('Enter');
    await read(page, 'What came of left.');
    await until('its sheet', () => page.learn<boolean>("document.querySelector('dialog') !== null"));
    await page.press('Escape');
    await until('the focus on it again', async () => (await focused(page)) === 'left');
    await photo(page, `chronicle-${name}`);
    expect(await axeFaults(page)).toEqual([]);
    expect(await fitsAtTwice(page)).toBe(true);
    expect(page.writes).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it.each(VIEWS)('show what rests, and bring it back: %s', async (name, view) => {
    const page = await open('?view=shelf', view);
    await cardWhen(page, 'asleep', 'shown', ({ text }) => text.includes('Waits for spring.'));
    expect(await ids(page)).toEqual(['asleep']);
    await photo(page, `shelf-${name}`);
    expect(await axeFaults(page)).toEqual([]);
    await page.learn(
      `[...document.querySelectorAll('article button')].find((one) => one.innerText === 'Bring back').click()`,
    );
    await read(page, 'Nothing rests.');
    await until('it is awake', () => !daemon.home.document('asleep').includes('stashed'));
    await read(page, 'Undo');
    await page.press('u');
    await until('it rests again', () => daemon.home.document('asleep').includes('stashed'));
    await cardWhen(page, 'asleep', 'back');
    expect(await fitsAtTwice(page)).toBe(true);
    expect(faults(page)).toEqual([]);
  });
});
