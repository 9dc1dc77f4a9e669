import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestFiber } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { read } from './controls.ts';
import { cardWhen, DESKTOP, faults, focused } from './desk-page.ts';

const TITLE = `keys that are pressed before what they are for is there${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;
const REVIEW: TestFiber = { front: { status: 'closed', outcome: 'All done.' } };

let daemon: TestDaemon;
let browser: Chromium;
let count = 0;

async function fiber(): Promise<string> {
  count += 1;
  const id = `k${String(count).padStart(3, '0')}`;
  daemon.home.fiber(id, REVIEW);
  await daemon.rowWhen(id, 'listed', () => true);
  return id;
}

/** A slow page whose focus is on a card that awaits review. */
async function onCard(before: (page: Page) => Promise<unknown> = async () => undefined) {
  const id = await fiber();
  const page = await browser.open(`http://${daemon.address}/`, {
    async view(one) {
      await one.look(DESKTOP);
      await one.slow(4);
      await before(one);
    },
  });
  await read(page, 'live');
  await cardWhen(page, id, 'shown');
  await page.learn(`document.querySelector('[data-fiber="${id}"]').focus()`);
  return { id, page, document: daemon.home.document(id) };
}

/** A pause between two letters, from that of a fast typist to that of a slow one, always in the same order. */
function paces(seed: number): () => number {
  let at = seed;
  return () => {
    at = (at * 1_103_515_245 + 12_345) % 2 ** 31;
    return 20 + (at % 130);
  };
}

const FIELD = "document.querySelector('dialog[open] :is(input:not([type=radio]), textarea)')";
const fieldText = (page: Page) => page.learn<string | null>(`${FIELD}?.value ?? null`);
const holdsText = (page: Page, text: string) =>
  until(`the field with ${text}`, async () => (await fieldText(page)) === text);
const noDialog = (page: Page) =>
  until('no dialog', () => page.learn<boolean>("document.querySelector('dialog[open]') === null"));

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon();
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  // Each has letters that do something to a card: accept, set aside, move, rest, launch, watch.
  it.each([
    ['/', 'Finder', 'atlas mx'],
    ['c', 'TaskForm', 'accept lax wazL'],
  ])(
    'gives all letters that are typed after %s to its field, however late that is there',
    async (key, chunk, text) => {
      let letGo: (how: 'continue' | 'abort') => void = () => undefined;
      const { id, page, document } = await onCard(async (one) => {
        letGo = await one.keepBack(`**/assets/${chunk}-*.js`);
      });
      const half = Math.ceil(text.length / 2);
      await page.typeAt([key, ...text.slice(0, half)], paces(count));
      expect(await fieldText(page)).toBeNull();
      letGo('continue');
      await page.typeAt(text.slice(half), paces(count + 1));
      await holdsText(page, text);
      expect([page.writes, daemon.home.document(id)]).toEqual([[], document]);
      expect(faults(page)).toEqual([]);
    },
  );

  it.each([
    ['/', 'atlas'],
    ['s', 'axzm'],
  ])('gives all letters after %s to its field on a slow line', async (key, text) => {
    const { id, page, document } = await onCard((one) => one.delayRequests(300));
    await page.typeAt([key, ...text], paces(count));
    await holdsText(page, text);
    expect([page.writes, daemon.home.document(id)]).toEqual([[], document]);
  });

  it('gives the letters after r to the reply', async () => {
    let letGo: (how: 'continue' | 'abort') => void = () => undefined;
    const { page } = await onCard(async (one) => {
      letGo = await one.keepBack('**/assets/FiberSheet-*.js');
    });
    await page.typeAt('raxe', paces(count));
    letGo('continue');
    await holdsText(page, 'axe');
    expect(page.writes).toEqual([]);
  });

  it('does nothing to the card with letters typed while its sheet, the keys or the hosts are on their way', async () => {
    const letGo: ((how: 'continue' | 'abort') => void)[] = [];
    const { id, page, document } = await onCard(async (one) => {
      for (const chunk of ['FiberSheet', 'KeySheet', 'HostsSheet'])
        letGo.push(await one.keepBack(`**/assets/${chunk}-*.js`));
    });
    for (const keys of [['Enter'], ['?'], ['g', 'h']]) {
      await page.typeAt([...keys, 'a', 'x', 'a'], paces(count));
      await page.press('Escape');
      await noDialog(page);
      await until('the focus on the card', async () => (await focused(page)) === id);
    }
    for (const one of letGo) one('continue');
    expect([page.writes, daemon.home.document(id)]).toEqual([[], document]);
  });

  it('chooses in a menu what was pressed before it was there', async () => {
    let letGo: (how: 'continue' | 'abort') => void = () => undefined;
    const { id, page } = await onCard(async (one) => {
      letGo = await one.keepBack('**/assets/CardMenu-*.js');
    });
    await page.typeAt(['m', 'd', 'a', 'a'], () => 20);
    letGo('continue');
    await until('the move', () => /status: open/.test(daemon.home.document(id)));
    expect(page.writes).toEqual(['/api/v1/transition']);
  });

  it('says so where the part cannot be loaded, drops the letters, and listens to its keys again', async () => {
    let letGo: (how: 'continue' | 'abort') => void = () => undefined;
    const { id, page, document } = await onCard(async (one) => {
      letGo = await one.keepBack('**/assets/Finder-*.js');
    });
    await page.typeAt('/at', paces(count));
    letGo('abort');
    await page.typeAt('la', () => 60);
    await read(page, 'This cannot be opened');
    expect([page.writes, daemon.home.document(id)]).toEqual([[], document]);
    await until('the focus on the card', async () => (await focused(page)) === id);
    // A person stops once they have read it: letters that follow each other sooner are one text.
    await pause(1000);
    await page.press('a');
    await until('it is accepted', () => /tempered: true/.test(daemon.home.document(id)));
  });
});
