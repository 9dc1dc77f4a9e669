import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { addComposer } from './composer.ts';
import { click, fill, read } from './controls.ts';
import { cardWhen, DESKTOP, faults } from './desk-page.ts';
import { addLines, addRuns, sentLine } from './past.ts';

/** The daemon whose board is open, and another one whose fibers it shows. */
let hub: TestDaemon;
let owner: TestDaemon;
let browser: Chromium;

const LINKS = 'See [[sketch]] and [the figures](figures.csv).';

const open = (address = '/') =>
  browser.open(`http://${hub.address}${address}`, { view: (page) => page.look(DESKTOP) });
const sheetOf = (fiber: string) => open(`/?fiber=${fiber}&origin=far`);
const href = (page: Page, name: string) =>
  until(`the link ${name}`, () =>
    page.run<string | null>(
      '(name) => [...document.querySelectorAll("a")].find(({ innerText }) => innerText.includes(name))?.href ?? null',
      name,
    ),
  );

const TITLE = `a fiber of another host in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    owner = await startTestDaemon({
      settings: { SVC_HOST: 'far', SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
      prepare(home) {
        addComposer(home);
        home.fiber('gauges', {
          svc: { host: 'far', agent: 'composer' },
          front: { status: 'open', outcome: 'Half of it is written.' },
          body: `${LINKS}\n`,
        });
        home.fiber('sketch', { front: { status: 'open' }, svc: { host: 'far' } });
        const uid = home.fiber('judged', { front: { status: 'closed' }, svc: { host: 'far' } });
        const run = { fiber: 'judged', uid, session: 'judged-run', host: 'far', from: Date.now() };
        addRuns(home, [{ ...run, end: { at: run.from + 2, reason: 'handoff' } }]);
        addLines(home, 'events.jsonl', [sentLine(run.from + 1, run.session, [home.write('sent.md', 'far')])]);
      },
    });
    hub = await startTestDaemon({
      settings: { SVC_HOST: 'near' },
      prepare(home) {
        // A fiber of the same name here shows that nothing of it is taken for the other.
        home.fiber('gauges', { svc: { host: 'near' }, front: { status: 'open', outcome: 'Of this host.' } });
        home.write('config/remotes.json', { remotes: [{ name: 'far', url: `http://${owner.address}` }] });
      },
    });
  });

  afterAll(async () => {
    for (const daemon of [owner, hub])
      for (const { runtime, id } of (await daemon?.fibers()) ?? [])
        if (runtime !== undefined) await daemon.kill(id);
    await browser?.close();
    await Promise.all([hub?.dispose(), owner?.dispose()]);
  });

  it('[RPL-2] [TMP-6] is on the Desk beside those of this host, with the files that it sent', async () => {
    const page = await open();
    await cardWhen(page, 'gauges', 'of this host', ({ text }) => text.includes('Of this host.'));
    await cardWhen(page, 'gauges', 'of the other', ({ text }) => text.includes('Half of it is written.'));
    await cardWhen(page, 'judged', 'in review', ({ column }) => column === 'Awaiting review');
    const file = await fetch(await href(page, 'sent.md'));
    expect([file.status, await file.text()]).toEqual([200, 'far']);
    await read(page, '2 of 2 hosts fresh');
    expect(faults(page)).toEqual([]);
  });

  it('[RPL-3] [WPL-11] is read and edited there, with its links', async () => {
    const page = await sheetOf('gauges');
    await read(page, 'the figures');
    expect(await href(page, 'sketch')).toContain('/?fiber=sketch&origin=far');
    expect(await href(page, 'the figures')).toMatch(/\/api\/v1\/file\?path=.*figures\.csv&origin=far$/);
    await click(page, 'Edit the body');
    const text = `Written on the board of another host at ${Date.now()}. ${LINKS}`;
    await fill(page, 'Markdown', `${text}\n`);
    await click(page, 'Save');
    await read(page, 'The body is saved.');
    expect(owner.home.document('gauges')).toContain(text);
    await click(page, 'Edit the roster');
    await fill(page, 'A role in each line', 'reviewer: birch');
    await click(page, 'Save');
    await until(
      'the roster',
      async () => (await owner.row('gauges'))?.collaboration?.reviewer?.[0] === 'birch',
    );
    expect(hub.home.document('gauges')).not.toMatch(/birch|Written on/);
    expect(faults(page)).toEqual([]);
  });

  it('[RPL-2] [WPL-10] is started there with a text, and what its worker does is shown, on its screen too', async () => {
    if ((await owner.row('gauges'))?.runtime !== undefined) await owner.kill('gauges');
    const page = await sheetOf('gauges');
    await fill(page, 'Start a worker with a text', 'Begin with station 17.');
    await click(page, 'Start with it');
    await read(page, 'A worker was started with it.');
    await owner.running('gauges');
    expect(owner.lastLaunch('gauges').prompt).toContain('Begin with station 17.');
    await fill(page, 'Reply to the worker', 'And the year 2021?');
    await click(page, 'Reply');
    await until('the message there', async () => {
      const { body } = await owner.http.get<{ messages: { text: string | null }[] }>(
        '/messages?fiber=gauges',
      );
      return body.messages.some(({ text }) => text?.includes('And the year 2021?'));
    });
    await read(page, 'And the year 2021?');
    await page.show(`http://${hub.address}/?fiber=gauges&origin=far&part=screen`);
    await read(page, 'Live, read only');
    await read(page, 'svc attach gauges --host far');
    expect((await hub.row('gauges'))?.runtime).toBeUndefined();
    expect(faults(page)).toEqual([]);
  });

  it('[RPL-2] [WPL-26] is shown as it was last known when its host is gone, can be tried at once, and is fresh when it is back', async () => {
    const page = await open();
    await cardWhen(page, 'sketch', 'of the other host');
    await owner.kill9();
    try {
      await read(page, '1 of 2 hosts fresh');
      await cardWhen(page, 'sketch', 'with its age', ({ text }) => /far, /.test(text));
      const hosts = await open('/?sheet=hosts');
      await click(hosts, 'Try now: far');
      await read(hosts, 'far is being tried.');
      expect(faults(hosts)).toEqual([]);
    } finally {
      await owner.start();
    }
    await read(page, '2 of 2 hosts fresh');
    expect(faults(page)).toEqual([]);
  });
});
