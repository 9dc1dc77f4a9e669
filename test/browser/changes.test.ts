import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeRepository } from '../fixtures/repository.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, read, VIEWS } from './controls.ts';
import { DESKTOP, faults } from './desk-page.ts';

const BRANCH = 'fiber/gauges-4q7zk2';

/** The daemon whose board is open, and another one whose fibers it shows. */
let hub: TestDaemon;
let owner: TestDaemon;
let browser: Chromium;

/** A repository, and a worktree of it in which a worker changed, added and removed files. */
function addWork(home: TestHome): { repository: string; worktree: string } {
  const repository = makeRepository(home.path('work', 'gauges'));
  home.write('work/gauges/src/read.js', 'const rows = parse(path);\nconst gaps = false;\n');
  home.write('work/gauges/old.txt', 'Not needed.\n');
  repository.commit('Begin');
  const worktree = home.path('work', 'gauges.worktrees', 'gauges');
  repository.git('worktree', 'add', '--quiet', '-b', BRANCH, worktree);
  writeFileSync(
    join(worktree, 'src/read.js'),
    'const rows = parse(path);\nconst gaps = true;\nkeep(gaps);\n',
  );
  writeFileSync(join(worktree, 'notes.md'), 'Every gap is a row.\n');
  repository.git('-C', worktree, 'rm', '--quiet', 'old.txt');
  return { repository: repository.path, worktree };
}

function addFibers(home: TestHome, host: string): void {
  const { repository, worktree } = addWork(home);
  mkdirSync(home.path('plain'));
  const svc = { host, project_dir: repository };
  const closed = { status: 'closed' };
  home.fiber('gauges', {
    front: { ...closed, name: 'Tide gauges', outcome: 'Gaps are rows.' },
    svc: { host, project_dir: worktree, worktree: BRANCH, worktree_of: repository },
  });
  home.fiber('clean', { front: closed, svc });
  home.fiber('plain', { front: closed, svc: { host, project_dir: home.path('plain') } });
  home.fiber('accepted', { front: { ...closed, tempered: true }, svc });
  home.fiber('works', { front: { status: 'open' }, agent: 'stays', svc });
}

const open = (query: string, view: View = DESKTOP) =>
  browser.open(`http://${hub.address}/?fiber=${query}`, { view: (page) => page.look(view) });
const part = (page: Page) =>
  page.learn<string | null>(`document.querySelector('[data-part="Uncommitted"]')?.innerText ?? null`);
const says = (page: Page, text: string | RegExp) =>
  until(`the part says ${text}`, async () => {
    const all = ((await part(page)) ?? '').replaceAll(/\s+/g, ' ');
    return typeof text === 'string' ? all.includes(text) : text.test(all);
  });

/** Waits until the script of the part is there, and what the sheet shows of the fiber beside it. */
async function loaded(page: Page): Promise<void> {
  await read(page, 'None yet.');
  await until('the script of the part', () =>
    page.learn<boolean>(
      `performance.getEntriesByType('resource').some(({ name }) => name.includes('/ChangesParts-'))`,
    ),
  );
}

const TITLE = `what a worker left uncommitted, on its sheet${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    owner = await startTestDaemon({
      settings: { SVC_HOST: 'far', SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
      prepare: (home) => addFibers(home, 'far'),
    });
    hub = await startTestDaemon({
      settings: { SVC_HOST: 'near' },
      prepare(home) {
        addFibers(home, 'near');
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

  it.each(VIEWS)(
    'is listed at the review with its branch, and each file opens its lines: %s',
    async (_, view) => {
      const page = await open('gauges', view);
      await says(page, '2 files, +2 −2, 1 untracked');
      await says(page, `Not committed yet on its own branch ${BRANCH}.`);
      await says(page, /old\.txt deleted, \+0 −1 .*src\/read\.js \+2 −1 .*notes\.md untracked/);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await axeFaults(page)).toEqual([]);

      await page.learn(`(() => {
      const line = document.querySelector('[data-uncommitted="src/read.js"]');
      line.focus();
      line.click();
    })()`);
      await until('the lines', () =>
        page.learn<boolean>(
          `document.querySelector('dialog [data-file="src/read.js"] [data-kind=added]') !== null`,
        ),
      );
      const added = await page.learn<string[]>(
        `[...document.querySelectorAll('dialog [data-file="src/read.js"] [data-kind=added]')].map((one) => one.cells[3].innerText.trim())`,
      );
      expect(added).toEqual(['const gaps = true;', 'keep(gaps);']);
      expect(await page.learn('new URLSearchParams(location.search).get("part")')).toBe(
        'uncommitted src/read.js',
      );
      const untracked = await page.learn<string>(`document.querySelector('[data-file="notes.md"] a').href`);
      expect(await (await fetch(untracked)).text()).toBe('Every gap is a row.\n');
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(await axeFaults(page)).toEqual([]);

      await page.press('Escape');
      await until('the sheet with the focus where it was', () =>
        page.learn<boolean>(`document.activeElement.dataset.uncommitted === 'src/read.js'`),
      );
      expect(faults(page)).toEqual([]);
    },
  );

  it('says where there is nothing, and where the folder is in no repository', async () => {
    const clean = await open('clean');
    await says(clean, 'Nothing uncommitted on branch main.');
    expect(await axeFaults(clean)).toEqual([]);
    const plain = await open('plain');
    await says(plain, `Its folder ${hub.home.path('plain')} is not in a Git repository.`);
    expect([...faults(clean), ...faults(plain)]).toEqual([]);
  });

  it('is shown while a worker runs, and no more once the fiber is accepted', async () => {
    const page = await open('works');
    await loaded(page);
    expect(await part(page)).toBe(null);
    await hub.dispatch({ fiber_id: 'works', force: true });
    await hub.running('works');
    await says(page, 'Nothing uncommitted on branch main.');
    const accepted = await open('accepted');
    await loaded(accepted);
    expect(await part(accepted)).toBe(null);
    expect([...faults(page), ...faults(accepted)]).toEqual([]);
  });

  it('[RPL-2] is told by the host of the fiber, and in a sentence where that does not answer', async () => {
    const page = await open('gauges&origin=far');
    await says(page, '2 files, +2 −2, 1 untracked');
    await owner.kill9();
    const without = await open('gauges&origin=far');
    try {
      await says(without, /far.* Try again/);
      expect(await axeFaults(without)).toEqual([]);
    } finally {
      await owner.start();
    }
    await until('what the host tells', async () => {
      await without.learn(`document.querySelector('[data-part="Uncommitted"] [role=alert] button')?.click()`);
      return (await part(without))?.includes(BRANCH);
    });
    expect(faults(page)).toEqual([]);
  });
});
