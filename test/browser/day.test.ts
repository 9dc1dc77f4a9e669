import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { axeFaults, click, read, VIEWS, words } from './controls.ts';
import { DESKTOP, faults } from './desk-page.ts';
import {
  addLines,
  addPast,
  addRuns,
  commitLine,
  type PastRun,
  sentLine,
  tides,
  writeTranscript,
  yesterday,
  yesterdayAt,
} from './past.ts';

const MINUTE_MS = 60_000;
const YESTERDAY = yesterday();
const at = yesterdayAt;

const TALKED = '0198c0de-0000-4000-8000-0000000000a1';
const DIED = '0198c0de-0000-4000-8000-0000000000a2';
const NIGHT = '0198c0de-0000-4000-8000-0000000000a3';
const NOBODYS = '0198c0de-0000-4000-8000-0000000000a4';

let daemon: TestDaemon;
let browser: Chromium;
let uids: Record<'ingest' | 'tiles' | 'night', string>;

function prepare(home: TestHome): void {
  const fiber = (id: string, name: string, outcome: string) =>
    home.fiber(id, { front: { name, status: 'open', outcome } });
  uids = {
    ingest: fiber('coast/ingest', 'Tide gauge ingest', '1,204 of 1,380 station-days written.'),
    tiles: fiber('tiles', 'Map tiles: cold start', 'First paint 1.9 s to 1.1 s.'),
    night: fiber('night', 'Night watch', 'All is quiet.'),
  };
  home.fiber('today', { front: { name: 'Work of today', status: 'open' }, agent: 'talks' });
}

/** What the ledgers of a machine would have of yesterday. */
function writeYesterday(home: TestHome): void {
  const run = (fiber: string, uid: string, session: string, from: number, end: PastRun['end']): PastRun => ({
    ...{ fiber, uid, session, host: 'test-host', from, end },
  });
  addRuns(home, [
    run('night', uids.night, NIGHT, at(-1), { at: at(1), reason: 'exited' }),
    run('coast/ingest', uids.ingest, TALKED, at(8), { at: at(12, 5), reason: 'handoff' }),
    run('tiles', uids.tiles, DIED, at(9), {
      ...{ at: at(12, 40), reason: 'exited', detail: 'the agent exited with 3', mend: 'resume it' },
    }),
  ]);
  // Everything is told as minutes before the end of that day.
  const ago = (hour: number, minute = 0) => (at(24) - at(hour, minute)) / MINUTE_MS;
  addPast(home, at(24), [
    {
      session: TALKED,
      work: [
        [ago(8), ago(10, 30), tides(1)],
        [ago(11), ago(12), tides(2)],
      ],
      words: [ago(8), ago(9, 10), ago(11)],
      waits: [ago(10, 30)],
      replies: [ago(10, 29), ago(12)],
    },
    { session: DIED, work: [[ago(9), ago(12, 38), tides(3)]], words: [ago(9)] },
    { session: NIGHT, work: [[ago(0), ago(0, 40), tides(4)]] },
    { session: NOBODYS, work: [[ago(13), ago(13, 20), tides(5)]], words: [ago(13)] },
  ]);
  addLines(home, 'events.jsonl', [sentLine(at(11, 50), TALKED, ['notes-preview.html'])]);
  addLines(home, 'commits.jsonl', [commitLine(at(9, 45), TALKED, 'Keep gaps as rows', [612, 88])]);
  writeTranscript(home, TALKED, [
    [at(9, 10), 'user', 'Keep the gaps visible.'],
    [at(9, 12), 'assistant', 'Writing 2022. 310 station-days to go.'],
  ]);
}

const lanes = (page: Page) =>
  page.learn<string[]>(
    "[...document.querySelectorAll('[data-lane] > :first-child b')].map((one) => one.innerText)",
  );
/** The rows of the table, also where it is for screen readers alone. */
const table = (page: Page) =>
  page.learn<string[]>(
    "[...document.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent).join(' | '))",
  );
const time = (page: Page) =>
  page.learn<string>(`/At (\\d\\d:\\d\\d)/.exec(document.querySelector('#at')?.innerText ?? '')?.[1] ?? ''`);
/** What is told to a screen reader of the place of the cursor. */
const status = (page: Page) => page.learn<string>("document.querySelector('main [role=status]').textContent");
/** How much is drawn on a lane: the part of its pixels that are not empty. */
const inked = (page: Page, lane: string) =>
  page.run<number>(
    `(lane) => {
      const canvas = document.querySelector('[data-lane="' + lane + '"] canvas');
      if (!canvas || canvas.width < 50) return 0;
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let inked = 0;
      for (let byte = 3; byte < data.length; byte += 4) if (data[byte] > 0) inked += 1;
      return inked / (data.length / 4);
    }`,
    lane,
  );

