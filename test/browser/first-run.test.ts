import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { axeFaults, click, fill, read, VIEWS } from './controls.ts';

const TITLE = `an empty board in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

const SIGNED_IN = { hasCompletedOnboarding: true, oauthAccount: { emailAddress: 'ada@example.org' } };

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  let daemon: TestDaemon;
  let browser: Chromium;
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      settings: { SVC_STORES: undefined },
      release: false,
      prepare: (home) => void home.write('claude/.claude.json', SIGNED_IN),
    });
    mkdirSync(daemon.home.path('garden'));
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  const toDo = (page: Page) =>
    page.learn<string[]>(
      `[...document.querySelectorAll('li[data-done="false"] h3')].map((one) => one.firstChild.textContent)`,
    );

  it.each(VIEWS)('says what is missing, in %s', async (_, view) => {
    const page = await browser.open(`http://${daemon.address}/`, { view: (one) => one.look(view) });
    await read(page, 'Getting started on test-host');
    await until(
      'the gaps',
      async () =>
        (await toDo(page)).join() ===
        ['A folder for your tasks', 'Permission to launch', 'A first task'].join(),
    );
    expect(await axeFaults(page)).toEqual([]);
    expect(page.complaints).toEqual([]);
  });

  it('asks for a sign-in to an agent, and sees that it was made', async () => {
    const [, desktop] = VIEWS[0]!;
    rmSync(daemon.home.path('claude', '.claude.json'), { force: true });
    const page = await browser.open(`http://${daemon.address}/`, { view: (one) => one.look(desktop) });
    await read(page, /found, and nobody is signed in. To sign in, run "claude" once in a terminal/);
    expect(await toDo(page)).toContain('A coding agent');
    daemon.home.write('claude/.claude.json', SIGNED_IN);
    await click(page, 'Look again');
    await read(page, /found, signed in to /);
    expect(page.complaints).toEqual([]);
  });

  it('leads to the first task, each gap closed by its button', async () => {
    const [, desktop] = VIEWS[0]!;
    const page = await browser.open(`http://${daemon.address}/`, { view: (one) => one.look(desktop) });
    await click(page, 'Choose a folder');
    await fill(page, 'Folder of the project', daemon.home.path('garden'));
    await page.press('Enter');
    await until('a store', () => existsSync(daemon.home.path('garden', '.fibers')));
    await read(page, daemon.home.path('garden'));
    await click(page, 'Let it launch');
    await read(page, 'Workers start as soon as a task is due.');
    await page.press('s');
    await fill(page, 'Task', 'Look for moss');
    await click(page, 'Stash it');
    await read(page, 'Awaiting review');
    await read(page, 'Look for moss');
    expect(page.complaints).toEqual([]);
  });
});
