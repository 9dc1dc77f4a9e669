import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, read } from './controls.ts';
import { cards, cardWhen, DESKTOP, faults, PHONE } from './desk-page.ts';

const TITLE = `several cards of the Desk${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;

async function fibers(name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  for (const [index, id] of ids.entries())
    daemon.home.fiber(id, {
      front: { status: 'closed', outcome: 'All done.', 'closed-at': `2026-11-0${9 - index}T00:00:00.000Z` },
    });
  for (const id of ids) await daemon.rowWhen(id, 'listed', () => true);
  return ids;
}

const open = async (query: string, view: View = DESKTOP) => {
  const page = await browser.open(`http://${daemon.address}/?${query}`, { view: (one) => one.look(view) });
  await read(page, 'live');
  return page;
};
const shown = async (page: Page) => (await cards(page)).map(({ fiber }) => fiber);
const shownWhen = (page: Page, ids: readonly string[]) =>
  until(`${ids.join()} alone`, async () => (await shown(page)).sort().join() === [...ids].sort().join());
const chosen = (page: Page) =>
  page.learn<string[]>(
    "[...document.querySelectorAll('[data-chosen=true]')].map((one) => one.dataset.fiber)",
  );
const click = (page: Page, id: string, keys: string) =>
  page.learn(`document.querySelector('[data-fiber="${id}"] h3').dispatchEvent(
    new MouseEvent('click', { bubbles: true, cancelable: true, ${keys} }))`);
const press = (page: Page, name: string) =>
  until(`the button ${name}`, () =>
    page.learn<boolean>(`(() => {
      const inside = document.querySelector('dialog[open]') ?? document;
      const found = [...inside.querySelectorAll('button')].find((one) => one.innerText.startsWith(${JSON.stringify(name)}) && !one.disabled);
      found?.click();
      return found !== undefined;
    })()`),
  );
