import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FRAME_SAMPLES } from '../../board/src/model/frames.ts';
import { SAMPLE_RATE } from '../../src/contract/recorder.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { likeness, samplesOf, voice, writeWav } from '../kit/sound.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type Page, type View } from './chromium.ts';
import { axeFaults, below, click, fill, holdAnswer, read, textIn, VIEWS, words } from './controls.ts';
import { faults, PHONE } from './desk-page.ts';
import { MeetingStandIn } from './meeting-stand-in.ts';

const TITLE = `the page of a phone in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;
/** How long the recordings of these tests are looked at. */
const HEARD_S = 15;
const FRAMES = (HEARD_S * SAMPLE_RATE) / FRAME_SAMPLES;
const PLAYED = voice(HEARD_S + 20);

let daemon: MeetingStandIn;
let browser: Chromium;
let scratch: ScratchFolder;

const at = (query = '', host = '127.0.0.1') => `http://${host}:${daemon.port}/?view=meeting${query}`;
const open = (query = '', view: View = PHONE, host?: string) =>
  browser.open(at(query, host), { view: (page) => page.look(view) });
/** Opens the page and begins a meeting. */
async function begin(): Promise<Page> {
  const page = await open();
  await read(page, 'Start recording');
  await fill(page, 'Project', '/p/gauges');
  await click(page, 'Start recording');
  return page;
}
const framesOf = (nth = -1) => daemon.sent.at(nth)?.frames.length ?? 0;
const sends = (what: string, count = 5, nth = -1) => until(what, () => framesOf(nth) >= count);
const recorded = (frames: readonly Buffer[]) => samplesOf(Buffer.concat(frames));

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    scratch = scratchFolder();
    const file = join(scratch.path, 'voice.wav');
    writeWav(file, PLAYED);
    daemon = await MeetingStandIn.start();
    browser = new Chromium({ 'phone.lan': '127.0.0.1' }, file);
  });

  afterEach(() => daemon.forget());

  afterAll(async () => {
    await browser?.close();
    await daemon?.close();
    scratch?.remove();
  });

  it('[CAP-2] [AUD-2] begins a meeting by one tap and sends what is said, whole and as it was said', async () => {
    const page = await begin();
    await read(page, 'This phone is the microphone.');
    expect(daemon.asked).toEqual([
      { path: '/capture', body: { project_dir: '/p/gauges', store: '/s', meeting: { mode: 'phone' } } },
    ]);
    // While it is spoken: at its end there is no level.
    await until('a level', () => page.learn<boolean>("document.querySelector('meter').value > 0.3"));
    await sends('15 seconds of it', FRAMES + 10);
    const { frames, at: came } = daemon.sent[0]!;
    for (const frame of frames) expect(frame.length).toBe(FRAME_SAMPLES * 2);
    const within = came.filter((one) => one - came[0]! < HEARD_S * 1_000).length;
    expect(within).toBeGreaterThanOrEqual(745);
    expect(within).toBeLessThanOrEqual(755);
    expect(likeness(recorded(frames), PLAYED)).toBeGreaterThan(0.97);
    expect(faults(page)).toEqual([]);
  });

  it('loses nothing where the page is busy for 300 ms of each second', async () => {
    const page = await begin();
    await sends('the first frames');
    await page.learn(`setInterval(() => { for (const end = performance.now() + 300; performance.now() < end; ); }, 1000);
      undefined`);
    await sends('15 seconds of it', FRAMES);
    const { frames, at: came } = daemon.sent[0]!;
    const gaps = came.slice(1).map((one, nth) => one - came[nth]!);
    expect(gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length * 0.99)]).toBeLessThan(200);
    expect(likeness(recorded(frames), PLAYED)).toBeGreaterThan(0.97);
    const seconds = (came.at(-1)! - came[0]!) / 1_000;
    expect(Math.abs(frames.length - (seconds * SAMPLE_RATE) / FRAME_SAMPLES)).toBeLessThan(12);
  });

  it('says that nothing is recorded while the worker of a meeting that is there is still told of it', async () => {
    const page = await open();
    await read(page, 'Start recording');
    await fill(page, 'Project', '/p/gauges');
    const answer = await holdAnswer(page, '/capture');
    await click(page, 'Start recording');
    await answer.arrived();
    await read(page, 'Review of the gauges');
    await read(page, 'The microphone is open. Nothing is recorded until the start is complete');
    expect(daemon.sent.length).toBe(0);
    await answer.release();
    await read(page, 'This phone is the microphone.');
    await sends('its first frames');
  });

  it('[AUD-4] says why nothing is recorded while the recorder loads, and sends nothing until then', async () => {
    daemon.greets = { state: 'waiting', reason: 'The recorder loads its model.' };
    const page = await begin();
    await read(
      page,
      'The recorder takes no audio yet, so nothing is recorded. The recorder loads its model.',
    );
    expect(framesOf()).toBe(0);
    daemon.say({ state: 'connected' });
    await sends('its first frames');
    await read(page, 'This phone is the microphone.');
  });

  it('is connected again by itself after the connection was lost', async () => {
    const page = await begin();
    await sends('its first frames');
    daemon.sent[0]!.socket.terminate();
    await read(page, 'The connection to the daemon is lost, and nothing is recorded.');
    await until('another connection', () => daemon.sent.length === 2);
    await sends('frames again');
    await read(page, 'This phone is the microphone.');
    expect(faults(page)).toEqual([]);
  });

  it('says that it is silenced for as long as its microphone is, and that nothing is recorded once that was taken away', async () => {
    const page = await open();
    await page.learn(`{
      const { getUserMedia } = MediaDevices.prototype;
      MediaDevices.prototype.getUserMedia = async function (asked) {
        const stream = await getUserMedia.call(this, asked);
        [window.track] = stream.getTracks();
        return stream;
      };
      window.AudioContext = class extends AudioContext {
        constructor() {
          super();
          window.context = this;
        }
      };
    }`);
    await read(page, 'Start recording');
    await fill(page, 'Project', '/p/gauges');
    await click(page, 'Start recording');
    await read(page, 'This phone is the microphone.');
    const silence = (muted: boolean) =>
      page.run(
        `(muted) => {
          Object.defineProperty(track, 'muted', { value: muted, configurable: true });
          track.dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
        }`,
        muted,
      );
    await silence(true);
    await read(page, 'This device silences its microphone now');
    // A call ends: the audio of the page goes on before its microphone does.
    await page.learn('context.suspend().then(() => context.resume()).then(() => undefined)');
    await page.settled();
    expect(await words(page)).toContain('This device silences its microphone now');
    await silence(false);
    await read(page, 'This phone is the microphone.');
    await page.learn("track.dispatchEvent(new Event('ended')); undefined");
    await read(page, 'The microphone was taken away from this page, and nothing is recorded.');
    await click(page, 'Use this phone as the microphone');
    await read(page, 'This phone is the microphone.');
  });

  it('[AUD-8] leaves the meeting to a phone that took over, says so, and takes it back by a tap', async () => {
    const first = await begin();
    await sends('its first frames');
    const second = await open();
    await read(second, 'Review of the gauges');
    await click(second, 'Use this phone as the microphone');
    await read(second, 'This phone is the microphone.');
    await read(first, 'Another phone has taken over as the microphone.');
    await sends('frames of the second', 100);
    expect(daemon.sent.length).toBe(2);
    await click(first, 'Take over again');
    await read(second, 'Another phone has taken over as the microphone.');
    await sends('frames of the first', 100);
    expect(daemon.sent.length).toBe(3);
  });

  it('[AUD-7] lets go of the microphone when the meeting ends, and connects no more', async () => {
    const page = await begin();
    await sends('its first frames');
    daemon.become(null);
    daemon.say({ state: 'ended', reason: 'It was stopped.' });
    await read(page, 'The meeting has ended. It was stopped.');
    await read(page, 'Review of the gauges is no longer recorded.');
    await read(page, 'Start recording');
    expect(daemon.sent.length).toBe(1);
    expect(faults(page)).toEqual([]);
  });

  it('offers the microphone for the next meeting, which began elsewhere', async () => {
    const page = await begin();
    await sends('its first frames');
    daemon.become({ launch: 'launch-2', title: 'Review of the loggers' });
    daemon.say({ state: 'ended', reason: 'It was stopped.' });
    await read(page, 'Review of the loggers');
    await read(page, 'No phone is the microphone of this meeting now');
    await click(page, 'Use this phone as the microphone');
    await read(page, 'This phone is the microphone.');
    await sends('frames for the next');
    expect(daemon.sent.length).toBe(2);
  });

  it('[AUD-6] says why its audio is refused', async () => {
    daemon.greets = { state: 'refused', reason: 'Another meeting is recorded.' };
    const page = await begin();
    await read(page, 'The daemon takes no audio of this page. Another meeting is recorded.');
    daemon.greets = { state: 'connected' };
    await click(page, 'Try again');
    await sends('its first frames');
  });

  it('is the microphone again once its page was closed and opened', async () => {
    const page = await begin();
    await sends('its first frames');
    await page.show('about:blank');
    await until('the end of its connection', () => daemon.sent[0]!.socket.readyState === 3);
    await page.show(at());
    await read(page, 'Review of the gauges');
    expect(daemon.sent.length).toBe(1);
    await click(page, 'Use this phone as the microphone');
    await until('another connection', () => daemon.sent.length === 2);
    await sends('frames again');
  });

  it('[MTR-2] shows what is said as it is said, and never what is old as if it were now', async () => {
    const page = await begin();
    await read(page, 'Nothing has been said yet.');
    daemon.become({ tail: ['10:04:31-10:04:33 S1 the gauges are mended', 'a line of another form'] });
    expect(await read(page, 'the gauges are mended')).toContain('a line of another form');
    const { answer } = daemon;
    daemon.answer = null;
    await read(page, /What you see is \d+ s old/);
    daemon.answer = answer;
    await until('it to be as of now', async () => !(await words(page)).includes('What you see is'));
  });

  it('says that the daemon does not answer where there is no meeting, too', async () => {
    const page = await open();
    await read(page, 'Start recording');
    const { answer } = daemon;
    daemon.answer = null;
    await read(page, 'The daemon did not answer.');
    daemon.answer = answer;
    await until('an answer', async () => !(await words(page)).includes('The daemon did not answer.'));
  });

  it('marks a moment, and stops once it was asked twice', async () => {
    const page = await begin();
    await fill(page, 'Mark this moment', ' agreed ');
    await click(page, 'Mark');
    await read(page, 'Marked: 10:04:31 agreed');
    expect(daemon.asked.at(-1)).toEqual({ path: '/meeting/mark', body: { text: 'agreed' } });
    await click(page, 'Mark');
    await until('a mark without a text', () => JSON.stringify(daemon.asked.at(-1)?.body) === '{}');
    await click(page, 'Stop');
    await read(page, 'End the recording?');
    await click(page, 'End it');
    await read(page, 'The recorder writes what it still has');
    expect(daemon.asked.at(-1)).toEqual({ path: '/meeting/stop', body: {} });
  });

  it('keeps the text of the next mark that is written while one is sent', async () => {
    const page = await begin();
    await fill(page, 'Mark this moment', 'agreed');
    const answer = await holdAnswer(page, '/meeting/mark');
    await click(page, 'Mark');
    await answer.arrived();
    await fill(page, 'Mark this moment', 'the next');
    await answer.release();
    await read(page, 'Marked: 10:04:31 agreed');
    expect(await textIn(page, 'Mark this moment')).toBe('the next');
  });

  it('keeps the screen on from the start to the end of the recording, and no longer', async () => {
    const page = await open();
    await read(page, 'Start recording');
    await page.learn(`(() => {
      window.locks = [];
      const { request } = WakeLock.prototype;
      WakeLock.prototype.request = async function (kind) {
        const lock = await request.call(this, kind);
        window.locks.push(lock);
        return lock;
      };
    })()`);
    const locks = () => page.learn<string[]>("locks.map(({ type, released }) => type + ' ' + released)");
    await fill(page, 'Project', '/p/gauges');
    expect(await locks()).toEqual([]);
    await click(page, 'Start recording');
    await read(page, 'This phone is the microphone.');
    await until('a lock', async () => (await locks()).join() === 'screen false');
    await click(page, 'Stop');
    await click(page, 'End it');
    daemon.become(null);
    daemon.say({ state: 'ended', reason: 'It was stopped.' });
    await until('its release', async () => (await locks()).join() === 'screen true');
  });

  it('[WPL-7] joins the fiber that its address names', async () => {
    const page = await open('&fiber=coast%2Fbackfill&origin=basalt');
    await read(page, 'The meeting joins coast/backfill');
    await fill(page, 'What it is about', 'The odd logger');
    await click(page, 'Start recording');
    await sends('its first frames');
    const { path, body } = daemon.asked[0]!;
    expect([path, body]).toEqual([
      '/meeting/join',
      { fiber_id: 'coast/backfill', origin: 'basalt', meeting: { mode: 'phone' }, note: 'The odd logger' },
    ]);
  });

  it('says what failed, and goes on with a recording that did begin', async () => {
    daemon.become({ state: 'live', started_at: Date.now() });
    const meeting = daemon.answer?.meeting;
    daemon.become(null);
    daemon.refuses = {
      status: 502,
      body: { error: 'no_worker', message: 'No worker.', recording: true, meeting },
    };
    const page = await begin();
    await sends('its first frames');
    daemon.become({ ...meeting });
    await read(page, 'This phone is the microphone.');
    await read(page, 'No worker. The recording goes on all the same.');
  });

  it('remembers the last choice, and asks for a folder where there is none', async () => {
    const page = await open();
    await page.learn('localStorage.clear()');
    await page.show(at());
    await click(page, 'Start recording');
    expect(await until('the sentence', () => below(page, 'Project'))).toContain('Choose the folder');
    await fill(page, 'Project', '/p/atlas');
    await fill(page, 'What it is about', 'Half a thought');
    await page.show(at());
    await read(page, 'Start recording');
    await until('the choice', async () => (await below(page, 'Project')) === '/p/atlas');
    expect(await page.learn("document.querySelector('textarea').value")).toBe('Half a thought');
    expect(daemon.asked).toEqual([]);
  });

  it('says that HTTPS is needed over plain HTTP from elsewhere, and how a phone gets there', async () => {
    daemon.become({ state: 'live', started_at: Date.now(), tail: ['10:04:31-10:04:33 S1 we go on'] });
    const page = await open('', PHONE, 'phone.lan');
    await read(page, 'HTTPS is needed to record here.');
    const shown = await read(page, 'we go on');
    expect(shown).not.toContain('Use this phone');
    await click(page, 'How a phone gets here over HTTPS');
    const help = await read(page, 'SVC_ALLOWED_HOSTS');
    for (const way of ['Tailscale', 'Caddy', 'SSH']) expect(help).toContain(way);
    expect(help).not.toContain('a field for marks');
    // That is what the browser says of such a page by itself.
    expect(faults(page).filter((one) => !one.includes('Cross-Origin-Opener-Policy'))).toEqual([]);
  });

  it.each(VIEWS)('has no serious fault that axe finds: %s', async (_, view) => {
    const page = await open('', view);
    await read(page, 'Start recording');
    expect(await axeFaults(page)).toEqual([]);
    daemon.become({ state: 'live', started_at: Date.now(), tail: ['10:04:31-10:04:33 S1 we go on'] });
    await click(page, 'Use this phone as the microphone');
    await read(page, 'This phone is the microphone.');
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.learn('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});
