import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, below, click, fill, read, VIEWS, words } from './controls.ts';

const TITLE = `the settings in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;
let page: Page;

const [, DESKTOP] = VIEWS[0]!;
const open = async (query: string, view: View = DESKTOP) => {
  page = await browser.open(`http://${daemon.address}/${query}`, { view: (shown) => shown.look(view) });
  await read(page, 'test-host');
};
/** What a browser says by itself of a request that the daemon refused. */
const faults = () => page.complaints.filter((one) => !/status of 4\d\d/.test(one));

/** The editor, which is in a shadow root. */
const IN_EDITOR = `[...document.querySelectorAll('*')].find(({ shadowRoot }) => shadowRoot)?.shadowRoot`;
const editorText = (which = '.cm-content') =>
  page.learn<string | null>(
    `(() => { const all = ${IN_EDITOR}?.querySelectorAll(${JSON.stringify(which)}); return all?.length ? [...all].at(-1).innerText : null; })()`,
  );
/** Writes a text in place of the one in the editor. */
async function write(text: string): Promise<void> {
  await until('the editor', async () => (await editorText()) !== null);
  await page.learn(
    `(() => { const content = [...${IN_EDITOR}.querySelectorAll('.cm-content')].at(-1); content.focus(); getSelection().selectAllChildren(content); document.execCommand('selectAll'); })()`,
  );
  await page.type(text);
}
const onDisk = (file: string) => readFileSync(join(daemon.home.config, `${file}.json`), 'utf8');

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      settings: { SVC_STORES: undefined },
      prepare(home) {
        home.write('config/stores.json', [home.store]);
        home.fiber('sketch', { front: { status: 'open' } });
        home.fiber('homeless', { svc: { project_dir: '/no/such/folder' } });
        const agents = JSON.parse(readFileSync(join(home.config, 'agents.json'), 'utf8')) as {
          agents: { id: string; effort_levels: string[] }[];
        };
        agents.agents.find(({ id }) => id === 'talks')!.effort_levels = ['low', 'high'];
        home.write('config/agents.json', agents);
      },
    });
    await daemon.rowWhen('homeless', 'blocked', (row) => row.blocked !== undefined);
  });

  afterEach(() => expect(faults()).toEqual([]));

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('opens with a key, and tells what is wrong with its fix', async () => {
    await open('');
    await page.press(',');
    await read(page, 'To fix');
    for (const word of ['/no/such/folder', 'Daemon', 'poller', 'Polling', 'Programs', 'tmux'])
      await read(page, word);
    expect(await page.learn('document.title')).toBe('Settings, test-host');
    await page.press('1');
    await read(page, 'Awaiting review');
  });

  it('[OPF-2] [ERR-4] shows the sentence of a validator at its line, and saves nothing', async () => {
    await open('?view=settings&part=file-remotes');
    const wrong = '{\n  "remotes": [\n    { "name": "b", "port": "many" }\n  ]\n}';
    await write(wrong);
    await click(page, 'Save');
    await read(page, 'is not valid at remotes.0.port');
    const marked = () =>
      page.learn<string | null>(`${IN_EDITOR}.querySelector('.cm-lintRange-error')?.innerText ?? null`);
    expect(await until('the mark', marked)).toBe('"many"');
    expect((await daemon.http.get<{ exists: boolean }>('/config/remotes')).body.exists).toBe(false);
  });

  it('keeps an edit that is not saved over a reload', async () => {
    await open('?view=settings&part=file-host');
    await write('{ "max_concurrent": 7 }');
    await read(page, 'Not saved yet');
    await page.show(`http://${daemon.address}/?view=settings&part=file-host`);
    await until('the edit', async () => (await editorText())?.includes('"max_concurrent": 7'));
    await click(page, 'Discard mine');
    await until('the text on disk', async () => !(await editorText())?.includes('"max_concurrent": 7'));
  });

  it.each(VIEWS)(
    '[OPF-6] [ERR-12] merges an edit with what came onto the disk meanwhile: %s',
    async (_, view) => {
      daemon.home.write('config/projects.json', '[\n  "/srv/one"\n]\n');
      await open('?view=settings&part=file-projects', view);
      await until('the file', async () => (await editorText())?.includes('/srv/one'));
      await write('["/srv/one", "/srv/mine"]');
      writeFileSync(join(daemon.home.config, 'projects.json'), '["/srv/theirs"]');
      await click(page, 'Save');
      await read(page, 'Your edit is kept');
      if (view.phone !== true) expect(await editorText('.cm-merge-a .cm-content')).toContain('/srv/theirs');
      expect(await editorText()).toContain('/srv/mine');
      expect(onDisk('projects')).toBe('["/srv/theirs"]');
      expect(await axeFaults(page)).toEqual([]);
      // The button between the sides, or in the lines of the disk where one is below the other.
      await page.learn(`[...${IN_EDITOR}.querySelectorAll('button')].at(-1).click()`);
      await until('the lines of the disk', async () => !(await editorText())?.includes('/srv/mine'));
      await click(page, 'Save merged');
      await read(page, 'projects.json is saved.');
      expect(onDisk('projects')).toBe('["/srv/theirs"]');
    },
  );

  it('[WPL-17] sets the effort of an agent', async () => {
    await open('?view=settings&part=agents');
    await fill(page, 'Effort of talks', 'high');
    await read(page, 'The effort of talks is high.');
    const { agents } = (
      await daemon.http.get<{ agents: { id: string; default_effort: string }[] }>('/agents')
    ).body;
    expect(agents.find(({ id }) => id === 'talks')?.default_effort).toBe('high');
    await fill(page, 'Effort of talks', '');
    await read(page, 'talks has its own effort again.');
  });

  it('[WPL-14] adds a store, shows when it cannot be read, and takes it off the list again', async () => {
    const folder = daemon.home.project('second');
    await open('?view=settings&part=stores');
    await click(page, 'Add a store');
    await fill(page, 'Folder of the store', '/no/such/folder/here');
    await click(page, 'Add');
    await until('the sentence', async () =>
      (await below(page, 'Folder of the store')).includes('not a directory'),
    );
    await fill(page, 'Folder of the store', folder);
    await click(page, 'Add');
    const stores = async () =>
      (await daemon.http.get<{ origins: Record<string, { stores: string[] }> }>('/fiber-stores')).body
        .origins['test-host']?.stores;
    await until('both stores', async () => (await stores())?.length === 2);
    expect(await stores()).toEqual([daemon.home.store, folder]);
    await read(page, 'Stores 2');
    const looks = () =>
      page.learn<string[]>(
        `[...document.querySelectorAll('section[aria-label=Stores] div[data-state]')].map((row) => row.dataset.state)`,
      );
    await until('the look of two stores', async () => `${await looks()}` === 'accepted,accepted');
    rmSync(join(folder, '.fibers'), { recursive: true });
    await until('the look of a folder that is no store', async () => (await looks())[1] === 'blocked');
    expect((await looks())[0]).toBe('accepted');
    await click(page, `Remove ${folder}`);
    await click(page, 'Remove it');
    await until('one store', async () => (await stores())?.length === 1);
    await read(page, 'Stores 1');
  });

  it('pulls the emergency brake with a note, tells everybody, and releases it', async () => {
    await open('?view=settings&part=brake');
    await fill(page, 'Why, for whoever finds it on', 'the disk is full');
    await click(page, 'Pull the brake');
    await read(page, /The emergency brake is on since \d\d:\d\d/);
    expect((await daemon.state()).brake).toMatchObject({ on: true, note: 'the disk is full' });
    await page.press('1');
    await read(page, '“the disk is full”');
    expect(await axeFaults(page)).toEqual([]);
    await click(page, 'Release the brake');
    await until('its release', async () => !(await daemon.state()).brake.on);
    await until(
      'the end of the banner',
      async () => !(await words(page)).includes('The emergency brake is on'),
    );
  });

  it('shows a brake that is pulled and released elsewhere as the daemon tells it', async () => {
    await open('');
    const read_state = `performance.getEntriesByType('resource').some((one) => one.name.endsWith('/state/composite'))`;
    await until('the state', () => page.learn<boolean>(read_state));
    // So that it is not found by asking again.
    await page.learn('for (let timer = setTimeout(() => 0); timer > 0; timer -= 1) clearTimeout(timer)');
    await daemon.http.post('/brake', { note: 'pulled in a terminal' });
    await read(page, 'pulled in a terminal');
    await daemon.http.post('/brake/release', {});
    await until('its end', async () => !(await words(page)).includes('pulled in a terminal'));
  });

  it('turns single keys off for good', async () => {
    await open('?view=settings&part=keys');
    await read(page, 'Letters alone do something');
    await page.learn("document.querySelector('input[type=checkbox]').click()");
    await page.press('s');
    await page.show(`http://${daemon.address}/`);
    await read(page, 'test-host');
    await page.press('s');
    await page.press('c');
    expect(await page.learn("document.querySelector('dialog')")).toBeNull();
    await page.learn('localStorage.clear()');
    await page.press('s');
    await read(page, 'Stash a draft');
  });

  it('tells who was cut off when the tmux server is lost, and starts them again', async () => {
    await daemon.dispatch({ fiber_id: 'sketch', force: true });
    await daemon.running('sketch');
    await open('');
    await daemon.home.tmux('kill-server');
    await read(page, /The tmux server was lost.* at \d\d:\d\d/);
    expect(await words(page)).toContain('It cut off the worker of sketch.');
    await click(page, 'Resume all');
    await read(page, '1 fiber has a worker again.');
    await daemon.running('sketch');
    await until(
      'the end of the banner',
      async () => !(await words(page)).includes('The tmux server was lost'),
    );
  });

  it.each(VIEWS)('has no serious fault that axe finds: %s', async (_, view) => {
    for (const [part, text] of [
      ['health', 'Programs'],
      ['agents', 'Edit agents.json'],
      ['stores', 'Edit stores.json'],
      ['brake', 'It is off'],
      ['keys', 'Single keys'],
      ['file-agents', 'Discard mine'],
    ] as const) {
      await open(`?view=settings&part=${part}`, view);
      await read(page, text);
      expect([part, await axeFaults(page)]).toEqual([part, []]);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(faults()).toEqual([]);
    }
  });
});