const dialogSays = (page: Page, text: string) =>
  until(`the dialog with ${text}`, () =>
    page.learn<boolean>(
      `document.querySelector('dialog[open]')?.innerText.includes(${JSON.stringify(text)}) ?? false`,
    ),
  );

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
    daemon = await startTestDaemon();
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('are filtered and grouped as the address says, over a reload and on the way back', async () => {
    const ids = await fibers('reef', 3);
    await fibers('dune', 2);
    const page = await open('filter=reef&group=agent');
    await shownWhen(page, ids);
    await read(page, /Awaiting review\s+3/);
    await page.press('f');
    await page.typeAt('-1', () => 10);
    await shownWhen(page, ['reef-1']);
    expect(await page.learn('location.search')).toBe('?filter=reef-1&group=agent');
    await page.press('Escape');
    await until('all cards', async () => (await shown(page)).length === 5);
    await page.learn('history.back()');
    await shownWhen(page, ['reef-1']);
    expect(await page.learn("document.querySelector('input[type=search]').value")).toBe('reef-1');
    expect(page.writes).toEqual([]);
    await photo(page, 'filtered');
    expect(await axeFaults(page)).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it('are none where the filter fits none, as every list says', async () => {
    const page = await open('filter=no-such-card');
    const said = await read(page, 'Nothing here matches the filter.');
    expect(said.match(/Nothing here matches the filter\./g)).toHaveLength(4);
    expect(said).not.toMatch(/No workers are running|Nothing is/);
    expect(await axeFaults(page)).toEqual([]);
  });

  it('are chosen with v, J and clicks, and given up with Escape', async () => {
    const [first = '', second = '', third = '', fourth = ''] = await fibers('kelp', 4);
    const page = await open('filter=kelp');
    await shownWhen(page, [first, second, third, fourth]);
    await page.learn(`document.querySelector('[data-fiber="${first}"]').focus()`);
    await page.press('v');
    expect(await chosen(page)).toEqual([first]);
    await page.press('J');
    await page.press('Shift+ArrowDown');
    await until('three', async () => (await chosen(page)).join() === [first, second, third].join());
    await click(page, second, 'ctrlKey: true');
    expect(await chosen(page)).toEqual([first, third]);
    await page.press('Escape');
    expect(await chosen(page)).toEqual([]);
    await click(page, fourth, 'shiftKey: true');
    expect((await chosen(page)).includes(fourth)).toBe(true);
    await page.press('Escape');
    expect(page.writes).toEqual([]);
  });

  it.each<[string, View]>([
    ['light', { ...DESKTOP, width: 1440 }],
    ['dark', { ...DESKTOP, width: 1440, scheme: 'dark' }],
  ])('answer each for itself, and name which of them could not be done: %s', async (name, view) => {
    const ids = await fibers(`moor${name}`, 3);
    const [first = '', second = '', third = ''] = ids;
    const page = await open(`filter=moor${name}`, view);
    await shownWhen(page, ids);
    for (const id of ids) await click(page, id, 'ctrlKey: true');
    await read(page, '3 chosen');
    expect(await axeFaults(page)).toEqual([]);
    await photo(page, `chosen-${name}`);
    await press(page, 'Accept');
    await dialogSays(page, 'Accept: 3 fibers');
    await photo(page, `bulk-${name}`);
    const letGo = await page.keepBack('**/transition');
    await press(page, 'Accept: 3 fibers');
    // While they are on their way, somebody else changes one of them.
    await until('they are sent', () => page.writes.length === 3);
    await daemon.http.post('/fiber-edit', { fiber_id: second, outcome: 'Another one.' });
    letGo('continue');
    await dialogSays(page, 'was changed in the meantime');
    await photo(page, `failed-${name}`);
    const said = await page.learn<string>("document.querySelector('dialog[open]').innerText");
    expect([said.match(/Done\./g)?.length, said.match(/Not done:/g)?.length]).toEqual([2, 1]);
    const verdicts = ids.map((id) => /tempered: true/.test(daemon.home.document(id)));
    expect(verdicts).toEqual([true, false, true]);
    await press(page, 'Close');
    await page.press('u');
    for (const id of [first, third])
      await cardWhen(page, id, 'back', ({ column }) => column === 'Awaiting review');
    // A card that is being saved is paler.
    await until('all saved', () =>
      page.learn<boolean>("document.querySelector('[aria-busy=true]') === null"),
    );
    expect(await axeFaults(page)).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it('rest until one day, and come back with one undo', async () => {
    const ids = await fibers('fjord', 2);
    const page = await open('filter=fjord');
    await shownWhen(page, ids);
    for (const id of ids) await click(page, id, 'ctrlKey: true');
    await press(page, 'Rest');
    await dialogSays(page, 'It is back in Drafts on');
    await page.learn(`{
      const field = document.querySelector('dialog[open] select');
      field.value = '';
      field.dispatchEvent(new Event('change', { bubbles: true }));
    }`);
    await dialogSays(page, 'It stays at rest until you bring it back.');
    await photo(page, 'bulk-rest');
    expect(await axeFaults(page)).toEqual([]);
    await press(page, 'Rest: 2 fibers');
    for (const id of ids) await until('it rests', () => /horizon: stashed/.test(daemon.home.document(id)));
    await until('no dialog', () => page.learn<boolean>("document.querySelector('dialog[open]') === null"));
    await page.press('u');
    for (const id of ids) await cardWhen(page, id, 'back', ({ column }) => column === 'Awaiting review');
    for (const id of ids)
      await until('its document is as it was', () => !daemon.home.document(id).includes('stashed'));
    expect(faults(page)).toEqual([]);
  });

  it('are launched after one look at what starts where, but for what has to be asked more', async () => {
    const ids = ['loch-0', 'loch-1'];
    for (const id of ids) daemon.home.fiber(id, { front: { status: 'open' } });
    daemon.home.fiber('loch-plain', { front: { status: 'open' }, svc: null });
    for (const id of [...ids, 'loch-plain']) await daemon.rowWhen(id, 'listed', () => true);
    const page = await open('filter=loch');
    await shownWhen(page, [...ids, 'loch-plain']);
    for (const id of [...ids, 'loch-plain']) await click(page, id, 'ctrlKey: true');
    await press(page, 'Launch');
    await dialogSays(page, 'Starts a worker');
    await dialogSays(page, 'Left as it is: It is no task yet');
    await photo(page, 'bulk-launch');
    expect(page.writes).toEqual([]);
    await press(page, 'Launch: 2 fibers');
    for (const id of ids) await daemon.running(id);
    for (const id of ids) await cardWhen(page, id, 'in flight', ({ column }) => column === 'In flight');
    expect(page.writes).toEqual(['/api/v1/dispatch', '/api/v1/dispatch']);
    expect(faults(page)).toEqual([]);
  });

  it('are chosen by a tap on a phone', async () => {
    const ids = await fibers('sand', 2);
    const page = await open('filter=sand', PHONE);
    await shownWhen(page, ids);
    await photo(page, 'phone-filtered');
    await press(page, 'Select');
    for (const id of ids) await click(page, id, '');
    await read(page, '2 chosen');
    await photo(page, 'phone-chosen');
    await press(page, 'Set aside');
    await press(page, 'Set aside: 2 fibers');
    for (const id of ids)
      await until('it is set aside', () => /tempered: false/.test(daemon.home.document(id)));
    await until('no dialog', () => page.learn<boolean>("document.querySelector('dialog[open]') === null"));
    expect(await axeFaults(page)).toEqual([]);
  });
});
