import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeRepository } from '../fixtures/repository.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { addComposer } from './composer.ts';
import { axeFaults, VIEWS } from './controls.ts';
import { DESKTOP, PHONE } from './desk-page.ts';

const BODY = `See [the rules](../conventions/conventions.md), [[conventions|its name]] and [a page](https://example.org/x).

## Done when

- [x] every station has a row
- [ ] the odd loggers are settled

| Year | Written |
| ---- | ------: |
| 2021 | 221 |

Fish &amp; chips, \`code\`.
`;
const HOSTILE = `<script>window.hit = 'script'</script>
<img src=x onerror="window.hit = 'image'"> <iframe src="https://example.org"></iframe>

[run](javascript:window.hit='link') [data](data:text/html,<script>window.hit='data'</script>)
![far away](https://example.org/pixel.png) <a href="javascript:window.hit='raw'">raw</a>

<style>body { display: none }</style>

| ${'wide |'.repeat(60)}
| ${'---- |'.repeat(60)}
${`| ${'cell |'.repeat(60)}\n`.repeat(80)}
`;

let daemon: TestDaemon;
let browser: Chromium;
/** The document that the tests of the editor change. */
let before_edits: string | undefined;

const open = (fiber: string, view: View = DESKTOP) =>
  browser.open(`http://${daemon.address}/${fiber === '' ? '' : `?fiber=${fiber}`}`, {
    view: (page) => page.look(view),
  });

const sheet = (page: Page) => page.learn<string>("document.querySelector('dialog[open]')?.innerText ?? ''");
const says = (page: Page, ...words: string[]) =>
  until(`the sheet says ${words.join(' and ')}`, async () => {
    const text = await sheet(page);
    return words.every((word) => text.includes(word)) ? text : null;
  });
const part = (page: Page, title: string) =>
  page.learn<string>(`document.querySelector('dialog [data-part="${title}"]')?.innerText ?? ''`);
const press = (page: Page, name: string) =>
  until(`the button ${name}`, () =>
    page.learn<boolean>(`(() => {
      const named = (one) => one.getAttribute('aria-label') ?? one.innerText.trim();
      const button = [...document.querySelectorAll('dialog button')].find((one) => named(one) === ${JSON.stringify(name)} && !one.disabled);
      button?.click();
      return button !== undefined;
    })()`),
  );
/** Replaces what is in the field that has the given label, once its dialog has put the focus where it begins. */
async function fill(page: Page, label: string, text: string): Promise<void> {
  await until(`the field ${label}`, () =>
    page.learn<boolean>(`(() => {
      const field = [...document.querySelectorAll('dialog:modal textarea')].find((one) =>
        [...one.labels].some(({ innerText }) => innerText.includes(${JSON.stringify(label)})));
      field?.focus();
      field?.select();
      return field !== undefined;
    })()`),
  );
  await page.type(text);
}
const field = (page: Page, label: string) =>
  page.learn<string | null>(`[...document.querySelectorAll('dialog textarea')].find((one) =>
    [...one.labels].some(({ innerText }) => innerText.includes(${JSON.stringify(label)})))?.value ?? null`);

async function reload(page: Page): Promise<void> {
  await page.learn('window.before = true; location.reload()');
  await until(
    'the page again',
    async () => (await page.learn('window.before ?? null').catch(() => true)) === null,
  );
}

/** What a browser says by itself of an answer that is a refusal; everything else is a fault of the page. */
const faults = (page: Page) => page.complaints.filter((one) => !/status of (404|409|400|422|503)/.test(one));

