import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page } from './chromium.ts';
import { addComposer } from './composer.ts';
import { click, fill, focus, holdAnswer, read, textIn, words } from './controls.ts';
import { DESKTOP, faults } from './desk-page.ts';

const TITLE = `what is typed while a form is sent${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

let daemon: TestDaemon;
let browser: Chromium;
let page: Page;

const open = async (query: string) => {
  const url = `http://${daemon.address}/`;
  page = await browser.open(url, { view: (shown) => shown.look(DESKTOP) });
  await page.learn('localStorage.clear(); sessionStorage.clear()');
  await page.show(url + query);
};
const kept = (key: string) => page.run<string | null>('(key) => localStorage.getItem(key)', key);
const sheetEnds = () =>
  until('the end of the sheet', () => page.learn<boolean>("document.querySelector('dialog') === null"));
const address = () => page.learn<string>('location.search');

const IN_EDITOR = `[...document.querySelectorAll('*')].find(({ shadowRoot }) => shadowRoot)?.shadowRoot`;
const editorText = () =>
  page.learn<string>(`[...(${IN_EDITOR}?.querySelectorAll('.cm-content') ?? [])].at(-1)?.innerText ?? ''`);
async function write(text: string): Promise<void> {
  await until('the editor', async () => (await editorText()) !== '');
  await page.learn(
    `[...${IN_EDITOR}.querySelectorAll('.cm-content')].at(-1).focus(); document.execCommand('selectAll'); undefined`,
  );
  await page.type(text);
}

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        addComposer(home);
        for (const id of ['answered', 'closed'])
          home.fiber(id, { svc: { agent: 'composer' }, front: { status: 'open' } });
        home.fiber('edited', { front: { status: 'open' }, body: 'one\n' });
        home.write('config/projects.json', [home.project('atlas')]);
      },
    });
  });

  afterEach(async () => {
    expect(faults(page)).toEqual([]);
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  const messagesOf = async (fiber: string) =>
    (await daemon.http.get<{ messages: { text: string }[] }>(`/messages?fiber=${fiber}`)).body.messages.map(
      ({ text }) => text,
    );

  it('stays in the box of a reply, and is another message', async () => {
    await daemon.dispatch({ fiber_id: 'answered', force: true });
    await daemon.running('answered');
    await open('?fiber=answered');
    await focus(page, 'Reply to the worker');
    await page.type('The first.');
    const answer = await holdAnswer(page, '/deliver');
    await click(page, 'Reply');
    await answer.arrived();
    await page.type(' And a second.');
    await answer.release();
    await read(page, 'Given to the worker.');
    expect(await textIn(page, 'Reply to the worker')).toBe('The first. And a second.');
    await click(page, 'Reply');
    await until('an empty box', async () => (await textIn(page, 'Reply to the worker')) === '');
    expect(await messagesOf('answered')).toEqual(['The first.', 'The first. And a second.']);
  });

  it('is not offered again where the sheet was closed before the receipt came', async () => {
    await daemon.dispatch({ fiber_id: 'closed', force: true });
    const { uid } = await daemon.running('closed');
    await open('?fiber=closed');
    await focus(page, 'Reply to the worker');
    await page.type('Once.');
    const answer = await holdAnswer(page, '/deliver');
    await click(page, 'Reply');
    await answer.arrived();
    await page.press('Escape');
    await sheetEnds();
    expect(await kept(`draft reply ${uid}`)).toContain('Once.');
    await answer.release();
    await until('nothing kept', async () => (await kept(`draft reply ${uid}`)) === null);
    await page.learn("document.querySelector('[data-fiber=closed] p').click()");
    await until('an empty box', async () => (await textIn(page, 'Reply to the worker')) === '');
    expect(await messagesOf('closed')).toEqual(['Once.']);
  });

  it('stays in the editor of a body, made of what was saved', async () => {
    await open('?fiber=edited');
    await click(page, 'Edit the body');
    await fill(page, 'Markdown', 'two');
    await focus(page, 'Markdown');
    const answer = await holdAnswer(page, '/fiber-edit');
    await click(page, 'Save');
    await answer.arrived();
    await page.type(' and three');
    await answer.release();
    await read(page, 'The body is saved.');
    expect(await textIn(page, 'Markdown')).toBe('two and three');
    expect(daemon.home.document('edited')).toMatch(/---\ntwo\s*$/);
    await click(page, 'Save');
    await until('the page again', async () => (await textIn(page, 'Markdown')) === null);
    expect(daemon.home.document('edited')).toMatch(/---\ntwo and three\s*$/);
  });

  it('stays in the form of a task, which stays open for it', async () => {
    await open('?sheet=stash');
    await fill(page, 'Task', 'A first task');
    await focus(page, 'Task');
    const answer = await holdAnswer(page, '/fiber/create');
    await click(page, 'Stash it');
    await answer.arrived();
    await page.type('\nand its details');
    await answer.release();
    await read(page, '“A first task” is among the drafts.');
    expect(await textIn(page, 'Task')).toBe('A first task\nand its details');
    expect(await kept('task-draft')).toContain('and its details');
    expect(daemon.home.document('a-first-task')).not.toContain('and its details');
  });

  it('is a task of its own after its form was closed and opened, and nothing else is closed by the answer', async () => {
    await open('?sheet=stash');
    await fill(page, 'Task', 'Sent and closed');
    const answer = await holdAnswer(page, '/fiber/create');
    await click(page, 'Stash it');
    await answer.arrived();
    await page.press('Escape');
    await sheetEnds();
    await page.press('s');
    await fill(page, 'Task', 'Written next');
    await answer.release();
    await read(page, '“Sent and closed” is among the drafts.');
    expect(await address()).toBe('?sheet=stash');
    expect(await textIn(page, 'Task')).toBe('Written next');
    expect(await kept('task-draft')).toContain('Written next');
  });

  it('drops the review of a capture that is under way, and what is launched is what was reviewed', async () => {
    const folder = daemon.home.project('atlas');
    await open('?sheet=capture');
    await fill(page, 'Task', 'Reviewed in part');
    await fill(page, 'Project', folder);
    await fill(page, 'Agent', 'talks');
    await focus(page, 'Task');
    const answer = await holdAnswer(page, '/capture');
    await click(page, 'Review launch');
    await answer.arrived();
    await page.type(', then in full');
    await answer.release();
    await until('the form again', async () => (await words(page)).includes('Review launch'));
    expect(await textIn(page, 'Task')).toBe('Reviewed in part, then in full');
    await click(page, 'Review launch');
    await read(page, `Start talks in ${folder} to file a fiber of the text.`);
    // Another window of the board changes the draft.
    const other = await browser.open(`http://${daemon.address}/?sheet=capture`, {
      view: (shown) => shown.look(DESKTOP),
    });
    await fill(other, 'Task', 'Not reviewed');
    await until('the change', async () => (await kept('task-draft'))?.includes('Not reviewed'));
    await click(page, 'Launch');
    await read(page, 'A worker files “Reviewed in part, then in full”.');
    const [captured] = (await daemon.state()).captures;
    expect(readFileSync(captured!.text_file!, 'utf8')).toBe('Reviewed in part, then in full');
    expect(await textIn(other, 'Task')).toBe('Not reviewed');
  });

  it('stays in the editor of a settings file, not saved yet', async () => {
    await open('?view=settings&part=file-host');
    await write('{ "max_concurrent": 7 }');
    const answer = await holdAnswer(page, '/config/host');
    await click(page, 'Save');
    await answer.arrived();
    await write('{ "max_concurrent": 8 }');
    await answer.release();
    await read(page, 'host.json is saved.');
    await read(page, 'Not saved yet');
    expect(await editorText()).toContain('"max_concurrent": 8');
    await click(page, 'Save');
    await until('the second save', () =>
      readFileSync(join(daemon.home.config, 'host.json'), 'utf8').includes('8'),
    );
    await until('nothing to save', async () => !(await words(page)).includes('Not saved yet'));
  });

  it('stays in the editor of a settings file that was changed on disk', async () => {
    const file = join(daemon.home.config, 'projects.json');
    await open('?view=settings&part=file-projects');
    await write('["/srv/mine"]');
    writeFileSync(file, '["/srv/theirs"]');
    const answer = await holdAnswer(page, '/config/projects');
    await click(page, 'Save');
    await answer.arrived();
    await write('["/srv/mine", "/srv/more"]');
    await answer.release();
    await read(page, 'Your edit is kept');
    await until('the edit', async () => (await editorText()).includes('/srv/more'));
    await click(page, 'Save merged');
    await read(page, 'projects.json is saved.');
    expect(readFileSync(file, 'utf8')).toBe('["/srv/mine", "/srv/more"]');
    await until('the saved text', async () => (await editorText()) === '["/srv/mine", "/srv/more"]');
  });
});