const TITLE = `the Day in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({ prepare });
    writeYesterday(daemon.home);
    await until('the activity of yesterday', async () => {
      const { body } = await daemon.http.get<{ buckets: unknown[] }>(
        `/activity?from_ms=${at(0)}&to_ms=${at(24)}`,
      );
      return body.buckets.length > 200;
    });
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  const open = (query: string, view = DESKTOP) =>
    browser.open(`http://${daemon.address}/${query}`, { view: (page) => page.look(view) });

  it.each(VIEWS)(
    '[TMP-1] [TMP-2] [TMP-3] [TMP-4] [TMP-6] draws a lane for each fiber and says the same in a table, in %s',
    async (_, view) => {
      const page = await open(`?view=day&d=${YESTERDAY}`, view);
      await until('the lanes', async () => (await lanes(page)).length === 4);
      expect(await lanes(page)).toEqual([
        'Night watch',
        'Tide gauge ingest',
        'Map tiles: cold start',
        'Without a fiber',
      ]);
      await until('a drawing', async () => (await inked(page, 'coast/ingest')) > 0.02);
      const [night, ingest, tiles, nobody] = await table(page);
      expect(night).toMatch(
        /^Night watch \| test-host \| \d+ min \| 00:00 \| 01:00 \|.*\| its program ended 01:00$/,
      );
      expect(ingest).toMatch(
        /^Tide gauge ingest \| test-host \| 3 h \d\d \| 08:00 \| 12:05 \| 3 \| 2 \| 30 min \|/,
      );
      expect(ingest).toMatch(/\| 1, \+612 −88 \| 1 \| handed off 12:05$/);
      expect(tiles).toMatch(/\| the agent exited with 3 12:40$/);
      expect(nobody).toMatch(/^Without a fiber \| test-host \| \d+ min \| 13:00 \| 13:20 \| 1 \|/);
      const shown = await read(page, 'Keep gaps as rows');
      for (const word of [
        'notes-preview.html',
        '1,204 of 1,380',
        '5 messages',
        '1 commit +612 −88',
        'most at once: 2',
      ])
        expect(shown).toContain(word);
      expect(await axeFaults(page)).toEqual([]);
      await click(page, 'Table');
      await until('the table', async () => (await words(page)).includes('handed off 12:05'));
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(faults(page)).toEqual([]);
    },
  );

  it('moves the cursor by keys and by the mouse, and says what ran then and what was said', async () => {
    const page = await open(`?view=day&d=${YESTERDAY}`);
    await until('the lanes', async () => (await lanes(page)).length === 4);
    expect(await time(page)).toBe('09:00');
    for (const _ of [1, 2, 3]) await page.press('ArrowRight');
    expect(await time(page)).toBe('09:15');
    await until('what is said of it', async () => /^At 09:15 two agents working: /.test(await status(page)));
    await read(page, 'Keep the gaps visible.');
    await read(page, 'Writing 2022. 310 station-days to go.');

    const axis = () => page.learn<string>("document.querySelector('[data-axis]').innerText");
    const whole = await axis();
    await page.press('+');
    await until('less of the day', async () => (await axis()) !== whole);
    expect(await time(page)).toBe('09:15');
    await page.press('-');
    await until(
      'as much as before',
      async () => (await axis()).split('\n').length === whole.split('\n').length,
    );

    const { left, right, top } = await page.learn<{ left: number; right: number; top: number }>(
      'document.querySelector(\'[data-lane="tiles"] canvas\').getBoundingClientRect().toJSON()',
    );
    await page.mouse('move', (left + right) / 2, top + 20);
    await until('the time below the mouse', async () => (await time(page)) !== '09:15');
    await page.mouse('move', 5, 5);
    await until('the time of the cursor again', async () => (await time(page)) === '09:15');
    await page.mouse('move', right - 20, top + 20);
    await page.mouse('down', right - 20, top + 20);
    await page.mouse('up', right - 20, top + 20);
    await until('the sheet of its fiber', () =>
      page.learn<boolean>(
        "document.querySelector('dialog:modal')?.innerText.includes('Map tiles: cold start') ?? false",
      ),
    );
    expect(await page.learn('location.search')).toBe(`?view=day&d=${YESTERDAY}&fiber=tiles`);
    await page.press('Escape');
    await until('the Day', () => page.learn<boolean>("document.querySelector('dialog:modal') === null"));
    expect(await page.learn('location.search')).toBe(`?view=day&d=${YESTERDAY}`);
    expect(faults(page)).toEqual([]);
  });

  it('goes from day to day, and says of each one without work that it had none', async () => {
    const page = await open('');
    await read(page, 'Tide gauge ingest');
    await page.press('2');
    await read(page, 'No agent has worked today');
    const past = ['activity', 'commits', 'sent-files/all', 'sessions'].map(
      (one) => `/api/v1/${one}/composite`,
    );
    const asked = async () => {
      const all = await page.learn<string[]>(
        "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)",
      );
      return all.filter((path) => past.includes(path));
    };
    await page.press('[');
    await until('the lanes', async () => (await lanes(page)).length === 4);
    expect(await page.learn('location.search')).toBe(`?view=day&d=${YESTERDAY}`);
    expect([...new Set(await asked())].toSorted()).toEqual(past);
    await page.press('[');
    await until(
      'the day before',
      async () => /Night watch/.test(await words(page)) && (await lanes(page)).length === 1,
    );
    const before = (await asked()).length;
    await page.press(']');
    await until('yesterday', async () => (await lanes(page)).length === 4);
    expect((await asked()).length, 'a day that is over is read once').toBe(before);
    await page.press('t');
    await read(page, 'No agent has worked today');
    expect(await page.learn('location.search')).toBe('?view=day');
    await page.show(`http://${daemon.address}/?view=day&d=2999-01-01`);
    await read(page, 'This day has not come yet.');
    expect(faults(page)).toEqual([]);
  });

  it('follows today: a worker that runs now, and what it does', async () => {
    await daemon.dispatch({ fiber_id: 'today', force: true });
    const { runtime } = await daemon.running('today');
    try {
      const page = await open('?view=day');
      await until('its lane', async () => (await lanes(page)).includes('Work of today'));
      expect(await table(page)).toEqual([
        expect.stringMatching(/^Work of today \| test-host \| .*\| runs \|/),
      ]);
      await read(page, 'now');
      const typed = {
        hook_event_name: 'UserPromptSubmit',
        session_id: runtime.session_uuid,
        prompt: 'Go on.',
      };
      daemon.home.write('projects/today/orders', `echo '${JSON.stringify(typed)}' | svc hook event`);
      await until('the words of a person', async () =>
        /^Work of today \| test-host \|[^|]*\|[^|]*\| runs \| [1-9]/.test((await table(page))[0] ?? ''),
      );
      expect(await time(page)).toMatch(/^\d\d:\d\d$/);
      expect(faults(page)).toEqual([]);
    } finally {
      await daemon.kill('today');
    }
  });

  it.each(VIEWS)('[TMP-8] hatches what a host has not told, and says since when, in %s', async (_, view) => {
    const page = await open('', view);
    await read(page, view === DESKTOP ? 'Drafts' : 'Desk');
    // Until daemons read each other, another host can only be told of on the way to the page.
    await page.run(
      `(activity, sessions, last_ok_at) => {
        const ask = window.fetch;
        const stale = { state: 'stale', last_ok_at, error: { code: 'no_answer', message: 'It is late.' }, build: null };
        window.fetch = async (url, ...rest) => {
          const answer = await ask(url, ...rest);
          const read = String(url).includes('/activity/composite') ? activity
            : String(url).includes('/sessions/composite') ? sessions : null;
          if (read === null || answer.status !== 200) return answer;
          const body = await answer.json();
          body.origins.tarn = { ...stale, read };
          body.origins.mesa = { ...stale, state: 'no_answer', last_ok_at: null, read: null };
          return new Response(JSON.stringify(body), { status: 200, headers: { 'content-type': 'application/json' } });
        };
      }`,
      {
        ...{ host: 'tarn', from_ms: at(0), to_ms: at(24) },
        buckets: Array.from({ length: 60 }, (_, minute) => ({
          ...{ m: at(10, minute), s: 'far', cwd: null, k: 'agent', n: 5 },
        })),
      },
      {
        host: 'tarn',
        sessions: [
          {
            ...{ fiber: 'far/away', uid: '01K0000000000000000000FAR0', session: 'far', thread_id: null },
            ...{ harness: 'claude', host: 'tarn', mux: null, at: at(10), kind: 'dispatch', run_id: 'far' },
          },
        ],
      },
      at(14, 2),
    );
    await click(page, 'Day');
    await click(page, 'The day before');
    const shown = await read(page, /tarn as of \w+ \d+ 14:02/);
    expect(shown).toContain('mesa: It is late.');
    const row = (await table(page)).find((one) => one.startsWith('far/away'));
    expect(row).toMatch(/\| tarn \| 1 h 00, not known 14:02 to 00:00 \|/);
    await page.learn(`document.querySelector('[data-lane="far/away"]').scrollIntoView()`);
    await until('the hatching', async () => (await inked(page, 'far/away')) > 0.08);
    const label = 'document.querySelector(\'[data-lane="far/away"] canvas\').ariaLabel';
    expect(await page.learn(label)).toContain('not known 14:02 to 00:00');
    expect(await axeFaults(page)).toEqual([]);
    expect(faults(page)).toEqual([]);
  });

  it('keeps what it shows while the daemon is gone, and says that it cannot be read', async () => {
    const mortal = await startTestDaemon({ prepare });
    try {
      writeYesterday(mortal.home);
      const page = await browser.open(`http://${mortal.address}/?view=day&d=${YESTERDAY}`);
      await until('the lanes', async () => (await lanes(page)).length === 4);
      await mortal.kill9();
      await read(page, 'No answer from test-host');
      expect((await lanes(page)).length).toBe(4);
      await page.press('t');
      await read(page, 'The day cannot be read now.');
      await page.press('[');
      await until('the lanes again', async () => (await lanes(page)).length === 4);
      expect(faults(page)).toEqual([]);
    } finally {
      await mortal.dispose();
    }
  });
});
