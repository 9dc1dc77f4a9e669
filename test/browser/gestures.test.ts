import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestFiber } from '../kit/test-home.ts';
import { pause, until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, fill, read, VIEWS, words } from './controls.ts';
import { cards, cardWhen, DESKTOP, faults, focused, PHONE } from './desk-page.ts';

const TITLE = `gestures on the Desk${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

const REVIEW: TestFiber = { front: { status: 'closed', outcome: 'All done.' } };
const DRAFT: TestFiber = { front: { status: 'open' } };

let daemon: TestDaemon;
let browser: Chromium;
let count = 0;

/** A fiber of a test's own, once the daemon shows it. */
async function fiber(of: TestFiber): Promise<string> {
  count += 1;
  const id = `f${String(count).padStart(3, '0')}`;
  daemon.home.fiber(id, of);
  await daemon.rowWhen(id, 'listed', () => true);
  return id;
}

const open = async (view: View = DESKTOP) => {
  const page = await browser.open(`http://${daemon.address}/`, { view: (one) => one.look(view) });
  await read(page, 'live');
  return page;
};

/** A page on which the card of this fiber has the focus. */
async function focusOn(id: string, view: View = DESKTOP): Promise<Page> {
  const page = await open(view);
  await cardWhen(page, id, 'shown');
  await focusCard(page, id);
  return page;
}

/** The same with a fiber whose worker works. */
async function focusOnWorker(): Promise<{ id: string; page: Page }> {
  const id = await fiber(DRAFT);
  await daemon.dispatch({ fiber_id: id, force: true });
  await daemon.running(id);
  const page = await focusOn(id);
  await cardWhen(page, id, 'at work', ({ state }) => state === 'working');
  return { id, page };
}

async function focusCard(page: Page, id: string): Promise<void> {
  await page.learn(`document.querySelector('[data-fiber="${id}"]').focus()`);
}

const dialogText = (page: Page) =>
  page.learn<string | null>("document.querySelector('dialog[open]')?.innerText ?? null");

function dialogWith(page: Page, words: string | RegExp): Promise<string> {
  return until(`the dialog with ${words}`, async () => {
    const found = await dialogText(page);
    return found !== null && (typeof words === 'string' ? found.includes(words) : words.test(found))
      ? found
      : null;
  });
}

const noDialog = (page: Page) =>
  until('the end of the dialog', async () => (await dialogText(page)) === null);

/** Clicks a button by the words that it begins with, in the dialog where one is open. */
async function click(page: Page, words: string): Promise<void> {
  await until(`the button ${words}`, () =>
    page.learn<boolean>(`(() => {
      const inside = document.querySelector('dialog[open]') ?? document;
      const found = [...inside.querySelectorAll('button')].find(
        (button) => button.innerText.startsWith(${JSON.stringify(words)}) && !button.disabled,
      );
      found?.click();
      return found !== undefined;
    })()`),
  );
}

/** Opens the menu of a card by its button, and clicks an entry. */
async function byMenu(page: Page, id: string, gesture: string): Promise<void> {
  await page.learn(`document.querySelector('[data-fiber="${id}"] [aria-haspopup=dialog]').click()`);
  await until(`the entry ${gesture}`, () =>
    page.learn<boolean>(`(() => {
      const entry = document.querySelector('dialog [data-gesture^="${gesture}"]');
      entry?.click();
      return entry !== null;
    })()`),
  );
}

type Point = [x: number, y: number];

const middle = (page: Page, css: string) =>
  until(`the place of ${css}`, () =>
    page.learn<Point | null>(`(() => {
      const found = document.querySelector(${JSON.stringify(css)})?.getBoundingClientRect();
      return found === undefined ? null : [found.x + found.width / 2, found.y + Math.min(found.height / 2, 160)];
    })()`),
  );

