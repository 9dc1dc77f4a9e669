import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WAV_HEADER_BYTES } from '../../src/recorder/audio/wav-header.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { processesMarked } from '../kit/processes.ts';
import { TestRecording } from '../kit/recording.ts';
import { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

/** Bytes of a block of the disks of these tests. */
const BLOCK_BYTES = 4_096;

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

let home: TestHome;
let recording: TestRecording | null = null;
let tests = 0;
beforeAll(() => {
  home = new TestHome({ SVC_RECORDER_ENGINE: 'vad' });
});
afterAll(() => home.dispose());
afterEach(() => recording?.dispose());

function newRecording(env: NodeJS.ProcessEnv = {}, folder?: string): TestRecording {
  tests += 1;
  const place = folder ?? home.path('meetings', String(tests));
  mkdirSync(place, { recursive: true });
  recording = new TestRecording(
    { argv: [process.execPath, home.launcher, 'recorder'], env: { ...home.env, ...env } },
    place,
  );
  return recording;
}

/** A model of sherpa-onnx whose package does `script` when it is loaded. */
function sherpaThat(script: string): NodeJS.ProcessEnv {
  const folder = `models-${tests}`;
  for (const name of ['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'])
    home.write(`${folder}/${name}`, '');
  home.write(`${folder}/node_modules/sherpa-onnx-node/package.json`, {
    name: 'sherpa-onnx-node',
    main: 'index.js',
  });
  home.write(`${folder}/node_modules/sherpa-onnx-node/index.js`, script);
  return { SVC_RECORDER_ENGINE: 'sherpa', SVC_RECORDER_MODELS: home.path(folder) };
}

const wait = (ms: number) => `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`;
/** A package that hears nothing, and takes its time at the end. */
const SLOW_AT_THE_END = `
  class Stream { acceptWaveform() {} inputFinished() { ${wait(4_000)} } }
  exports.OnlineRecognizer = class {
    createStream() { return new Stream(); }
    isReady() { return false; } decode() {} isEndpoint() { return false; } reset() {}
    getResult() { return { text: '' }; }
  };`;

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
}