const TITLE = `the sheet of a fiber${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare(home) {
        addComposer(home);
        home.fiber('conventions', { front: { status: 'open', name: 'Reading conventions' } });
        home.fiber('gauges', {
          svc: { agent: 'composer' },
          front: {
            status: 'open',
            name: 'Tide gauges',
            due: '2020-01-01',
            outcome: 'Half of it is written.',
            collaboration: { reviewer: ['birch'], writer: [] },
          },
          body: BODY,
        });
        home.fiber('looked-at', {
          front: { status: 'open', collaboration: { reviewer: ['birch'] } },
          body: BODY,
        });
        home.fiber('asked', { agent: 'talks', front: { status: 'open' } });
        home.fiber('homeless', { svc: { project_dir: '/no/such/folder' } });
        home.fiber('hostile', { front: { status: 'open' }, body: HOSTILE });
        home.fiber('long', {
          front: { status: 'open' },
          body: `${'Many *words* &amp; more.\n\n'.repeat(2_000)}The end.`,
        });
        home.fiber('weekly', {
          front: { status: 'open' },
          svc: { kind: 'standing', schedule: '0 9 * * 1', tz: 'UTC' },
        });
        home.fiber('yearly', { svc: { kind: 'standing', schedule: '0 9 1 1 *', tz: 'UTC' } });
        home.fiber('sketch', { front: { status: 'open' } });
        home.fiber('movable', { front: { status: 'open' } });
        home.fiber('edited', { front: { status: 'open' }, body: 'one\ntwo\nthree\nfour\nfive\n' });
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

  it('opens with Enter and with a click on a card, and closes with Escape and with the way back', async () => {
    const page = await open('');
    await until('the card', () =>
      page.learn<boolean>(`document.querySelector('[data-fiber=gauges]') !== null`),
    );
    await page.learn(`document.querySelector('[data-fiber=gauges] p').click()`);
    await says(page, 'Tide gauges', 'Half of it is written.');
    expect(await page.learn('location.search')).toBe('?fiber=gauges');
    await page.press('Escape');
    await until('the end of the sheet', async () => (await sheet(page)) === '');
    expect(await page.learn('location.search')).toBe('');
    await page.learn(`document.querySelector('[data-fiber=conventions]').focus()`);
    await page.press('Enter');
    await says(page, 'Reading conventions');
    await page.learn('history.back()');
    await until('the end of the sheet', async () => (await sheet(page)) === '');
    expect(faults(page)).toEqual([]);
  });

  it('stays open where a selection that began in it ends beside it', async () => {
    const page = await open('conventions');
    await says(page, 'Reading conventions', 'Outcome');
    const [x, y] = await page.learn<[number, number]>(`(() => {
      const { x, y, width, height } = document.querySelector('dialog h2 span').getBoundingClientRect();
      return [x + width - 2, y + height / 2];
    })()`);
    await page.mouse('down', x, y);
    await page.mouse('up', 300, y);
    expect(await page.learn('String(getSelection())')).toContain('Reading');
    await says(page, 'Reading conventions');
    expect(await page.learn('location.search')).toBe('?fiber=conventions');
    await page.mouse('down', 300, y);
    await page.mouse('up', 300, y);
    await until('the end of the sheet', () => page.learn<boolean>("location.search === ''"));
  });

  it('shows a name that is written from right to left in that order', async () => {
    daemon.home.fiber('tide', { front: { name: 'שלום tide!', status: 'open' } });
    const page = await open('tide');
    await says(page, 'שלום');
    const [first, last] = await page.learn<number[]>(`(() => {
      const text = document.querySelector('dialog h2 span').firstChild;
      return [0, text.length - 1].map((at) => {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return range.getBoundingClientRect().left;
      });
    })()`);
    expect(first).toBeGreaterThan(last!);
  });

  it('shows the document: its outcome, its body as a page, its roster and its set-up', async () => {
    const page = await open('gauges');
    const text = await says(page, 'Tide gauges', 'Done when', 'birch', '221');
    for (const word of [
      'test-host',
      'overdue since 1 Jan 2020',
      'Half of it is written.',
      'reviewer: birch',
      'writer',
      'one shot, terminal',
      'Fish & chips',
    ])
      expect(text).toContain(word);
    expect(
      await page.learn(
        `[...document.querySelectorAll('dialog [data-task]')].filter((one) => one.tagName === 'SPAN').map((one) => one.getAttribute('aria-label'))`,
      ),
    ).toEqual(['Done:', 'To do:']);
    const links = await page.learn<string[][]>(
      `[...document.querySelectorAll('dialog [data-part=Body] a')].map((one) => [one.innerText, one.getAttribute('href'), one.rel])`,
    );
    expect(links).toEqual([
      ['the rules', '?fiber=conventions', ''],
      ['its name', '?fiber=conventions', ''],
      ['a page', 'https://example.org/x', 'noopener noreferrer'],
    ]);
    await page.learn(`document.querySelector('dialog [data-part=Body] a').click()`);
    await says(page, 'Reading conventions');
    await page.learn('history.back()');
    await says(page, 'Tide gauges');
    expect(faults(page)).toEqual([]);
  });

  it('says why a fiber is not running, in the words of the daemon', async () => {
    const page = await open('homeless');
    await says(page, '/no/such/folder does not exist', 'svc dispatch homeless');
    const weekly = await open('weekly');
    await says(weekly, '0 9 * * 1, UTC', 'standing');
    const yearly = await open('yearly');
    await says(yearly, 'Next', 'Then');
  });

  it('shows no script, frame, style or far picture of a hostile body, and scrolls its table alone', async () => {
    for (const view of [DESKTOP, PHONE]) {
      const page = await open('hostile', view);
      await says(page, 'far away', 'cell');
      expect(await page.learn('window.hit ?? null')).toBe(null);
      expect(
        await page.learn(
          `document.querySelectorAll('dialog [data-part=Body] :is(script, iframe, style, img, form, [onerror])').length`,
        ),
      ).toBe(0);
      expect(
        await page.learn(
          `[...document.querySelectorAll('dialog [data-part=Body] a')].map((one) => one.getAttribute('href'))`,
        ),
      ).toEqual(['https://example.org/pixel.png']);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(
        await page.learn(
          `(([wide, shown]) => wide > shown)((({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('dialog table').parentElement))`,
        ),
      ).toBe(true);
      const asked = await page.learn<string[]>(
        "performance.getEntriesByType('resource').map(({ name }) => new URL(name).host)",
      );
      expect(new Set(asked)).toEqual(new Set([daemon.address]));
      expect(faults(page)).toEqual([]);
    }
  });

  it('sets a long body in a worker', async () => {
    const page = await open('long');
    await says(page, 'Many words & more.', 'The end.');
    expect(faults(page)).toEqual([]);
  });

  it('saves an edited body, and keeps the edit over a reload until then', async () => {
    const page = await open('edited');
    await press(page, 'Edit the body');
    await fill(page, 'Markdown', 'zero\none\ntwo\nthree\nfour\nfive\n');
    await reload(page);
    await until('the kept edit', async () => (await field(page, 'Markdown'))?.startsWith('zero') === true);
    await press(page, 'Save');
    await until('the page again', async () => (await field(page, 'Markdown')) === null);
    expect(daemon.home.document('edited')).toContain('---\nzero\none\ntwo\nthree\nfour\nfive\n');
    await reload(page);
    await says(page, 'zero');
    expect(await field(page, 'Markdown')).toBe(null);
    expect(faults(page)).toEqual([]);
  });

  it('types into an editor from the moment it is asked for, which is as high as a text needs', async () => {
    const page = await open('edited');
    const focus = () =>
      page.learn<string>(`(document.activeElement.labels?.[0] ?? document.activeElement).ariaLabel ??
        (document.activeElement.labels?.[0] ?? document.activeElement).innerText`);
    for (const [edit, label] of [
      ['Edit the body', 'Markdown'],
      ['Edit the roster', 'A role in each line'],
    ] as const) {
      await press(page, edit);
      await until(`the focus in ${label}`, async () => (await focus()) === label);
      if (label === 'Markdown')
        expect(await page.learn('document.activeElement.clientHeight')).toBeGreaterThan(200);
      await press(page, 'Cancel');
      await until(`the focus on “${edit}”`, async () => (await focus()) === edit);
    }
  });

  it('saves an edit over a change of another part of the document, and shows both texts after one of the body', async () => {
    const { home } = daemon;
    const path = home.documentPath('edited');
    const write = (from: string, to: string) =>
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
    before_edits ??= home.document('edited');
    const begun = before_edits.replace('zero\n', '');
    writeFileSync(path, begun);
    const digest = createHash('sha256').update(begun).digest('hex');
    await daemon.rowWhen('edited', 'as it begins', (row) => row.digest === digest);
    const page = await open('edited');
    await says(page, 'five');
    await press(page, 'Edit the body');
    await fill(page, 'Markdown', 'ONE\ntwo\nthree\nfour\nfive\n');
    write('status: open', 'status: open\noutcome: Written meanwhile.');
    await press(page, 'Save');
    await until('the page again', async () => (await field(page, 'Markdown')) === null);
    expect(home.document('edited')).toMatch(/outcome: Written meanwhile\.[\s\S]*---\nONE\ntwo/);

    await says(page, 'ONE');
    await press(page, 'Edit the body');
    await fill(page, 'Markdown', 'ONE\nTWO\nthree\nfour\nfive\n');
    write('five', 'FIVE');
    await press(page, 'Save');
    await says(page, 'changed on disk while you wrote', 'FIVE');
    expect(home.document('edited')).toContain('ONE\ntwo\nthree\nfour\nFIVE');
    await press(page, 'Merge both');
    await until(
      'both texts',
      async () => (await field(page, 'Markdown')) === 'ONE\nTWO\nthree\nfour\nFIVE\n',
    );
    await press(page, 'Save');
    await until('the page again', async () => (await field(page, 'Markdown')) === null);
    expect(home.document('edited')).toContain('ONE\nTWO\nthree\nfour\nFIVE');
    expect(faults(page)).toEqual([]);
  });

  it('edits the roster, and shows the daemon’s own sentence where it takes a name for none', async () => {
    const page = await open('conventions');
    await press(page, 'Edit the roster');
    await fill(page, 'A role in each line', 'reviewer: birch, Not a Name');
    await press(page, 'Save');
    await says(page, '"Not a Name" cannot be a collaborator');
    await fill(page, 'A role in each line', 'reviewer: birch, oak\nwriter');
    await press(page, 'Save');
    await says(page, 'reviewer: birch, oak');
    expect((await daemon.row('conventions'))?.collaboration).toEqual({
      reviewer: ['birch', 'oak'],
      writer: [],
    });
    expect(faults(page)).toEqual([]);
  });

  it('starts a worker with a text, writes to it, and shows how far the message came', async () => {
    const page = await open('gauges');
    await fill(page, 'Start a worker', 'Begin with station 17.');
    await press(page, 'Start with it');
    await says(page, 'A worker was started with it.');
    await daemon.running('gauges');
    expect(daemon.lastLaunch('gauges').prompt).toContain('Begin with station 17.');
    await fill(page, 'Reply', 'And the year 2021?');
    await page.learn(
      `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }))`,
    );
    await until('the answer of the agent', async () =>
      /And the year 2021\?\s+Accepted/.test(await part(page, 'Messages')),
    );
    expect(await field(page, 'Reply')).toBe('');
    expect(faults(page)).toEqual([]);
  });

  it('sends a picture as a line with its place, and keeps what is not sent over a reload', async () => {
    const page = await open('gauges');
    await fill(page, 'Start a worker', 'Look at this.');
    await page.learn(`(async () => {
      const canvas = new OffscreenCanvas(4, 4);
      canvas.getContext('2d').fillRect(0, 0, 2, 2);
      const transfer = new DataTransfer();
      transfer.items.add(new File([await canvas.convertToBlob()], 'logger-17.png', { type: 'image/png' }));
      document.querySelector('dialog [placeholder]').dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true }));
    })()`);
    await says(page, 'logger-17.png');
    await reload(page);
    await says(page, 'logger-17.png');
    expect(await field(page, 'Start a worker')).toBe('Look at this.');
    await until('the picture', () =>
      page.learn<boolean>(`document.querySelector('dialog img')?.naturalWidth === 4`),
    );
    await press(page, 'Start with it');
    await daemon.running('gauges');
    const image = /\[Image: (.+\.png)\]/.exec(daemon.lastLaunch('gauges').prompt)?.[1];
    expect(readFileSync(image!).subarray(1, 4).toString()).toBe('PNG');
    expect(faults(page)).toEqual([]);
  });

  it('sends a text again under the same id when no answer came, so that it arrives once', async () => {
    await daemon.dispatch({ fiber_id: 'gauges', force: true });
    await daemon.running('gauges');
    const page = await open('gauges');
    await fill(page, 'Reply', 'Only once, please.');
    // The answer is lost on its way back.
    await page.learn(`(() => {
      const real = window.fetch;
      window.fetch = async (url, init) => {
        const answer = await real(url, init);
        if (!String(url).endsWith('/deliver')) return answer;
        window.fetch = real;
        throw new TypeError('connection lost');
      };
    })()`);
    await press(page, 'Reply');
    await says(page, 'It is not known whether', 'never given twice');
    expect(await field(page, 'Reply')).toBe('Only once, please.');
    await press(page, 'Send again');
    await says(page, 'Given to the worker');
    const { body } = await daemon.http.get<{ messages: { text: string }[] }>('/messages?fiber=gauges');
    expect(body.messages.filter(({ text }) => text === 'Only once, please.')).toHaveLength(1);
    expect(faults(page)).toEqual([]);
  });

  it('shows in marigold what a worker waits for, and how to attach to it', async () => {
    await daemon.dispatch({ fiber_id: 'asked', force: true });
    const { runtime } = await daemon.running('asked');
    const hook = {
      hook_event_name: 'PermissionRequest',
      session_id: runtime.session_uuid,
      tool_name: 'Bash',
    };
    // What the agent says afterwards would end its wait.
    daemon.home.write(
      'projects/asked/orders',
      `(sleep 1; echo '${JSON.stringify(hook)}' | svc hook event) &`,
    );
    const page = await open('asked');
    await says(page, 'asks to use Bash', 'svc attach asked', runtime.session_uuid!);
    expect(await sheet(page)).toMatch(/Waiting for you, \d+ s/);
    expect(await part(page, 'Why it is not running')).toBe('');
    await press(page, 'Open its terminal');
    await says(page, 'Run this in a terminal:', 'attach-session');
    const phone = await open('asked', PHONE);
    const text = await says(phone, 'asks to use Bash', runtime.session_uuid!);
    expect(text).not.toContain('svc attach');
  });

  it('tells the life of a fiber as it goes on: files, commits, spend, and the transcript of its worker', async () => {
    const { home } = daemon;
    await daemon.dispatch({ fiber_id: 'gauges', force: true });
    const { uid, runtime } = await daemon.running('gauges');
    const page = await open('gauges');
    await says(page, 'A worker was started', 'live');
    const append = (name: string, line: object) =>
      appendFileSync(join(home.data, name), `${JSON.stringify(line)}\n`);
    const timestamp = Date.now();
    const session = { session: runtime.session_uuid, cwd: home.project('gauges') };
    const gif = 'R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';
    writeFileSync(join(session.cwd, 'gaps.gif'), Buffer.from(gif, 'base64'));
    writeFileSync(join(session.cwd, 'report.html'), '<p>All is well.</p><form><button>x</button></form>');
    const files = ['gaps.gif', 'report.html', 'lost.csv'];
    append('events.jsonl', {
      ...{ timestamp, type: 'pre_tool_use', tool: 'SendUserFile', toolInput: { files } },
      ...{ sessionId: session.session, cwd: session.cwd },
    });
    append('commits.jsonl', {
      ...{
        at: timestamp,
        kind: 'commit',
        sha: 'a'.repeat(40),
        subject: 'Keep gaps as rows',
        repo: '/srv',
        files: 1,
      },
      ...{ insertions: 212, deletions: 31, mux: null, ...session },
    });
    await says(page, 'Keep gaps as rows', '+212 −31', 'Sent gaps.gif, report.html, lost.csv');
    await until('its wake', () =>
      page.learn<boolean>(`(() => {
        const wake = document.querySelector('dialog [role=img][aria-label^="active in 1 of the last 90 minutes"]');
        return wake !== null && wake.getBoundingClientRect().height > 30;
      })()`),
    );

    for (const name of files)
      await until(`the line of ${name}`, () =>
        page.learn<boolean>(`(() => {
          const line = document.querySelector('dialog [data-file$="${name}"]');
          line?.click();
          return line !== null;
        })()`),
      );
    await says(page, 'lost.csv is not there any more', 'Open gaps.gif', 'Open report.html');
    await until('the picture', () =>
      page.learn<boolean>(`document.querySelector('dialog img[alt="gaps.gif"]')?.naturalWidth === 1`),
    );
    expect(await page.learn(`document.querySelector('dialog iframe').getAttribute('sandbox')`)).toBe('');

    await page.learn(`document.querySelector('dialog [data-session="${runtime.session_uuid}"]').click()`);
    const transcript = () =>
      page.learn<string>(`document.querySelector('dialog [role=log]')?.innerText ?? ''`);
    await until('its words', async () => (await transcript()).includes('Ready.'));
    await daemon.http.post('/deliver', { fiber_id: uid, text: 'Say it in the transcript.' });
    await until('new words', async () =>
      /Person[\s\S]*Say it in the transcript\.[\s\S]*Agent[\s\S]*Understood\./.test(await transcript()),
    );
    expect(await page.learn('location.search')).toContain('part=transcript');
    await page.press('Escape');
    await until(
      'the sheet again',
      async () => (await page.learn<number>(`document.querySelectorAll('dialog').length`)) === 1,
    );
    expect(faults(page)).toEqual([]);
  });

  it('reads a long transcript from its end, and what was said before when it is asked for', async () => {
    const { home } = daemon;
    const uid = (await daemon.row('conventions'))!.uid;
    const session = '0198c0de-0000-4000-8000-00000000aaaa';
    const folder = join(home.claude, 'projects', '-srv');
    mkdirSync(folder, { recursive: true });
    const words = Array.from({ length: 400 }, (_, nth) => ({
      ...{ type: nth % 20 === 0 ? 'user' : 'assistant', sessionId: session, cwd: '/srv' },
      timestamp: new Date(Date.UTC(2026, 0, 1) + nth * 1_000).toISOString(),
      message: { role: 'user', content: [{ type: 'text', text: `Step ${nth}. ${'word '.repeat(400)}` }] },
    }));
    writeFileSync(join(folder, `${session}.jsonl`), words.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const run = {
      fiber: 'conventions',
      uid,
      session,
      thread_id: null,
      harness: 'claude',
      host: 'test-host',
      mux: null,
    };
    appendFileSync(
      join(home.data, 'sessions.jsonl'),
      `${JSON.stringify({ ...run, at: Date.UTC(2026, 0, 1), kind: 'dispatch' })}\n`,
    );
    for (const view of [DESKTOP, PHONE]) {
      const page = await open(`conventions&part=transcript ${session}`, view);
      const shown = () => page.learn<string>(`document.querySelector('dialog [role=log]')?.innerText ?? ''`);
      await until('its end', async () => (await shown()).includes('Step 399.'));
      expect(await page.learn<number>(`document.querySelectorAll('dialog article').length`)).toBeLessThan(60);
      await until('its beginning', async () => {
        await page.learn(
          `[...document.querySelectorAll('dialog [role=log] button')].find((one) => one.innerText === 'Earlier')?.click()`,
        );
        await page.learn(`document.querySelector('dialog [role=log]').scrollTop = 0`);
        return (await shown()).includes('Step 0.');
      });
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(faults(page)).toEqual([]);
    }
  });

  it.each(VIEWS)('opens what a commit of its worker changed, line by line: %s', async (size, view) => {
    const { home } = daemon;
    const { uid } = (await daemon.row('conventions'))!;
    const session = `commits-${size}-${Date.now()}`;
    const repository = makeRepository(home.path(session));
    const source = (call: string) =>
      `export function read(path) {\n  const rows = ${call};\n  return rows;\n}\n${'// filler\n'.repeat(3)}`;
    writeFileSync(join(repository.path, 'read.js'), source(`parse(path, '${'wide '.repeat(60)}')`));
    writeFileSync(join(repository.path, 'gauge.bin'), '\0');
    repository.commit('Begin');
    writeFileSync(join(repository.path, 'read.js'), source('parse(path, { gaps: true })'));
    writeFileSync(
      join(repository.path, 'notes.txt'),
      `${'Every gap is a row.\n'.repeat(700)}<b>The end.</b>\n`,
    );
    renameSync(join(repository.path, 'gauge.bin'), join(repository.path, 'station.bin'));
    const sha = repository.commit('Keep gaps as rows\n\nA missing day is told, not skipped.');
    const at = Date.now();
    const append = (name: string, line: object) =>
      appendFileSync(join(home.data, name), `${JSON.stringify(line)}\n`);
    const run = { fiber: 'conventions', uid, session, thread_id: null, harness: 'claude', mux: null };
    append('sessions.jsonl', { ...run, host: 'test-host', at: at - 1_000, kind: 'dispatch' });
    append('commits.jsonl', {
      ...{
        at,
        kind: 'commit',
        sha,
        subject: `Keep gaps of ${size}`,
        files: 3,
        insertions: 702,
        deletions: 1,
      },
      ...{ repo: repository.path, cwd: repository.path, session, mux: null },
    });

    const page = await open('conventions', view);
    await until('the commit', () =>
      page.learn<boolean>(`(() => {
        const line = document.querySelector('dialog [data-commit="${sha}"]');
        line?.focus();
        line?.click();
        return line !== null;
      })()`),
    );
    const shown = () => page.learn<string>(`document.querySelectorAll('dialog')[1]?.innerText ?? ''`);
    const told = (...words: string[]) =>
      until(`the commit says ${words.join(' and ')}`, async () => {
        const text = await shown();
        return words.every((word) => text.includes(word));
      });
    await told('Keep gaps as rows', 'A missing day is told', sha.slice(0, 12), 'Ada Lovelace');
    await told('3 files, +702 −1', 'notes.txt', 'station.bin', 'was gauge.bin', 'binary');
    const line = (kind: string) =>
      page.learn<string[]>(
        `[...document.querySelector('dialog [data-file="read.js"] [data-kind="${kind}"]').cells].map((one) => one.innerText.trim())`,
      );
    expect(await line('added')).toEqual(['', '2', '+', 'const rows = parse(path, { gaps: true });']);
    expect((await line('removed')).slice(0, 3)).toEqual(['2', '', '−']);
    expect(await page.learn('new URLSearchParams(location.search).get("part")')).toBe(`commit ${sha}`);

    const wide = await page.learn<number[]>(`(() => {
      const lines = document.querySelector('dialog [data-file="read.js"] section');
      return [lines.scrollWidth - lines.clientWidth, lines.tabIndex];
    })()`);
    expect([wide[0]! > 0, wide[1]]).toEqual([true, 0]);
    expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await press(page, '201 more lines of notes.txt');
    await told('<b>The end.</b>');
    await page.learn(`document.querySelector('dialog [data-file="notes.txt"] summary').focus()`);
    await page.press('Enter');
    await until('its lines away', async () => !(await shown()).includes('<b>The end.</b>'));

    rmSync(repository.path, { recursive: true });
    await reload(page);
    await told('is gone; look for the commit where it was pushed to', 'Try again');
    await page.press('Escape');
    await until(
      'the sheet again',
      async () => (await page.learn<number>(`document.querySelectorAll('dialog').length`)) === 1,
    );
    expect(faults(page)).toEqual([]);
  });

  it('moves its fiber by the menu and by keys, without leaving the sheet', async () => {
    const page = await open('sketch');
    // Its document may come before the feed, which tells what can be done.
    await says(page, 'Fiber sketch', 'Draft', 'live');
    await page.press('m');
    const dialogs = () => page.learn<number>("document.querySelectorAll('dialog:modal').length");
    await until('the menu', async () => (await dialogs()) === 2);
    await page.press('Escape');
    await until('the sheet alone', async () => (await dialogs()) === 1);
    await page.press('x');
    await says(page, 'Set aside', 'It was set aside');
    expect((await daemon.row('sketch'))?.tempered).toBe(false);
    await page.press('r');
    expect(await page.learn('document.activeElement.tagName')).toBe('TEXTAREA');
    expect(faults(page)).toEqual([]);
  });

  it('says that a fiber does not exist, and keeps what it shows of one that vanishes', async () => {
    const nothing = await open('no/such-fiber');
    await says(nothing, 'This fiber cannot be shown', 'no/such-fiber');
    await press(nothing, 'Close');
    await until('the end of the sheet', async () => (await sheet(nothing)) === '');
    for (const query of ['no/a&fiber=no/b', '%FF'])
      await says(await open(query), 'This fiber cannot be shown');

    daemon.home.fiber('mortal', { front: { status: 'open', outcome: 'Still here.' } });
    await until('its row', () => daemon.row('mortal'));
    const page = await open('mortal');
    await says(page, 'Still here.');
    rmSync(dirname(daemon.home.documentPath('mortal')), { recursive: true });
    await says(page, 'No fiber "mortal"', '. What you see is what was last known of it.', 'Still here.');
    expect(faults(page)).toEqual([]);
  });

  it('keeps what was written to a fiber that vanishes', async () => {
    daemon.home.fiber('brief', { front: { status: 'open' } });
    await until('its row', () => daemon.row('brief'));
    const page = await open('brief');
    await fill(page, 'Start a worker with a text', 'A long text.');
    await press(page, 'Edit the body');
    await fill(page, 'Markdown', 'Another long text.');
    rmSync(dirname(daemon.home.documentPath('brief')), { recursive: true });
    await says(page, 'What you see is what was last known of it.');
    expect(await field(page, 'Start a worker with a text')).toBe('A long text.');
    expect(await field(page, 'Markdown')).toBe('Another long text.');
    await press(page, 'Start with it');
    await says(page, 'in the polled stores');
    expect(await field(page, 'Start a worker with a text')).toBe('A long text.');

    await reload(page);
    await says(page, 'This fiber cannot be shown');
    const message = 'Your message, not sent';
    const body = 'Your text of its body, not saved';
    await until('the message', async () => (await field(page, message)) === 'A long text.');
    expect(await field(page, body)).toBe('Another long text.');
    expect(await axeFaults(page)).toEqual([]);
    for (const left of [1, 0]) {
      await press(page, 'Discard');
      await until(
        'one text less',
        async () => (await page.learn("document.querySelectorAll('dialog textarea').length")) === left,
      );
    }
    expect(await page.learn("Object.keys(localStorage).filter((key) => key.startsWith('draft '))")).toEqual(
      [],
    );
  });

  it('launches a draft from its head', async () => {
    const page = await open('looked-at');
    await press(page, 'Launch\nL');
    await until('what would run', () =>
      page.learn<boolean>(
        "[...document.querySelectorAll('dialog h2')].some((one) => one.innerText === 'Launch: Fiber looked-at')",
      ),
    );
    expect(page.writes).toEqual([]);
  });

  it('says first on a phone what keeps an armed fiber from running', async () => {
    const page = await open('homeless', PHONE);
    await says(page, 'Why it is not running', '/no/such/folder');
    expect(await page.learn("document.querySelector('dialog [data-part]').dataset.part")).toBe(
      'Why it is not running',
    );
    expect(await axeFaults(page)).toEqual([]);
  });

  it('is scrolled as a whole where head and reply fill the page, as when that is enlarged four times', async () => {
    const page = await open('gauges', { width: 320, height: 256 });
    await says(page, 'the odd loggers are settled');
    await page.learn(`document.querySelector('dialog [data-part=Body] li:last-of-type').scrollIntoView()`);
    expect(
      await page.learn(`(() => {
        const item = document.querySelector('dialog [data-part=Body] li:last-of-type');
        const { x, y } = item.getBoundingClientRect();
        return item.contains(document.elementFromPoint(x + 40, y + 8));
      })()`),
    ).toBe(true);
  });

  it('keeps the reply box in sight above the keyboard of a phone, while it is written in', async () => {
    const page = await open('gauges', { width: 360, height: 440, phone: true });
    await says(page, 'the odd loggers are settled');
    await page.learn("document.querySelector('dialog textarea').focus({ preventScroll: true })");
    await page.type('One line\nand another');
    expect(
      await page.learn(`(() => {
        const { x, bottom } = document.activeElement.getBoundingClientRect();
        return document.elementFromPoint(x + 20, bottom - 8) === document.activeElement;
      })()`),
    ).toBe(true);
    await page.learn("document.querySelector('dialog [data-part=Body] li:last-of-type').scrollIntoView()");
    expect(await page.learn('document.activeElement.getBoundingClientRect().bottom < innerHeight')).toBe(
      true,
    );
  });

  it('is printed whole', async () => {
    daemon.home.fiber('report', {
      front: { status: 'open' },
      body: Array.from({ length: 200 }, (_, nth) => `Paragraph ${nth}.\n`).join('\n'),
    });
    await until('its row', () => daemon.row('report'));
    const page = await open('report');
    await says(page, 'Paragraph 199.');
    expect(await page.sheetsOfPaper()).toBeGreaterThan(4);
  });

  it('follows a fiber that is moved while it is open', async () => {
    const page = await open('movable');
    await says(page, 'Fiber movable');
    const from = dirname(daemon.home.documentPath('movable'));
    const to = dirname(daemon.home.documentPath('conventions/movable'));
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
    await until(
      'its new address',
      async () => (await page.learn('location.search')) === '?fiber=conventions%2Fmovable',
    );
    await says(page, 'Fiber movable', 'conventions/movable');
    expect(faults(page)).toEqual([]);
  });

  it.each(VIEWS)(
    'has no serious fault that axe finds, and no line wider than the page: %s',
    async (_, view) => {
      const page = await open('looked-at', view);
      await says(page, '221', 'Nothing was written to it yet.');
      await press(page, 'Edit the roster');
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(page.complaints).toEqual([]);
    },
  );
});
