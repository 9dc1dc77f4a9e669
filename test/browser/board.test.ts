import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type View } from './chromium.ts';
import { axeFaults, click, VIEWS, words } from './controls.ts';
import { cards, cardWhen, DESKTOP, faults, focused, PHONE } from './desk-page.ts';
import { addLines, addRuns, sentLine } from './past.ts';

/** More drafts than any screen shows. */
const MANY = 600;

let daemon: TestDaemon;
let browser: Chromium;

const open = (view: View) => browser.open(`http://${daemon.address}/`, { view: (page) => page.look(view) });

const TITLE = `the Desk in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        home.fiber('sketch', { front: { status: 'open', outcome: 'Only an idea.', created_at: null } });
        home.fiber('plan', { front: { status: 'open' } });
        const uid = home.fiber('judged', { front: { status: 'closed', outcome: 'All done.' } });
        const run = { fiber: 'judged', uid, session: 'judged-run', host: 'test-host', from: Date.now() };
        addRuns(home, [{ ...run, end: { at: run.from + 9, reason: 'handoff' } }]);
        const files = ['one.md', 'two.png', 'three.csv'].map((name) => home.write(`sent/${name}`, name));
        addLines(
          home,
          'events.jsonl',
          files.map((file, nth) => sentLine(run.from + nth, run.session, [file])),
        );
        home.fiber('asked', { agent: 'talks', front: { status: 'open' } });
        home.fiber('role', { front: { status: 'open' }, svc: { kind: 'pinned' } });
        home.fiber('later', { front: { status: 'open', horizon: 'stashed' } });
        home.fiber('homeless', { svc: { project_dir: '/no/such/folder' } });
      },
    });
    await daemon.rowWhen('homeless', 'blocked', (row) => row.blocked !== undefined);
  });

  afterEach(async () => {
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('shows every fiber in its column, from this daemon alone and without a complaint of the browser', async () => {
    const page = await open(DESKTOP);
    await cardWhen(page, 'sketch', 'shown');
    const places = (await cards(page)).map(({ column, fiber, state }) => [column, fiber, state]);
    expect(places.toSorted()).toEqual([
      ['Awaiting review', 'judged', 'review'],
      ['Drafts', 'asked', 'draft'],
      ['Drafts', 'plan', 'draft'],
      ['Drafts', 'sketch', 'draft'],
      ['In flight', 'homeless', 'blocked'],
    ]);
    const gaps = await page.learn<
      number[][]
    >(`[...document.querySelectorAll('article[data-fiber]')].map((card) => {
      const [own, column] = [card, card.closest('[data-column]')].map((one) => one.getBoundingClientRect());
      return [own.left - column.left, column.right - own.right];
    })`);
    for (const gap of gaps) expect(gap).toEqual([8, 8]);
    const shown = await words(page);
    for (const word of ['Fiber role', 'Fiber later', 'Pinned', 'No date', 'Only an idea.', '/no/such/folder'])
      expect(shown).toContain(word);
    await until('the socket', async () => (await words(page)).includes('live'));
    const asked = await page.learn<string[]>(
      "performance.getEntriesByType('resource').map(({ name }) => name)",
    );
    for (const url of asked) expect(new URL(url).host).toBe(daemon.address);
    expect(asked.filter((url) => url.includes('/fibers')).length).toBeLessThan(3);
    expect(page.complaints).toEqual([]);
  });

  it('moves cards as workers start, ask and end', async () => {
    const page = await open(DESKTOP);
    await cardWhen(page, 'sketch', 'a draft', ({ column }) => column === 'Drafts');
    await daemon.dispatch({ fiber_id: 'sketch', force: true });
    const at_work = await cardWhen(
      page,
      'sketch',
      'with a worker',
      ({ state }) => state !== 'launching' && state !== 'draft',
    );
    expect(at_work.column).toBe('In flight');
    await daemon.dispatch({ fiber_id: 'asked', force: true });
    const { runtime } = await daemon.running('asked');
    const hook = {
      hook_event_name: 'PermissionRequest',
      session_id: runtime.session_uuid,
      tool_name: 'Bash',
    };
    daemon.home.write('projects/asked/orders', `echo '${JSON.stringify(hook)}' | svc hook event`);
    const asking = await cardWhen(page, 'asked', 'asking', ({ state }) => state === 'waiting');
    expect(asking.text).toMatch(/Waiting for you, \d+ s\s+asks to use Bash/);
    expect(await page.learn('document.title')).toBe('(1) Desk, test-host');
    await daemon.kill('sketch');
    await cardWhen(page, 'sketch', 'held', ({ state, column }) => state === 'held' && column === 'In flight');
    expect(faults(page)).toEqual([]);
  });

  it('[TMP-4] [TMP-6] has the files that the last run of a card in review sent, each behind a link', async () => {
    const page = await open(DESKTOP);
    const links = () =>
      page.learn<string[]>("[...document.querySelectorAll('[data-fiber=judged] a')].map((one) => one.href)");
    const [newest = '', next] = await until('the links', async () => {
      const found = await links();
      return found.length > 0 ? found : null;
    });
    expect(next).toBeDefined();
    expect((await cardWhen(page, 'judged', 'shown')).text).toContain('and 1 more');
    const file = await fetch(newest);
    expect([file.status, await file.text()]).toEqual([200, 'three.csv']);
    expect(faults(page)).toEqual([]);
  });

  it('shows an edit on disk without a reload', async () => {
    const page = await open(DESKTOP);
    await cardWhen(page, 'judged', 'shown');
    await page.learn('window.loaded_once = true');
    const { home } = daemon;
    writeFileSync(home.documentPath('judged'), home.document('judged').replace('All done.', 'Done twice.'));
    await cardWhen(page, 'judged', 'edited', (card) => card.text.includes('Done twice.'));
    expect(await page.learn('window.loaded_once')).toBe(true);
  });

  it.each(['uws', 'node'])(
    'keeps what it shows while the daemon is gone, and goes on when it is back: %s',
    async (server) => {
      // A port that the system gave to the native server itself cannot be bound again at once.
      const port = await unusedPort();
      const mortal = await startTestDaemon({
        settings: { SVC_HTTP: server, SVC_LISTEN: `127.0.0.1:${port}` },
        prepare: (home) => void home.fiber('judged', { front: { status: 'closed' } }),
      });
      try {
        const page = await browser.open(`http://${mortal.address}/`);
        await cardWhen(page, 'judged', 'shown');
        await until('the socket', async () => (await words(page)).includes('live'));
        const openSheet = () => page.learn("document.querySelector('[data-fiber=judged] h3').click()");
        await openSheet();
        await until('all of the sheet', async () =>
          /Work on judged\..*Nothing has happened yet\./s.test(await words(page)),
        );
        await click(page, 'Close');
        await mortal.stop('SIGKILL');
        const gone = await until('the banner', async () => {
          const shown = await words(page);
          return shown.includes('No answer from test-host') ? shown : null;
        });
        expect(gone).toMatch(/trying again in \d+ s/);
        expect((await cards(page)).map(({ fiber }) => fiber)).toEqual(['judged']);
        await openSheet();
        await until('the sheet', async () => (await words(page)).includes('The daemon did not answer.'));
        expect(await axeFaults(page)).toEqual([]);
        await mortal.start();
        await page.learn("document.querySelector('[role=status] button')?.click()");
        await until('the end of the banner', async () => !(await words(page)).includes('No answer'));
        await until('the socket', async () => (await words(page)).includes('live'));
        await until('all parts', async () => !(await words(page)).includes('The daemon did not answer.'));
        expect(faults(page)).toEqual([]);
      } finally {
        await mortal.dispose();
      }
    },
  );

  it('has the focus moved by keys through a column and across columns', async () => {
    const page = await open(DESKTOP);
    await cardWhen(page, 'judged', 'shown');
    const inColumn = async (name: string) =>
      (await cards(page)).filter(({ column }) => column === name).map(({ fiber }) => fiber);
    const [first, second] = await inColumn('In flight');
    const steps: (string | null)[] = [];
    for (const key of ['j', 'j', 'k', 'l', 'h', 'h', 'ArrowRight', 'ArrowDown']) {
      await page.press(key);
      steps.push(await focused(page));
    }
    expect(steps).toEqual([first, second, first, 'judged', first, 'plan', first, second]);
    await page.press('l');
    expect(await page.learn('document.activeElement.ariaLabel')).toBe('Awaiting review: Fiber judged');
  });

  it('draws only what can be seen of many cards, and the last one when it is scrolled to', async () => {
    for (let count = 0; count < MANY; count += 1)
      daemon.home.fiber(`many-${count}`, {
        front: { status: 'open', due: '2020-01-01', name: `Draft ${String(count).padStart(4, '0')}` },
      });
    const page = await open(DESKTOP);
    const wanted = `Draft ${MANY - 1}`.replace(' ', ' 0');
    await until('all of them', async () => /Drafts\s+60\d/.test(await words(page)), 60_000);
    expect(await page.learn<number>("document.querySelectorAll('*').length")).toBeLessThan(1_500);
    await until('the last one', async () => {
      await page.learn(`document.querySelector('[data-column=Drafts] ul').parentElement.scrollTop = 1e9`);
      return (await words(page)).includes(wanted);
    });
    expect(await page.learn<number>("document.querySelectorAll('*').length")).toBeLessThan(1_500);
    expect(faults(page)).toEqual([]);
  });

  it.each(VIEWS)('has no serious fault that axe finds: %s', async (_, view) => {
    const page = await open(view);
    await cardWhen(page, view.phone ? 'judged' : 'homeless', 'shown');
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.learn<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(page.complaints).toEqual([]);
  });

  it.each(VIEWS)('has no serious fault in what opens over it: %s', async (_, view) => {
    const page = await open(view);
    const faultless = async (address: string, shows: string) => {
      await page.show(`http://${daemon.address}/${address}`);
      await until(shows, async () => (await words(page)).includes(shows));
      expect([shows, await axeFaults(page)]).toEqual([shows, []]);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    };
    const choose = async (gesture: string, shows: string) => {
      await page.show(`http://${daemon.address}/?fiber=plan`);
      await click(page, 'Everything that can be done');
      await until(gesture, () =>
        page.learn<boolean>(`(() => {
          const entry = document.querySelector('[data-gesture=${gesture}]');
          entry?.click();
          return entry !== null;
        })()`),
      );
      await until(shows, async () => (await words(page)).includes(shows));
      await page.settled();
      expect([shows, await axeFaults(page)]).toEqual([shows, []]);
    };
    await faultless('?sheet=keys', 'Move about');
    await faultless('?sheet=find&q=no-such-fiber', 'Nothing has “no-such-fiber”');
    await faultless('?fiber=no/such/fiber', 'This fiber cannot be shown');
    await faultless('?fiber=plan', 'Work on plan.');
    for (const [gesture, shows] of [
      ['launch', 'What the worker is told'],
      ['repeat', 'Schedule'],
      ['nest', 'Below'],
    ] as const)
      await choose(gesture, shows);
  });

  it('fits a page of any width', async () => {
    const page = await open(DESKTOP);
    await cardWhen(page, 'judged', 'shown');
    for (const width of [320, 620, 821, 1_000, 1_101]) {
      await page.look({ width, height: 700 });
      await until(`all of it in ${width} pixels`, () =>
        page.learn<boolean>(
          `innerWidth === ${width} && document.documentElement.scrollWidth <= innerWidth &&
            [...document.querySelectorAll('header button')].every((one) => one.getBoundingClientRect().right <= innerWidth)`,
        ),
      );
    }
  });

  it('shows one list at a time on a phone', async () => {
    const page = await open(PHONE);
    await cardWhen(page, 'judged', 'among those of the reader');
    const choose = (name: string) =>
      page.learn(
        `[...document.querySelectorAll('[role=tab]')].find((tab) => tab.innerText.startsWith('${name}')).click()`,
      );
    await choose('In flight');
    await cardWhen(page, 'homeless', 'in flight');
    expect((await cards(page)).map(({ fiber }) => fiber)).not.toContain('judged');
    await choose('Resting');
    await until('the rail', async () => (await words(page)).includes('Fiber role'));
  });
});