/** Takes a card by the mouse and holds it over a place; answers where that is. */
async function dragOver(page: Page, id: string, css: string): Promise<Point> {
  const card = `[data-fiber="${id}"][draggable=true]`;
  const [x, y] = await middle(page, card);
  await page.mouse('move', x, y);
  await page.mouse('down', x, y);
  await movePaced(page, [x, y], [x + 25, y + 12]);
  const to = await middle(page, css);
  await movePaced(page, [x + 25, y + 12], to);
  return to;
}

/** A browser takes moves that come at once for one. */
async function movePaced(page: Page, [ax, ay]: Point, [bx, by]: Point): Promise<void> {
  const steps = 12;
  for (let step = 1; step <= steps; step += 1) {
    await page.mouse('move', ax + ((bx - ax) * step) / steps, ay + ((by - ay) * step) / steps);
    await page.learn('new Promise((next) => requestAnimationFrame(next))');
  }
}

async function drag(page: Page, id: string, css: string): Promise<void> {
  const at = await dragOver(page, id, css);
  await page.mouse('up', ...at);
}

const column = (name: string) => `[data-column="${name}"]`;
const tray = (gesture: string) => `[data-tray] [data-gesture^="${gesture}"]`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon();
  });

  afterEach(async () => {
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
    const folder = join(daemon.home.store, '.fibers');
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    await until('an empty feed', async () => (await daemon.fibers()).length === 0);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  /** What each move makes of a document that awaits review. */
  const MOVES: readonly [gesture: string, keys: string[], column: string, after: RegExp][] = [
    ['accept', ['a'], 'Drafts', /tempered: true/],
    ['set_aside', ['x'], 'Drafts', /tempered: false/],
    ['drafts', ['m', 'd'], 'Drafts', /status: open/],
    ['rest', ['z', '1'], 'Drafts', /horizon: stashed/],
  ];

  it.each(MOVES)('does %s by its key, and takes it back with u', async (_, keys, __, after) => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await page.press(keys[0] ?? '');
    if (keys[1] !== undefined) {
      await dialogWith(page, /\w/);
      await page.press(keys[1]);
    }
    await until('the write', () => after.test(daemon.home.document(id)));
    await read(page, 'Undo');
    expect(
      (await cards(page)).filter(({ fiber: one, column: at }) => one === id && at === 'Awaiting review'),
    ).toEqual([]);
    await page.press('u');
    await cardWhen(page, id, 'back', ({ column: at }) => at === 'Awaiting review');
    await until('the document as before', () => !after.test(daemon.home.document(id)));
    expect(daemon.home.document(id)).toMatch(/status: closed/);
    expect(daemon.home.document(id)).not.toMatch(/tempered|horizon|due/);
    expect(faults(page)).toEqual([]);
  });

  it('[WPL-2] takes a move back with all its stamps, or says that somebody changed the fiber since', async () => {
    const front = { ...REVIEW.front, due: '2026-12-24', 'closed-at': '2026-01-02T03:04:05.000Z' };
    const ids = [await fiber({ front }), await fiber({ front })];
    const page = await open();
    for (const id of ids) await cardWhen(page, id, 'shown');
    const order = async () =>
      (await cards(page)).filter(({ column: at }) => at === 'Awaiting review').map((card) => card.fiber);
    const [first = ''] = await order();
    const before = daemon.home.document(first);
    const moved = async () => {
      await drag(page, first, column('Drafts'));
      await until('the move', () => /status: open/.test(daemon.home.document(first)));
      await read(page, 'Undo');
    };
    const withoutWritten = (text: string) =>
      text
        .replace(/^updated-at:.*\n/m, '')
        .split('\n')
        .sort();
    await moved();
    await page.press('u');
    await until('the document as before', () => /status: closed/.test(daemon.home.document(first)));
    expect(withoutWritten(daemon.home.document(first))).toEqual(withoutWritten(before));
    await cardWhen(page, first, 'back', ({ column: at }) => at === 'Awaiting review');
    await until('its old place', async () => (await order())[0] === first);
    await moved();
    await daemon.http.post('/fiber-edit', { fiber_id: first, outcome: 'Another one.' });
    await page.press('u');
    await cardWhen(page, first, 'refused', ({ text }) =>
      text.includes('Not taken back: it was changed since.'),
    );
    expect(daemon.home.document(first)).toMatch(/status: open/);
  });

  it.each(MOVES)('does %s from the menu of the card', async (gesture, _, __, after) => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await byMenu(page, id, gesture);
    await until('the write', () => after.test(daemon.home.document(id)));
    await noDialog(page);
    expect(faults(page)).toEqual([]);
  });

  it.each([
    ['accept', tray('accept'), /tempered: true/],
    ['set aside', tray('set_aside'), /tempered: false/],
    ['rest', tray('rest:'), /horizon: stashed/],
    ['drafts', column('Drafts'), /status: open/],
  ])('does %s with a drop, once it says what that does', async (_, css, after) => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    const at = await dragOver(page, id, css);
    await until('what the drop would do', () =>
      page.learn<boolean>(`document.querySelector('[data-refused=false]') !== null &&
        document.querySelector('[data-tray]') !== null`),
    );
    expect(daemon.home.document(id)).not.toMatch(after);
    await page.mouse('up', ...at);
    await until('the write', () => after.test(daemon.home.document(id)));
    await until('no tray', () => page.learn<boolean>("document.querySelector('[data-tray]') === null"));
    expect(faults(page)).toEqual([]);
  });

  it('offers a drop, a key and the menu the same places', async () => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await page.press('m');
    await dialogWith(page, 'Drafts');
    const inMenu = await page.learn<string[]>(
      "[...document.querySelectorAll('dialog [data-gesture]')].map(({ dataset }) => dataset.gesture)",
    );
    await page.press('Escape');
    await noDialog(page);
    await dragOver(page, id, column('In flight'));
    await read(page, 'It is reopened. Starts a worker');
    const inTray = await page.learn<string[]>(
      "[...document.querySelectorAll('[data-tray] [data-gesture]')].map(({ dataset }) => dataset.gesture)",
    );
    expect(inMenu.toSorted()).toEqual([...inTray, 'drafts', 'launch'].toSorted());
    const [x, y] = await middle(page, column('In flight'));
    await page.mouse('up', x, y);
    await dialogWith(page, 'Launch: ');
  });

  it('moves the focus to the next card when one leaves', async () => {
    const ids = [await fiber(REVIEW), await fiber(REVIEW), await fiber(REVIEW)];
    const page = await open();
    for (const id of ids) await cardWhen(page, id, 'shown');
    const listed = async () =>
      (await cards(page)).filter(({ column: at }) => at === 'Awaiting review').map((card) => card.fiber);
    const [first, second, third] = await listed();
    await focusCard(page, second ?? '');
    await page.press('a');
    await until('the focus on the next', async () => (await focused(page)) === third);
    // A key is for what could be seen.
    await pause(300);
    await page.press('m');
    await dialogWith(page, 'Set aside');
    await page.press('x');
    await until('the focus on the one before', async () => (await focused(page)) === first);
    await page.press('z');
    await dialogWith(page, 'Tomorrow');
    await page.press('Escape');
    await noDialog(page);
    expect(await focused(page)).toBe(first);
  });

  it('moves the focus to the next card when one leaves behind an open dialog, and to the list when its last one does', async () => {
    const page = await open();
    const ids = [await fiber(REVIEW), await fiber(REVIEW)];
    for (const id of ids) await cardWhen(page, id, 'shown');
    const judgedElsewhere = async (id: string) => {
      await focusCard(page, id);
      await page.press('.');
      await dialogWith(page, 'Make it a plain document');
      await daemon.http.post('/transition', { fiber_id: id, target: 'tempered' });
      await until('the card to leave', async () => (await cards(page)).every((card) => card.fiber !== id));
      await page.press('Escape');
      await noDialog(page);
    };
    const [first = '', last = ''] = ids;
    await judgedElsewhere(first);
    expect(await focused(page)).toBe(last);
    await judgedElsewhere(last);
    const list = () => page.learn<string>('document.activeElement.tagName');
    expect(await list()).toBe('UL');
    const only = await fiber(REVIEW);
    await cardWhen(page, only, 'shown');
    await focusCard(page, only);
    await page.press('a');
    await until('the card to leave', async () => (await cards(page)).length === 0);
    expect(await list()).toBe('UL');
  });

  describe('means the fiber that was seen', () => {
    it('does one thing for a key that is pressed twice at once, and says why it left the next card alone', async () => {
      const page = await open();
      let second = '';
      // Before the next card has the focus, the second press does nothing and says nothing: that takes the longer the busier the machine is.
      for (let gap = 30; ; gap += 60) {
        const ids = [await fiber(REVIEW), await fiber(REVIEW)];
        for (const id of ids) await cardWhen(page, id, 'shown');
        const listed = (await cards(page)).map((card) => card.fiber);
        const [first = ''] = listed;
        second = listed[1] ?? '';
        const before = page.writes.length;
        await focusCard(page, first);
        await page.typeAt('aa', () => gap);
        await until('the focus on the next', async () => (await focused(page)) === second);
        await until('it is accepted', () => /tempered: true/.test(daemon.home.document(first)));
        await pause(500);
        expect(page.writes.slice(before)).toEqual(['/api/v1/transition']);
        expect(daemon.home.document(second)).toContain('status: closed');
        expect(daemon.home.document(second)).not.toContain('tempered');
        const { text = '' } = (await cards(page)).find(({ fiber }) => fiber === second) ?? {};
        if (text.includes('had just come to it')) break;
        expect(gap).toBeLessThan(500);
      }
      await page.press('a');
      await until('it is accepted', () => /tempered: true/.test(daemon.home.document(second)));
    });

    it('refuses what was chosen in a menu, a question or a drag of a fiber that is something else by now', async () => {
      const id = await fiber(REVIEW);
      const page = await focusOn(id);
      const elsewhere = async (target: string, at: string) => {
        await daemon.http.post('/transition', { fiber_id: id, target });
        await cardWhen(page, id, `in ${at}`, (card) => card.column === at);
      };
      const refused = async () => {
        await cardWhen(page, id, 'refused', ({ text }) => text.includes('It changed before you did that'));
        await noDialog(page);
        expect(page.writes).toEqual([]);
        await click(page, 'Dismiss');
      };
      await page.press('m');
      await dialogWith(page, 'Set aside');
      await elsewhere('drafts', 'Drafts');
      await page.press('x');
      await refused();
      await byMenu(page, id, 'uninstall');
      await dialogWith(page, /Make it a plain document: [\s\S]*Cancel/);
      await elsewhere('awaitingReview', 'Awaiting review');
      await page.press('Enter');
      await refused();
      const at = await dragOver(page, id, tray('accept'));
      await elsewhere('drafts', 'Drafts');
      await page.mouse('up', ...at);
      await refused();
      expect(daemon.home.document(id)).toContain('status: open');
    });

    it('answers a question only with a press that came after it', async () => {
      const { id, page } = await focusOnWorker();
      await page.press('.');
      await dialogWith(page, 'Stop worker');
      await page.learn("document.querySelector('dialog [data-gesture=stop]').focus()");
      await page.typeAt(['Enter', 'Enter'], () => 40);
      await dialogWith(page, /Stop worker: [\s\S]*Cancel/);
      expect(page.writes).toEqual([]);
      await pause(300);
      await page.typeAt(['Enter', 'Enter'], () => 40);
      await cardWhen(page, id, 'held', ({ state }) => state === 'held');
      expect(page.writes).toEqual(['/api/v1/kill']);
      await noDialog(page);
    });

    it('does nothing for a click on a card that had just moved there', async () => {
      const id = await fiber(REVIEW);
      const page = await open();
      await cardWhen(page, id, 'shown');
      // The click comes with the next frame, sooner than anybody could see what is there now.
      await page.learn(`{
        const item = () => document.querySelector('li:has([data-fiber="${id}"])');
        const before = item().style.transform;
        const look = () => {
          if (item().style.transform === before) return requestAnimationFrame(look);
          const button = item().querySelector('button[aria-label^=Accept]');
          button.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
          button.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }));
        };
        look();
      }`);
      await fiber({ front: { ...REVIEW.front, 'closed-at': new Date().toISOString() } });
      await read(page, 'The list had just moved under your click');
      expect(page.writes).toEqual([]);
    });

    it('takes letters that are typed on after the field is gone for no keys', async () => {
      const id = await fiber(DRAFT);
      const page = await focusOn(id);
      await page.press('s');
      await dialogWith(page, 'Stash a draft');
      await page.type('A name');
      await page.learn('document.querySelector("dialog form").requestSubmit()');
      await page.typeAt('x', () => 0);
      await until('the draft', async () => (await daemon.fibers()).length === 2);
      await page.typeAt('xaxaxa', () => 30);
      await page.settled();
      expect(page.writes).toEqual(['/api/v1/fiber/create']);
      expect(daemon.home.document(id)).toContain('status: open');
    });

    it('takes u for the change that is still being saved, and takes no other one back', async () => {
      const ids = [await fiber(REVIEW), await fiber(REVIEW)];
      const page = await open();
      for (const id of ids) await cardWhen(page, id, 'shown');
      const [first = '', second = ''] = (await cards(page)).map((card) => card.fiber);
      await focusCard(page, first);
      await page.press('a');
      await read(page, 'Undo');
      await focusCard(page, second);
      const letGo = await page.keepBack('**/transition');
      // A person sees the focus on the next card before they press a key for it.
      await pause(500);
      await page.typeAt('xu', () => 30);
      await read(page, 'still being saved');
      letGo('continue');
      await until('the second', () => /tempered: false/.test(daemon.home.document(second)));
      expect(daemon.home.document(first)).toContain('tempered: true');
    });
  });

  it('is taken back with u while the focus is on a checkbox', async () => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await page.press('a');
    await read(page, 'Undo');
    await page.press('?');
    await dialogWith(page, 'Turn single keys off');
    await page.learn("document.querySelector('dialog input[type=checkbox]').focus()");
    await page.press('u');
    await cardWhen(page, id, 'back', ({ column: at }) => at === 'Awaiting review');
  });

  describe('with a worker', () => {
    it('asks before a move that ends it, says so, and offers no undo', async () => {
      const { id, page } = await focusOnWorker();
      await page.press('m');
      await dialogWith(page, 'The worker on test-host stops.');
      await page.press('r');
      await dialogWith(page, /Close for review: [\s\S]*Cancel/);
      await page.press('Escape');
      await noDialog(page);
      expect((await daemon.row(id))?.runtime).toBeDefined();
      await drag(page, id, column('Awaiting review'));
      await dialogWith(page, /Close for review: [\s\S]*Cancel/);
      await page.press('Enter');
      await daemon.rowWhen(id, 'closed', (row) => row.status === 'closed' && row.runtime === undefined);
      await cardWhen(page, id, 'awaiting review', (card) => card.column === 'Awaiting review');
      await read(page, 'The worker on test-host stopped.');
      expect(await words(page)).not.toContain('Undo');
      expect(faults(page)).toEqual([]);
    });

    it('is not let to rest, in the menu and over the tray, with the reason', async () => {
      const { id, page } = await focusOnWorker();
      await page.press('z');
      await dialogWith(page, 'Its worker on test-host runs.');
      await page.press('1');
      await page.press('Escape');
      await noDialog(page);
      await drag(page, id, tray('rest:'));
      await read(page, 'Stop it, or let it end, before the fiber rests.');
      await page.press('L');
      await read(page, 'runs already');
      const row = await daemon.row(id);
      expect([row?.horizon, row?.runtime?.state]).toEqual([undefined, 'running']);
    });

    it('is stopped, held, and let go again from the menu', async () => {
      const { id, page } = await focusOnWorker();
      await byMenu(page, id, 'stop');
      await dialogWith(page, 'This cannot be taken back.');
      await click(page, 'Stop worker');
      await cardWhen(page, id, 'held', ({ state }) => state === 'held');
      expect(await words(page)).not.toContain('Undo');
      await byMenu(page, id, 'resume');
      await daemon.running(id);
    });
  });

  describe('a launch', () => {
    it('is rehearsed, then started with the message, in a fresh conversation', async () => {
      const id = await fiber(DRAFT);
      const page = await focusOn(id);
      await page.press('L');
      await dialogWith(page, new RegExp(`Start stays for ${id}`));
      expect((await daemon.row(id))?.runtime).toBeUndefined();
      await page.type('Mind the tide tables.');
      await page.learn("[...document.querySelectorAll('dialog input[type=radio]')].at(-1).click()");
      await dialogWith(page, new RegExp(`Start stays for ${id}`));
      await click(page, 'Launch');
      await daemon.running(id);
      await cardWhen(page, id, 'at work', (card) => card.column === 'In flight' && card.state === 'working');
      expect(daemon.lastLaunch(id).prompt).toContain('Mind the tide tables.');
      expect(faults(page)).toEqual([]);
    });

    it('shows a refusal before anything is started, and asks for the folder that is missing', async () => {
      const id = await fiber({ svc: { project_dir: '/no/such/folder' } });
      await daemon.rowWhen(id, 'blocked', (row) => row.blocked !== undefined);
      const page = await focusOn(id);
      await click(page, 'Choose folder');
      await dialogWith(page, 'The project folder /no/such/folder does not exist.');
      expect(await page.learn("document.querySelector('dialog button[type=submit]').disabled")).toBe(true);
      await until('the field', () =>
        page.learn("document.querySelector('dialog input:not([type=radio])') !== null"),
      );
      await page.learn("document.querySelector('dialog input:not([type=radio])').focus()");
      await page.type(daemon.home.project('found'));
      await click(page, 'Launch');
      const { project_dir } = await daemon.running(id);
      expect(project_dir).toBe(daemon.home.project('found'));
    });

    it('passes the emergency brake only where that is ticked', async () => {
      const id = await fiber(DRAFT);
      await daemon.http.post('/brake', {});
      try {
        const page = await focusOn(id);
        await page.press('L');
        await dialogWith(page, 'the emergency brake is on');
        expect(await page.learn("document.querySelector('dialog button[type=submit]').disabled")).toBe(true);
        await page.learn("document.querySelector('dialog input[type=checkbox]').click()");
        await dialogWith(page, `Start stays for ${id}`);
        await click(page, 'Launch');
        await daemon.running(id);
      } finally {
        await daemon.http.post('/brake/release', {});
      }
    });

    it('makes a plain document a task with a folder and an agent first', async () => {
      const id = await fiber({ svc: null, front: { status: 'open' } });
      const page = await focusOn(id);
      await drag(page, id, column('In flight'));
      await dialogWith(page, 'Project folder');
      await click(page, 'Launch');
      await dialogWith(page, /project|folder/);
      await page.learn("document.querySelector('dialog input').focus()");
      await page.type(daemon.home.project('new'));
      await click(page, 'Launch');
      await daemon.running(id);
      await noDialog(page);
    });
  });

  it('changes the kind of a fiber from its menu, and shows what the daemon refuses', async () => {
    const id = await fiber(DRAFT);
    const page = await focusOn(id);
    await byMenu(page, id, 'repeat');
    await dialogWith(page, 'Schedule');
    await page.learn("document.querySelector('dialog input').select()");
    await page.type('never');
    await click(page, 'Repeat');
    await dialogWith(page, /never/);
    await page.learn("document.querySelector('dialog input').select()");
    await page.type('30 7 * * 1-5');
    await click(page, 'Repeat');
    const row = await daemon.rowWhen(id, 'standing', ({ svc }) => svc?.kind === 'standing');
    expect([row.status, row.svc?.schedule]).toEqual(['active', '30 7 * * 1-5']);
    await noDialog(page);
    await until('its line among the next launches', async () =>
      page.learn<boolean>(`document.querySelector('aside [data-row*="/${id}/"]') !== null`),
    );
    await page.learn(`document.querySelector('aside [data-row*="/${id}/"]').focus()`);
    await page.press('.');
    await dialogWith(page, 'Make it a plain document');
    await page.learn("document.querySelector('[data-gesture=uninstall]').click()");
    await dialogWith(page, 'Its text stays.');
    await page.press('Enter');
    await daemon.rowWhen(id, 'plain', ({ svc }) => svc === undefined);
  });

  it('nests a fiber below another one once it is shown what moves, and says why it cannot', async () => {
    const [above, id] = [await fiber(DRAFT), await fiber(DRAFT)];
    const page = await focusOn(id);
    await byMenu(page, id, 'nest');
    await fill(page, 'Below', 'no-such-fiber');
    await dialogWith(page, /no.*no-such-fiber/i);
    await fill(page, 'Below', above);
    await dialogWith(page, `${above}/${id}`);
    await click(page, 'Nest');
    await noDialog(page);
    await cardWhen(page, `${above}/${id}`, 'below the other one');
    await read(page, `Below ${above} now.`);
    expect(faults(page).filter((one) => !one.includes('status of 404'))).toEqual([]);
  });

  it('puts a card back with the words of the daemon where it refuses', async () => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    // A second document with its ULID, which no listing has shown yet when the key is pressed.
    const [, uid] = /id: (\w+)/.exec(daemon.home.document(id)) ?? [];
    const answer = await daemon.http.post('/fiber-edit', { fiber_id: id, outcome: 'Still here.' });
    expect(answer.status).toBe(200);
    daemon.home.fiber('twin', { front: { id: uid, status: 'closed' } });
    await cardWhen(page, 'twin', 'shown');
    await focusCard(page, id);
    await page.press('a');
    await until('the strip', () =>
      page.learn<boolean>(`document.querySelector('[data-fiber="${id}"] [role=alert]') !== null`),
    );
    const { column: at, text: said } = await cardWhen(page, id, 'back');
    expect(at).toBe('Awaiting review');
    expect(said).toMatch(/twin|two documents|another document/i);
    expect(daemon.home.document(id)).not.toContain('tempered');
    await click(page, 'Dismiss');
    await until('no strip', () => page.learn<boolean>("document.querySelector('[role=alert]') === null"));
    expect(faults(page)).toEqual([]);
  });

  it('opens the sheet of a fiber with Enter, and at its reply box with r', async () => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await page.press('r');
    await until('the reply box', () => page.learn<boolean>("document.activeElement.tagName === 'TEXTAREA'"));
    await page.press('Escape');
    await noDialog(page);
    await focusCard(page, id);
    await page.press('Enter');
    await dialogWith(page, `Fiber ${id}`);
    expect(await page.learn('location.search')).toBe(`?fiber=${id}`);
  });

  it('opens the sheet of the keys, and turns single keys off and on', async () => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id);
    await page.press('?');
    await dialogWith(page, 'Turn single keys off');
    await page.learn("document.querySelector('dialog input[type=checkbox]').click()");
    await page.press('Escape');
    await noDialog(page);
    await focusCard(page, id);
    await page.press('m');
    await page.press('?');
    expect(await dialogText(page)).toBeNull();
    await page.learn('document.querySelector(\'header button[aria-label="Keys"]\').click()');
    await dialogWith(page, 'Turn single keys off');
    await page.learn("document.querySelector('dialog input[type=checkbox]').click()");
    await page.press('Escape');
    await noDialog(page);
    await focusCard(page, id);
    await page.press('m');
    await dialogWith(page, 'Drafts');
  });

  describe('a daemon of its own', () => {
    let own: TestDaemon;

    afterEach(async () => {
      await own?.dispose();
    });

    it('that is killed in the middle of a write leaves the card where it was, and says that nobody knows', async () => {
      own = await startTestDaemon({
        settings: { SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
        prepare: (home) => void home.fiber('judged', REVIEW),
      });
      const page = await browser.open(`http://${own.address}/`, { view: (one) => one.look(DESKTOP) });
      await cardWhen(page, 'judged', 'shown');
      await read(page, 'live');
      await focusCard(page, 'judged');
      // What a page has not loaded while its daemon ran, it cannot show afterwards.
      await page.press('.');
      await dialogWith(page, 'Make it a plain document');
      await page.press('Escape');
      await noDialog(page);
      process.kill(own.pid, 'SIGSTOP');
      await read(page, 'silent for');
      await page.press('x');
      await until('the card to leave', async () => (await cards(page)).length === 0);
      await own.kill9();
      const { text: said } = await cardWhen(page, 'judged', 'back', (card) =>
        card.text.includes('not known'),
      );
      expect(said).toContain('The daemon did not answer. It is not known whether it did this.');
      await read(page, 'No answer from test-host');
      await focusCard(page, 'judged');
      await page.press('a');
      await cardWhen(page, 'judged', 'refused here', (card) =>
        card.text.includes('No answer from test-host. Nothing can be changed until it answers.'),
      );
      await page.press('.');
      await dialogWith(page, 'No answer from test-host. Nothing can be changed until it answers.');
      await page.press('Escape');
      await own.start();
      await page.learn("document.querySelector('[role=status] button')?.click()");
      await cardWhen(page, 'judged', 'free again', (card) => !card.text.includes('No answer'));
      expect(own.home.document('judged')).not.toContain('tempered');
      await focusCard(page, 'judged');
      await page.press('a');
      await until('the write', () => own.home.document('judged').includes('tempered: true'));
      expect(faults(page)).toEqual([]);
    });

    it('that has restarted lists what it holds, and releases all of it', async () => {
      own = await startTestDaemon({
        release: false,
        prepare(home) {
          home.fiber('waits', {});
          home.fiber('waits-too', {});
        },
      });
      const page = await browser.open(`http://${own.address}/`, { view: (one) => one.look(DESKTOP) });
      await read(page, '2 fibers are held since the restart');
      await click(page, 'See them');
      const list = await dialogWith(page, 'Fiber waits-too');
      expect(list).toContain('Fiber waits');
      await page.press('Escape');
      await noDialog(page);
      await click(page, 'Release all 2');
      await read(page, '2 fibers may launch now.');
      await own.running('waits');
      await own.running('waits-too');
      await until('the end of the banner', async () => !(await words(page)).includes('held since'));
      expect(faults(page)).toEqual([]);
    });
  });

  it.each(VIEWS)('has no serious fault in its menus and dialogs: %s', async (_, view) => {
    const id = await fiber(REVIEW);
    const page = await focusOn(id, view);
    const found: unknown[] = [];
    const look = async (words: string | RegExp) => {
      await dialogWith(page, words);
      found.push(...(await axeFaults(page)));
      expect(await page.learn<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.press('Escape');
      await noDialog(page);
      await focusCard(page, id);
    };
    await page.press('.');
    await dialogWith(page, 'Rest until');
    // On a phone, what is seldom done is folded.
    await page.learn("document.querySelector('dialog[open] summary')?.click()");
    await look('Make it a plain document');
    await page.press('L');
    await look('Start stays for');
    await byMenu(page, id, 'repeat');
    await look('Schedule');
    await byMenu(page, id, 'uninstall');
    await look('Its text stays.');
    await page.press('?');
    await look('Turn single keys off');
    expect(found).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it('has buttons that a finger hits on a phone, and moves a card by its menu', async () => {
    const id = await fiber(REVIEW);
    const page = await open(PHONE);
    await cardWhen(page, id, 'shown');
    const small = await page.learn<string[]>(`[...document.querySelectorAll('main button')]
      .filter((button) => button.getBoundingClientRect().height < 44)
      .map((button) => button.outerHTML)`);
    expect(small).toEqual([]);
    await byMenu(page, id, 'rest:');
    await until('the write', () => /horizon: stashed/.test(daemon.home.document(id)));
    await click(page, 'Undo');
    await cardWhen(page, id, 'back');
    expect(existsSync(daemon.home.documentPath(id))).toBe(true);
    expect(faults(page)).toEqual([]);
  });
});