function expectReadable(one: TestRecording): void {
  expect(one.state()).toMatchObject({ version: 1, launch: one.launch });
  for (const line of one.lines()) expect(line).toMatch(/^# |^\d\d:\d\d:\d\d-\d\d:\d\d:\d\d S1 /);
  if (!existsSync(one.audio_path)) return;
  const wav = readFileSync(one.audio_path);
  expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  expect(wav.readUInt32LE(40)).toBeGreaterThan(0);
  expect(wav.readUInt32LE(40)).toBeLessThanOrEqual(wav.length - WAV_HEADER_BYTES);
}

describe('a recorder that is killed', () => {
  const endsAlone = () =>
    until('the end of all its processes', () => processesMarked(home.root).length === 0, 20_000);

  it('while it loads leaves its lifecycle file, and nothing that runs', async () => {
    const one = newRecording(sherpaThat(wait(3_000)));
    one.start();
    await one.when('loading');
    one.signal('SIGKILL');
    await one.exited();
    expect(one.state()?.phase).toBe('loading');
    await endsAlone();
  });

  it('while it records leaves whole lines, and audio that can be played', async () => {
    const one = newRecording();
    one.start();
    const sender = await one.sender();
    await sender.send(joinedAudio(silence(0.5), babble(2), silence(1), babble(8)));
    await one.line(/ S1 /);
    await until(
      'the audio',
      () => existsSync(one.audio_path) && readFileSync(one.audio_path).length > 44 + 6 * 32_000,
    );
    one.signal('SIGKILL');
    await one.exited();
    expectReadable(one);
    expect(one.state()?.phase).toBe('live');
    await endsAlone();
  });

  it('while it stops leaves whole lines and its phase', async () => {
    const one = newRecording(sherpaThat(SLOW_AT_THE_END));
    one.start();
    const sender = await one.sender();
    await sender.send(babble(2));
    await until(
      'the audio that its header counts',
      () => existsSync(one.audio_path) && readFileSync(one.audio_path).toString('latin1', 0, 4) === 'RIFF',
    );
    one.signal('SIGINT');
    await one.when('stopping');
    one.signal('SIGKILL');
    await one.exited();
    expect(one.state()?.phase).toBe('stopping');
    expectReadable(one);
    await endsAlone();
  });

  it('in the middle of its stop by a second signal leaves whole lines', async () => {
    const one = newRecording(sherpaThat(SLOW_AT_THE_END));
    one.start();
    await one.when('live');
    one.signal('SIGINT');
    await one.when('stopping');
    one.signal('SIGINT');
    expect(await one.exited()).toBe(1);
    expectReadable(one);
    await endsAlone();
  });
});

/** Fills the last block of a file, since what fits in there is taken by a disk that is full too. */
function fillLastBlock(path: string): void {
  const left = BLOCK_BYTES - (statSync(path).size % BLOCK_BYTES);
  appendFileSync(path, `#${'.'.repeat(left - 2)}\n`);
}

const disk: SmallDisk | null = smallDisk({ mib: 24 });
describe.skipIf(disk === null)('a disk that is full', () => {
  afterEach(() => disk?.mend());
  afterAll(() => disk?.remove());

  it('keeps lines back until there is room, and the audio on another disk whole', async () => {
    const one = newRecording();
    const transcript = join(disk!.path, 'meeting.txt');
    one.start({ more: ['--transcript', transcript] });
    const sender = await one.sender();
    fillLastBlock(transcript);
    disk!.fill();
    await sender.send(joinedAudio(silence(0.5), babble(2), silence(1)));
    await until('the fault', () => one.state()?.fault?.includes('no space is left'));
    expect(one.state()?.phase).toBe('live');
    disk!.mend();
    await until('the line', () => / S1 \[speech/.test(readFileSync(transcript, 'utf8')));
    await until('no fault', () => one.state()?.fault === null);
    one.signal('SIGINT');
    expect(await one.exited()).toBe(0);
    expect(readFileSync(transcript, 'utf8')).toMatch(/^# vad.*\n#\.+\n\d\d:.* S1 .*\n# ended .*\n$/);
    expect(readFileSync(one.audio_path).readUInt32LE(40)).toBeGreaterThanOrEqual(3.5 * 32_000);
  });

  it('ends the kept audio before it is full, and the transcript goes on', async () => {
    const one = newRecording();
    const audio = join(disk!.path, 'meeting.wav');
    one.start({ more: ['--audio', audio] });
    const sender = await one.sender();
    const hasEnded = () => one.lines().some((line) => line.startsWith('# no more audio is kept'));
    const spoken = joinedAudio(babble(2), silence(8));
    // 16 MiB are 9 minutes of audio. The disk has each piece before the next one is sent: it is full, and not too slow.
    let pieces = 0;
    for (; pieces < 72 && !hasEnded(); pieces += 1) {
      await sender.send(spoken);
      const bytes = WAV_HEADER_BYTES + (pieces + 1) * spoken.length;
      await until('the audio on the disk', () => hasEnded() || sizeOf(audio) >= bytes);
    }
    await one.line(/^# no more audio is kept: its disk is almost full/);
    await sender.send(spoken);
    await until('a line of all that was spoken', () => one.spoken().length === pieces + 1);
    expect(one.state()).toMatchObject({ phase: 'live', fault: expect.stringContaining('no more audio') });
    one.signal('SIGINT');
    expect(await one.exited()).toBe(0);
    const wav = readFileSync(audio);
    expect(wav.readUInt32LE(40)).toBe(wav.length - WAV_HEADER_BYTES);
    disk!.fill();
  });

  it('at the stop is said: the phase is failed, with what is missing', async () => {
    const one = newRecording();
    const transcript = join(disk!.path, 'last.txt');
    one.start({ more: ['--transcript', transcript] });
    await one.when('live');
    fillLastBlock(transcript);
    disk!.fill();
    one.signal('SIGINT');
    expect(await one.exited()).toBe(1);
    expect(one.state()).toMatchObject({
      phase: 'failed',
      error: expect.stringMatching(/the transcript is not whole: .*no space is left/),
    });
  });
});

/** What is sent at once: 15 s. */
const PIECE_BYTES = 480_000;

/** A package that hears a word about every ten seconds. */
const WORD_EVERY_TEN_SECONDS = `
  exports.OnlineRecognizer = class {
    createStream() {
      const stream = { samples: 0, acceptWaveform({ samples }) { stream.samples += samples.length; }, inputFinished() {} };
      return stream;
    }
    isReady() { return false; } decode() {}
    isEndpoint(stream) { return stream.samples >= 160000; }
    reset(stream) { stream.samples = 0; }
    getResult() { return { text: 'word' }; }
  };`;

it.each<[string, () => NodeJS.ProcessEnv, number]>([
  ['with the engine in it, without audio', () => ({ SVC_RECORDER_AUDIO: 'off' }), 3],
  // An engine beside it may be behind at this pace, which the transcript says, and has to keep up with some of it.
  ['with an engine beside it, and all of its audio', () => sherpaThat(WORD_EVERY_TEN_SECONDS), 0.5],
])('records four hours in no more memory than half an hour, %s', async (_, env, lines_each_minute) => {
  const one = newRecording(env());
  const keeps = env().SVC_RECORDER_AUDIO !== 'off';
  one.start();
  const sender = await one.sender();
  /** MiB of the recorder and of all that it has started. */
  const memory = () => processesMarked(home.root).reduce((sum, { pid }) => sum + memoryOf(pid), 0);
  // A minute of it: speech with pauses, and without one for longer than an engine stands.
  const minute = joinedAudio(babble(5), silence(1), babble(28), silence(1), babble(10), silence(15));
  const seen: number[] = [];
  let sent = 0;
  /** No faster than the disk takes it: audio that waits for it too long is not kept. */
  const kept = () => sizeOf(one.audio_path) >= sent - PIECE_BYTES / 2;
  for (let at = 1; at <= 240; at += 1) {
    for (let from = 0; from < minute.length; from += PIECE_BYTES) {
      await sender.send(minute.subarray(from, from + PIECE_BYTES));
      sent += PIECE_BYTES;
      if (keeps) await until(`minute ${at}`, kept);
    }
    if (at % 30 === 0) seen.push(Math.round(memory()));
  }
  await until('the lines of all of it', () => one.spoken().length >= 240 * lines_each_minute, 60_000);
  expect(one.lines().filter((line) => /no more audio/.test(line))).toEqual([]);
  one.signal('SIGINT');
  expect(await one.exited()).toBe(0);
  if (keeps) expect(sizeOf(one.audio_path)).toBe(WAV_HEADER_BYTES + 240 * minute.length);
  expect(Math.max(...seen) - seen[0]!, `MiB after each half hour: ${seen.join(', ')}`).toBeLessThan(64);
});
