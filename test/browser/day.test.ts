import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { axeFaults, click, read, VIEWS, words } from './controls.ts';
import { DESKTOP, faults } from './desk-page.ts';
import { addPast, tides } from './past.ts';

const MINUTE_MS = 60_000;
/** A moment of the day before today, where the test is; minutes may be negative. */
function at(hour: number, minute = 0): number {
  const day = new Date();
  day.setDate(day.getDate() - 1);
  day.setHours(hour, minute, 0, 0);
  return day.getTime();
}
function dayOf(ms: number): string {
  const day = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
const YESTERDAY = dayOf(at(12));

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
  const append = (name: string, lines: readonly object[]) =>
    appendFileSync(join(home.data, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const run = (
    fiber: string,
    uid: string,
    session: string,
    from: number,
    end: { at: number; reason: string; detail?: string; mend?: string },
  ) => {
    const line = { fiber, uid, session, thread_id: null, harness: 'claude', host: 'test-host', mux: null };
    return [
      { ...line, at: from, kind: 'dispatch', run_id: session },
      { ...line, kind: 'ended', run_id: session, ...end },
    ];
  };
  append('sessions.jsonl', [
    ...run('night', uids.night, NIGHT, at(-1), { at: at(1), reason: 'exited' }),
    ...run('coast/ingest', uids.ingest, TALKED, at(8), { at: at(12, 5), reason: 'handoff' }),
    ...run('tiles', uids.tiles, DIED, at(9), {
      ...{ at: at(12, 40), reason: 'exited', detail: 'the agent exited with 3', mend: 'resume it' },
    }),
  ]);
  // The end of that day, of which everything is told as minutes before.
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
  append('events.jsonl', [
    {
      ...{ timestamp: at(11, 50), type: 'pre_tool_use', tool: 'SendUserFile', sessionId: TALKED },
      ...{ toolInput: { files: ['notes-preview.html'] }, cwd: '/srv' },
    },
  ]);
  append('commits.jsonl', [
    {
      ...{
        at: at(9, 45),
        kind: 'commit',
        sha: 'a'.repeat(40),
        subject: 'Keep gaps as rows',
        repo: '/srv',
        files: 1,
      },
      ...{ insertions: 612, deletions: 88, mux: null, session: TALKED, cwd: '/srv' },
    },
  ]);
  const folder = join(home.claude, 'projects', '-srv');
  mkdirSync(folder, { recursive: true });
  const said = (role: 'user' | 'assistant', when: number, text: string) => ({
    ...{ type: role, sessionId: TALKED, cwd: '/srv', timestamp: new Date(when).toISOString() },
    message: { role, content: [{ type: 'text', text }] },
  });
  const lines = [
    said('user', at(9, 10), 'Keep the gaps visible.'),
    said('assistant', at(9, 12), 'Writing 2022. 310 station-days to go.'),
  ];
  writeFileSync(join(folder, `${TALKED}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
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
      expect(night).toMatch(/^Night watch \| test-host \| \d+ min \| 00:00 \| 01:00 \|.*\| ended 01:00$/);
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
});
