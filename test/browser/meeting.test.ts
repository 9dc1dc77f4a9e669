import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FRAME_SAMPLES } from '../../board/src/model/frames.ts';
import type { Meeting, MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { SAMPLE_RATE } from '../../src/contract/recorder.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { likeness, readWav, voice, writeWav } from '../kit/sound.ts';
import { until } from '../kit/until.ts';
import { unusedPort } from '../kit/unused-port.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, click, fill, read, VIEWS, words } from './controls.ts';
import { DESKTOP, faults, PHONE } from './desk-page.ts';

const TITLE = `meetings in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;
const HEARD_S = 15;
const PLAYED = voice(HEARD_S + 20);

let daemon: TestDaemon;
let browser: Chromium;
let scratch: ScratchFolder;

const open = (query: string, view: View) =>
  browser.open(`http://${daemon.address}/${query}`, { view: (page) => page.look(view) });
const look = async () => (await daemon.http.get<MeetingAnswer>('/meeting')).body;
const meetingWhen = (what: string, is: (meeting: Meeting) => boolean) =>
  until(what, async () => {
    const { meeting } = await look();
    return meeting !== null && is(meeting) ? meeting : null;
  });
const pillSays = (page: Page, text: string) =>
  until(`the board says ${text}`, () =>
    page.run<boolean>(
      "(text) => document.querySelector('[data-pill]')?.innerText.includes(text) === true",
      text,
    ),
  );
/** A meeting that somebody else has begun. */
async function begin(note: string): Promise<void> {
  const project_dir = daemon.home.project('atlas');
  await daemon.http.post('/capture', {
    prompt: note,
    project_dir,
    agent: 'talks',
    meeting: { mode: 'phone' },
  });
  await meetingWhen('it to be recorded', ({ state }) => state === 'live');
}
/** Requests that the daemon refuses are what some of these tests are about. */
const pageFaults = (page: Page) => faults(page).filter((one) => !/status of 4\d\d/.test(one));
async function noMeetingAfter(act: () => Promise<void>): Promise<void> {
  await act();
  await noMeeting();
}
const noMeeting = () => until('no meeting', async () => (await look()).meeting === null);

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    scratch = scratchFolder();
    const file = join(scratch.path, 'voice.wav');
    writeWav(file, PLAYED);
    browser = new Chromium({}, file);
    daemon = await startTestDaemon({
      // Where a page finds it again.
      settings: { SVC_RECORDER_ENGINE: 'vad', SVC_LISTEN: `127.0.0.1:${await unusedPort()}` },
      prepare(home) {
        home.fiber('coast/gauges', { agent: 'talks', front: { name: 'Gauges', status: 'open' } });
        home.write('config/projects.json', [home.project('atlas')]);
      },
    });
  });

  afterEach(async () => {
    if ((await look()).meeting !== null) await daemon.http.post('/meeting/stop', {});
    await noMeeting();
    for (const { runtime, id } of await daemon.fibers()) if (runtime !== undefined) await daemon.kill(id);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
    scratch?.remove();
  });

  it('[AUD-2] [AUD-5] [AUD-7] [RPL-17] records what a phone hears, whole and as it was said', async () => {
    const page = await open('?view=meeting', PHONE);
    await read(page, 'Start recording');
    await fill(page, 'Project', daemon.home.project('atlas'));
    await fill(page, 'What it is about', 'Gauges in spring');
    const began = Date.now();
    await click(page, 'Start recording');
    await read(page, 'This phone is the microphone.');
    const frames = async () => ({ at: performance.now(), count: (await look()).audio?.frames ?? 0 });
    await until('the first frames', async () => (await frames()).count > 5);
    const first = await frames();
    await meetingWhen('the first line', ({ tail }) => tail.length > 0);
    const line_ms = Date.now() - began;
    await read(page, 'not transcribed');
    const last = await until(`${HEARD_S} seconds of it`, async () => {
      const now = await frames();
      return now.at - first.at >= HEARD_S * 1_000 ? now : null;
    });
    const in_time = ((last.count - first.count) / (last.at - first.at)) * HEARD_S * 1_000;
    expect(in_time).toBeGreaterThan(745);
    expect(in_time).toBeLessThan(755);
    const { transcript, title } = (await look()).meeting!;
    expect(title).toBe('Gauges in spring');
    await click(page, 'Stop');
    await click(page, 'End it');
    await noMeeting();
    await read(page, 'The meeting has ended.');
    await read(page, 'Start recording');
    const kept = readWav(transcript.replace(/\.txt$/, '.wav'));
    expect(kept.length / FRAME_SAMPLES).toBeGreaterThan((HEARD_S * SAMPLE_RATE) / FRAME_SAMPLES);
    expect(likeness(kept, PLAYED)).toBeGreaterThan(0.97);
    expect(readFileSync(transcript, 'utf8')).toMatch(/# ended \d\d:\d\d:\d\d\n$/);
    expect(line_ms).toBeLessThan(6_000);
    expect(faults(page)).toEqual([]);
  });

  it('[AUD-8] leaves the meeting to a second phone, and takes it back', async () => {
    await begin('Budget of the coast');
    const use = async () => {
      const page = await open('?view=meeting', PHONE);
      await click(page, 'Use this phone as the microphone');
      await read(page, 'This phone is the microphone.');
      return page;
    };
    const first = await use();
    const second = await use();
    await read(first, 'Another phone has taken over as the microphone.');
    await click(first, 'Take over again');
    await read(second, 'Another phone has taken over as the microphone.');
    await read(first, 'This phone is the microphone.');
  });

  it('is the microphone again by itself after the daemon was killed, whose recording goes on', async () => {
    await begin('Budget of the coast');
    const page = await open('?view=meeting', PHONE);
    await click(page, 'Use this phone as the microphone');
    await read(page, 'This phone is the microphone.');
    const { launch } = (await look()).meeting!;
    await daemon.kill9();
    await read(page, 'The connection to the daemon is lost, and nothing is recorded.');
    await read(page, /What you see is \d+ s old/);
    await daemon.start();
    await read(page, 'This phone is the microphone.');
    const { meeting, audio } = await until('its frames', async () => {
      const now = await look();
      return (now.audio?.frames ?? 0) > 50 ? now : null;
    });
    expect([meeting?.launch, meeting?.state, audio?.connected]).toEqual([launch, 'live', true]);
    await until('it to be as of now', async () => !(await words(page)).includes('What you see is'));
    expect(pageFaults(page).filter((one) => !one.includes('503'))).toEqual([]);
  });

  it('[WPL-6] [CAP-3] begins one in Capture, and shows it at the top of the board and over it', async () => {
    const page = await open('?sheet=capture', DESKTOP);
    await read(page, 'Capture a task');
    await fill(page, 'Project', daemon.home.project('atlas'));
    await fill(page, 'Agent', 'talks');
    await fill(page, 'Record a meeting', 'phone');
    await click(page, 'Review launch');
    await click(page, 'Launch');
    await read(page, 'No phone is its microphone now, so nothing is recorded.');
    await meetingWhen('it to be recorded', ({ state, title }) => state === 'live' && title === 'Meeting');
    await fill(page, 'Mark this moment', 'agreed');
    await click(page, 'Mark');
    await read(page, /Marked: \d\d:\d\d:\d\d agreed\./);
    const { transcript } = (await look()).meeting!;
    expect(readFileSync(transcript, 'utf8')).toMatch(/^# mark \d\d:\d\d:\d\d agreed$/m);
    await click(page, 'Close');
    await pillSays(page, 'no phone');
    await page.learn("document.querySelector('[data-pill]').click()");
    await click(page, 'Stop');
    await click(page, 'End it');
    await read(page, 'No meeting is recorded.');
    await until(
      'no word of it',
      async () => !(await page.learn("document.querySelector('[data-pill]') !== null")),
    );
    expect(pageFaults(page)).toEqual([]);
  });

  it('[WPL-7] [MTR-5] begins one that joins a fiber, in its sheet', async () => {
    const page = await open('?fiber=coast%2Fgauges', DESKTOP);
    await click(page, 'Record a meeting into this fiber');
    await fill(page, 'Note for its worker', 'Gauges in spring');
    await click(page, 'Record');
    await read(page, 'which it joined');
    const joined = await meetingWhen('it to be recorded', ({ state }) => state === 'live');
    expect(joined).toMatchObject({ fiber: 'coast/gauges', joined: true, title: 'Gauges in spring' });
    await click(page, 'coast/gauges');
    await until('its sheet', async () => (await page.learn('location.search')) === '?fiber=coast%2Fgauges');
    expect(pageFaults(page)).toEqual([]);
  });

  it('[ERR-10] shows the meeting that is recorded where another one is begun, with Open and Stop', async () => {
    await begin('Budget of the coast');
    const page = await open('?fiber=coast%2Fgauges', DESKTOP);
    await click(page, 'Record a meeting into this fiber');
    await click(page, 'Record');
    await read(page, 'This host records a meeting already: Budget of the coast. Recording,');
    await click(page, 'Open');
    await read(page, 'A room: the microphone of a phone');
    await page.show(`http://${daemon.address}/?sheet=capture`);
    await read(page, 'Capture a task');
    await fill(page, 'Project', daemon.home.project('atlas'));
    await fill(page, 'Record a meeting', 'phone');
    await click(page, 'Review launch');
    await read(page, 'Budget of the coast');
    await noMeetingAfter(() => click(page, 'Stop it'));
    expect(pageFaults(page)).toEqual([]);
  });

  it('[CAP-6] goes on with a recording that began though its worker could not be started, and says so', async () => {
    const page = await open('?view=meeting', PHONE);
    await read(page, 'Start recording');
    await fill(page, 'Project', daemon.home.project('atlas'));
    await page.learn(`{
      const real = window.fetch;
      window.fetch = (path, options) => real(path, options === undefined || options.method !== 'POST' ? options
        : { ...options, body: JSON.stringify({ ...JSON.parse(options.body), agent: 'nobody' }) });
    }`);
    await click(page, 'Start recording');
    await read(page, 'This phone is the microphone.');
    expect(await words(page)).toMatch(/nobody.* The recording goes on all the same\./);
    expect((await look()).meeting?.state).toBe('live');
  });

  it.each(VIEWS)('has no serious fault that axe finds: %s', async (_, view) => {
    await begin('Budget of the coast');
    const page = await open('', view);
    await pillSays(page, 'no phone');
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.learn("document.querySelector('[data-pill]').click()");
    await read(page, 'Mark this moment');
    expect(await axeFaults(page)).toEqual([]);
    await page.show(`http://${daemon.address}/?fiber=coast%2Fgauges`);
    await click(page, 'Record a meeting into this fiber');
    await read(page, 'What is recorded');
    expect(await axeFaults(page)).toEqual([]);
    expect(await words(page)).toContain('A room: the microphone of a phone');
  });
});
