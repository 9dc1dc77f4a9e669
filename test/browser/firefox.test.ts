import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { addComposer } from './composer.ts';
import { click, fill, read } from './controls.ts';
import { cards, cardWhen, DESKTOP, focused } from './desk-page.ts';
import { Firefox, type FirefoxPage, NO_FIREFOX } from './firefox.ts';

const TITLE = `the board in Firefox${NO_FIREFOX === null ? '' : ` (${NO_FIREFOX})`}`;
const ID = 'count-the-gauges';

describe.skipIf(NO_FIREFOX !== null)(TITLE, () => {
  const firefox = new Firefox();
  let daemon: TestDaemon;
  let page: FirefoxPage;

  // A second attempt begins anew.
  beforeEach(async () => {
    [daemon] = await Promise.all([
      startTestDaemon({
        prepare(home) {
          addComposer(home);
          home.write('config/projects.json', [home.project('gauges')]);
          home.fiber('sketch', { front: { status: 'open', outcome: 'Only an idea.' } });
        },
      }),
      firefox.start(),
    ]);
    page = await firefox.open(`http://${daemon.address}/`, DESKTOP);
  });

  afterEach(async () => {
    await firefox.close();
    await daemon?.dispose();
  });

  const card = `[data-fiber="${ID}"]`;
  async function focus(): Promise<void> {
    await until('the focus on the card', async () => {
      await page.learn(`document.querySelector('${card}')?.focus()`);
      return (await focused(page)) === ID;
    });
    await seen();
  }
  /** A person sees where a card is before they press a key for it: what comes at once was meant for what was there. */
  const seen = () => pause(600);
  const noDialog = () =>
    until('the end of the dialog', () => page.learn<boolean>("document.querySelector('dialog') === null"));

  it('leads from a task that is stashed, launched, watched and answered to one that is accepted, and back', async () => {
    await read(page, 'live');
    await cardWhen(page, 'sketch', 'shown');
    const { home } = daemon;
    const path = home.documentPath('sketch');
    writeFileSync(path, readFileSync(path, 'utf8').replace('Only an idea.', 'A plan by now.'));
    await cardWhen(page, 'sketch', 'edited', ({ text }) => text.includes('A plan by now.'));

    await page.press('s');
    await read(page, 'Stash a draft');
    await page.type('Count the gauges');
    await fill(page, 'Project', home.project('gauges'));
    await fill(page, 'Agent', 'composer');
    await click(page, 'Stash it');
    await cardWhen(page, ID, 'a draft', ({ column }) => column === 'Drafts');

    await focus();
    await page.press('L');
    await read(page, `Start composer for ${ID}`);
    await page.type('Begin with station 17.');
    await read(page, `Start composer for ${ID}`);
    expect((await daemon.row(ID))?.runtime).toBeUndefined();
    await click(page, 'Launch');
    await daemon.running(ID);
    await cardWhen(page, ID, 'at work', ({ column }) => column === 'In flight');
    expect(daemon.lastLaunch(ID).prompt).toContain('Begin with station 17.');

    await focus();
    await page.press('w');
    const screen = `document.querySelector('[role=region][aria-label="Screen of the worker"]')`;
    await until('the screen of the worker', () =>
      page.learn<boolean>(`${screen}?.innerText.includes('? for shortcuts') === true`),
    );
    const selected = await page.learn(
      `(getSelection().selectAllChildren(${screen}), getSelection().toString())`,
    );
    expect(selected).toContain('? for shortcuts');
    await page.press('Escape');
    await noDialog();

    await seen();
    await page.click(`${card} p`);
    await read(page, 'This run');
    await fill(page, 'Reply to the worker', 'And the year 2021?');
    await click(page, 'Reply');
    await until('the receipt of the reply', async () =>
      /And the year 2021\?\s+Accepted/.test(
        await page.learn<string>(`document.querySelector('dialog [data-part=Messages]')?.innerText ?? ''`),
      ),
    );
    await page.press('Escape');
    await noDialog();

    await focus();
    await page.press('m');
    await read(page, 'The worker on test-host stops.');
    await page.press('r');
    await read(page, /Close for review: [\s\S]*Cancel/);
    await page.press('Enter');
    await cardWhen(page, ID, 'awaiting review', ({ column }) => column === 'Awaiting review');
    await noDialog();

    // While the page knows of a worker, it asks before anything ends it; while it saves, it takes no other change.
    await seen();
    await page.click(`${card} p`);
    await read(page, 'Set-up');
    await page.press('Escape');
    await noDialog();
    await until('the end of saving', () =>
      page.learn<boolean>(`document.querySelector('${card}')?.getAttribute('aria-busy') === 'false'`),
    );
    await focus();
    await page.press('a');
    await until('the verdict', () => home.document(ID).includes('tempered: true'));
    await read(page, 'Undo');
    expect((await cards(page)).map(({ fiber }) => fiber)).not.toContain(ID);
    await page.press('g');
    await page.press('h');
    await until('the sheet', () => page.learn<boolean>("document.querySelector('dialog') !== null"));
    expect(await page.learn("document.querySelector('dialog').innerText.includes('Undo')")).toBe(true);
    await page.press('u');
    await cardWhen(page, ID, 'back', ({ column }) => column === 'Awaiting review');
    await until('the document as before', () => !home.document(ID).includes('tempered'));
    await page.press('Escape');
    await noDialog();

    expect(page.complaints).toEqual([]);
    const asked = page.asked.map((url) => new URL(url)).filter(({ protocol }) => protocol !== 'data:');
    expect(asked.length).toBeGreaterThan(10);
    for (const url of asked) expect(url.host, url.href).toBe(daemon.address);
  });

  it('tells of what the policy of the page refuses, so that its silence above means something', async () => {
    await page.learn(
      `document.head.append(Object.assign(document.createElement('style'), { textContent: 'p { color: red }' }))`,
    );
    await until('the complaint', () =>
      page.complaints.some((one) => /Content-Security-Policy.*style-src/.test(one)),
    );
  });
});
