import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, below, click, fill, holdAnswer, read, VIEWS, words } from './controls.ts';
import { faults } from './desk-page.ts';

const TITLE = `Stash and Capture in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;
let page: Page;

const [, DESKTOP] = VIEWS[0]!;
const open = async (query = '', view: View = DESKTOP) => {
  page = await browser.open(`http://${daemon.address}/`, { view: (shown) => shown.look(view) });
  await forget();
  await page.show(`http://${daemon.address}/${query}`);
  await read(page, 'test-host');
};

/** What an earlier test left unsent. */
const forget = () =>
  page.learn(
    "localStorage.clear(); new Promise((done) => { indexedDB.deleteDatabase('board').onsuccess = done; })",
  );

/** Pastes a picture into the form, as from the clipboard. */
async function paste(name: string, type = 'image/png'): Promise<void> {
  await page.run(
    `async (name, type) => {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = 4;
      const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File([blob], name, { type }));
      document.querySelector('dialog textarea').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }`,
    name,
    type,
  );
}

const pictures = () => page.learn<number>("document.querySelectorAll('dialog img').length");
/** How many pictures the browser keeps, which it writes a moment after they are shown. */
const kept = () =>
  page.learn<number>(`new Promise((done) => {
    indexedDB.open('board', 1).onsuccess = ({ target: { result } }) => {
      const found = result.transaction('files').objectStore('files').get('task');
      found.onsuccess = () => { result.close(); done(found.result?.length ?? 0); };
    };
  })`);
/** Requests that the daemon refuses are what some of these tests are about. */
const pageFaults = () => faults(page).filter((one) => !/status of 4\d\d/.test(one));

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        home.write('config/projects.json', [home.project('atlas'), home.project('gauges')]);
      },
    });
  });

  afterEach(async () => {
    expect(pageFaults()).toEqual([]);
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('[WPL-13] files a draft of what was written, and leads to it', async () => {
    await open();
    await page.press('s');
    await read(page, 'Stash a draft');
    await page.type('Count the gauges\n\nAll of them.');
    await fill(page, 'Project', daemon.home.project('gauges'));
    await fill(page, 'Agent', 'talks');
    await click(page, 'Stash it');
    await read(page, '“Count the gauges” is among the drafts.');
    const { id, status, svc } = (await daemon.row('count-the-gauges'))!;
    expect({ id, status, svc }).toEqual({
      id: 'count-the-gauges',
      status: 'open',
      svc: { kind: 'oneshot', host: 'test-host', project_dir: daemon.home.project('gauges'), agent: 'talks' },
    });
    expect(daemon.home.document(id)).toContain('All of them.');
    await click(page, 'Open');
    expect(await page.learn('location.search')).toBe('?fiber=count-the-gauges');
  });

  it('[WPL-9] stores its pictures for the worker to come', async () => {
    await open('?sheet=stash');
    await read(page, 'Stash a draft');
    await fill(page, 'Task', 'Look at this');
    await paste('one.png');
    await paste('two.txt', 'text/plain');
    await until('both of them', async () => (await pictures()) === 2);
    await click(page, 'Stash it');
    expect(await read(page, 'is not a picture that can be sent')).toContain('two.txt');
    await click(page, 'Remove two.txt');
    await click(page, 'Stash it');
    await read(page, '“Look at this” is among the drafts.');
    const [, path = ''] = /\[Image: (.+)\]/.exec(daemon.home.document('look-at-this')) ?? [];
    expect(path.startsWith(join(daemon.home.data, 'attachments'))).toBe(true);
    expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG');
  });

  it('[WPL-6] gives a text to a real worker once its launch was reviewed, and says when its fiber is there', async () => {
    const folder = daemon.home.project('atlas');
    await open();
    await page.press('c');
    await read(page, 'Capture a task');
    await page.type('Draw the atlas');
    await click(page, 'Review launch');
    expect(await until('the sentence', () => below(page, 'Project'))).toContain('Choose the folder');
    await fill(page, 'Project', folder);
    await fill(page, 'Agent', 'talks');
    await click(page, 'Review launch');
    await read(page, `Start talks in ${folder} to file a fiber of the text.`);
    expect((await daemon.state()).captures).toEqual([]);
    await click(page, 'Launch');
    await read(page, 'A worker files “Draw the atlas”.');
    const [captured] = (await daemon.state()).captures;
    expect(captured).toMatchObject({ agent: 'talks', project_dir: folder });
    daemon.home.write(
      'projects/atlas/orders',
      `svc fiber add 'Draw the atlas' --slug atlas && svc claim atlas --mux-session ${captured?.mux_session}`,
    );
    await read(page, 'Your capture is the fiber “Draw the atlas”.');
    expect((await daemon.running('atlas')).runtime.run_id).toBe(captured?.run_id);
    await click(page, 'Open');
    expect(await page.learn('location.search')).toBe('?fiber=atlas');
  });

  it('captures the text of a worker again that was lost before it made a fiber', async () => {
    const place = `moss-${Date.now()}`;
    const folder = daemon.home.project(place);
    const text = 'Look for moss\n\nUnder the northern stones.';
    await daemon.http.post('/capture', { prompt: text, agent: 'talks', project_dir: folder });
    const capture = () =>
      until('the capture', async () =>
        (await daemon.state()).captures.find((one) => one.project_dir === folder),
      );
    const lost = await capture();
    await daemon.home.tmux('kill-session', '-t', `=${lost.mux_session}`);
    await open();
    await read(page, `A capture in ${place} by talks made no fiber`);
    await click(page, 'Capture again');
    await read(page, 'A worker files “Look for moss”.');
    await until('the lost one off the list', async () => (await capture()).run_id !== lost.run_id);
    const again = await capture();
    expect(readFileSync(again.text_file!, 'utf8')).toBe(text);
    daemon.home.write(
      `projects/${place}/orders`,
      `svc fiber add 'Look for moss' --slug ${place} && svc claim ${place} --mux-session ${again.mux_session}`,
    );
    await read(page, 'Your capture is the fiber “Look for moss”.');
  });

  it('files a capture with pictures first, and starts its worker on it', async () => {
    await open('?sheet=capture');
    await read(page, 'Capture a task');
    await fill(page, 'Task', 'Mend the picture');
    await fill(page, 'Project', daemon.home.project('gauges'));
    await paste('broken.png');
    await until('the picture', async () => (await pictures()) === 1);
    await click(page, 'Review launch');
    await read(page, 'the board files it first, with its picture');
    await click(page, 'Launch');
    await read(page, 'A worker has begun with “Mend the picture”.');
    await daemon.running('mend-the-picture');
    expect(daemon.home.document('mend-the-picture')).toMatch(/\[Image: .+\.png\]/);
  });

  it('[WPL-15] adds a project by its path, with the sentence of the daemon where it cannot', async () => {
    const folder = daemon.home.path('fresh');
    daemon.home.write('fresh/readme', 'x');
    await open('?sheet=stash');
    await fill(page, 'Project', 'add');
    await fill(page, 'Folder of the project', daemon.home.path('fresh/readme'));
    await click(page, 'Add');
    await read(page, 'not a directory');
    expect(await below(page, 'Folder of the project')).toContain('not a directory');
    await fill(page, 'Folder of the project', folder);
    await click(page, 'Add');
    await until('the choice', async () => (await below(page, 'Project')) === folder);
    expect(existsSync(join(folder, '.fibers'))).toBe(true);
  });

  it('shows what the daemon has against an agent beside its field', async () => {
    await open();
    await page.learn(
      `localStorage.setItem('task-draft', JSON.stringify({ text: 'Odd', project: ${JSON.stringify(daemon.home.project('atlas'))}, agent: 'nobody' }))`,
    );
    await page.press('c');
    await read(page, 'Capture a task');
    await click(page, 'Review launch');
    expect(await until('the sentence', async () => (await below(page, 'Agent')) || null)).toContain('nobody');
  });

  it('offers no picture again that was being sent while the form was closed and opened', async () => {
    await open();
    await page.press('s');
    await read(page, 'Stash a draft');
    await fill(page, 'Task', 'A slow picture');
    await paste('slow.png');
    await until('the picture being kept', async () => (await kept()) === 1);
    const answer = await holdAnswer(page, '/attachments');
    await click(page, 'Stash it');
    await answer.arrived();
    await page.press('Escape');
    await until('the end of the form', async () => !(await words(page)).includes('Stash a draft'));
    await page.press('s');
    await until('the picture that is being sent', async () => (await pictures()) === 1);
    await answer.release();
    await read(page, '“A slow picture” is among the drafts.');
    await until('no picture', async () => (await pictures()) === 0);
    expect(await kept()).toBe(0);
  });

  it('keeps what is written over a reload, with its pictures, until it is sent', async () => {
    await open('?sheet=stash');
    await read(page, 'Stash a draft');
    await fill(page, 'Task', 'Half a thought');
    await paste('kept.png');
    await until('the picture', async () => (await pictures()) === 1);
    await until('the picture being kept', async () => (await kept()) === 1);
    await page.show(`http://${daemon.address}/?sheet=stash`);
    await until('the picture again', async () => (await pictures()) === 1);
    expect(await page.learn("document.querySelector('dialog textarea').value")).toBe('Half a thought');
    await click(page, 'Stash it');
    await read(page, '“Half a thought” is among the drafts.');
    await page.press('s');
    await read(page, 'Stash a draft');
    expect(await page.learn("document.querySelector('dialog textarea').value")).toBe('');
    expect(await pictures()).toBe(0);
  });

  it('says what is not known to have arrived, and sends it again under its id without a second fiber', async () => {
    await open('?sheet=stash');
    await read(page, 'Stash a draft');
    await fill(page, 'Task', 'Only once');
    // Before it knows them, the page names no store to the daemon.
    await until('the stores', () =>
      page.learn<boolean>(
        `performance.getEntriesByType('resource').some((one) => one.name.endsWith('/fiber-stores') && one.responseEnd > 0)`,
      ),
    );
    // The request arrives, and its answer is lost on the way.
    await page.learn(`{
      const real = window.fetch;
      window.asked = [];
      window.fetch = async (...asked) => {
        const answer = await real(...asked);
        if (!String(asked[0]).endsWith('/fiber/create')) return answer;
        window.asked.push({ id: asked[1].headers['idempotency-key'], status: answer.status });
        if (window.asked.length > 1) return answer;
        throw new TypeError('the line broke');
      };
    }`);
    await click(page, 'Stash it');
    await read(page, 'It is not known to have arrived');
    await click(page, 'Send again');
    await read(page, '“Only once” is among the drafts.');
    const once = await page.learn<{ id: string; status: number }[]>('window.asked');
    // The second one has the answer of the first: its slug is not refused as taken.
    expect(once.map(({ status }) => status)).toEqual([once[0]?.status, once[0]?.status]);
    expect(once[1]?.id).toBe(once[0]?.id);
    const made = (await daemon.fibers()).filter(({ name }) => name === 'Only once');
    expect(made.map(({ id }) => id)).toEqual(['only-once']);
  });

  it.each(VIEWS)('has no serious fault that axe finds: %s', async (_, view) => {
    for (const [sheet, heading] of [
      ['stash', 'Stash a draft'],
      ['capture', 'Capture a task'],
    ] as const) {
      await open(`?sheet=${sheet}`, view);
      await read(page, heading);
      await fill(page, 'Task', 'Look');
      await paste('one.png');
      await until('the picture', async () => (await pictures()) === 1);
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.press('Escape');
      await until('the end of the sheet', async () => !(await words(page)).includes(heading));
      expect(await axeFaults(page)).toEqual([]);
    }
  });
});
