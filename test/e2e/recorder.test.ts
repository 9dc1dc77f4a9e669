import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { processesMarked, signal } from '../kit/processes.ts';
import { type RecorderProgram, TestRecording } from '../kit/recording.ts';
import { NO_SPEECH, SENTENCES, spoken, wordAccuracy, writeGrammar } from '../kit/spoken.ts';
import { TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let home: TestHome;
let tests = 0;
let recording: TestRecording | null = null;
beforeAll(() => {
  home = new TestHome();
});
afterAll(() => home.dispose());
afterEach(() => recording?.dispose());

function newRecording(env: NodeJS.ProcessEnv = {}, more: Partial<RecorderProgram> = {}): TestRecording {
  tests += 1;
  const folder = home.path('meetings', String(tests));
  home.write(`meetings/${tests}/.keep`, '');
  recording = new TestRecording(
    { argv: [process.execPath, home.launcher, 'recorder'], env: { ...home.env, ...env }, ...more },
    folder,
  );
  return recording;
}

/** The text of the spoken lines, without times and speakers. */
const textOf = (lines: readonly string[]) => lines.map((line) => line.replace(/^\S+ S\d+ /, '')).join(' ');
/** The seconds of the day at which a spoken line begins. */
const beginOf = (line: string) => {
  const [hours = 0, minutes = 0, seconds = 0] = line.slice(0, 8).split(':').map(Number);
  return hours * 3_600 + minutes * 60 + seconds;
};
const engineOf = () =>
  processesMarked(home.root).find(({ command }) => command.includes('pocketsphinx_continuous'));

describe.skipIf(NO_SPEECH !== null)(
  `the recorder with PocketSphinx${NO_SPEECH === null ? '' : ` (${NO_SPEECH} is missing)`}`,
  () => {
    const record = async (env: NodeJS.ProcessEnv, speed: number) => {
      const made = SENTENCES.map((sentence) => spoken(home.path('speech'), sentence));
      const one = newRecording(env);
      one.start();
      const sender = await one.sender();
      await sender.pace(joinedAudio(...made), speed);
      await until('all sentences', () => one.spoken().length >= SENTENCES.length - 1, 30_000);
      one.signal('SIGINT');
      expect(await one.exited()).toBe(0);
      return {
        one,
        starts: made.map((_, at) => made.slice(0, at).reduce((sum, { length }) => sum + length / 32_000, 0)),
      };
    };

    it('understands 95 % of the words of a grammar, and says when each sentence was said', async () => {
      const grammar = writeGrammar(home.path('speech'), SENTENCES);
      const { one, starts } = await record({ SVC_RECORDER_GRAMMAR: grammar }, 6);
      expect(one.lines()[0]).toBe(
        '# pocketsphinx 0.8, not diarized, knows the sentences of its grammar alone',
      );
      expect(wordAccuracy(SENTENCES.join(' '), textOf(one.spoken()))).toBeGreaterThanOrEqual(0.95);
      const lines = one.spoken();
      expect(lines).toHaveLength(SENTENCES.length);
      for (const [at, line] of lines.entries()) {
        const apart = (beginOf(line) - beginOf(lines[0]!) + 86_400) % 86_400;
        expect(Math.abs(apart - (starts[at]! - starts[0]!))).toBeLessThanOrEqual(1.5);
      }
    });

    it('understands 90 % of the words of its free model', async () => {
      const { one } = await record({}, 2);
      const accuracy = wordAccuracy(SENTENCES.join(' '), textOf(one.spoken()));
      expect(accuracy).toBeGreaterThanOrEqual(0.9);
      expect(one.lines().filter((line) => line.includes('not transcribed'))).toEqual([]);
    });

    it('writes lines of speech that has no pause', { timeout: 300_000 }, async () => {
      const one = newRecording();
      one.start();
      const sender = await one.sender();
      const made = SENTENCES.map((sentence) => spoken(home.path('speech'), sentence, { pause: 0 }));
      const words = SENTENCES.join(' ').split(' ').length;
      const heard = () => textOf(one.spoken()).split(' ').length;
      // As fast as it is spoken, and so little at a time that a busy machine which falls behind loses none of it.
      for (const rounds of [1, 2]) {
        await sender.pace(joinedAudio(...made, silence(2)), 1);
        await until('nearly all words', () => heard() > rounds * words * 0.85, 100_000);
      }
      const said = [...SENTENCES, ...SENTENCES].join(' ');
      one.signal('SIGINT');
      expect(await one.exited()).toBe(0);
      expect(one.spoken().length).toBeGreaterThanOrEqual(3);
      expect(wordAccuracy(said, textOf(one.spoken()))).toBeGreaterThan(0.8);
    });

    it('starts an engine that is killed anew, once, and says so', async () => {
      const one = newRecording();
      one.start();
      const sender = await one.sender();
      await sender.send(spoken(home.path('speech'), SENTENCES[0]));
      await one.line(/ S1 /);
      signal(engineOf()!, 'SIGKILL');
      await one.line(/^# pocketsphinx 0.8 ended .*on: vad, not diarized, not transcribed$/);
      await one.line(/^# pocketsphinx 0.8 was started anew; .* on: pocketsphinx 0.8, not diarized, /);
      await until('no fault', () => one.state()?.fault === null);
      await sender.send(spoken(home.path('speech'), SENTENCES[1]));
      await until('what is said then', () => one.spoken().length > 1);
      expect(wordAccuracy(SENTENCES[1], textOf(one.spoken().slice(-1)))).toBeGreaterThanOrEqual(0.8);
      signal(engineOf()!, 'SIGKILL');
      await sender.pace(joinedAudio(silence(1), babble(2), silence(2)), 4);
      await one.line(/^# pocketsphinx 0.8 ended again .*on: vad, not diarized, not transcribed$/);
      await one.line(/ S1 \[speech/);
      expect(one.state()).toMatchObject({
        phase: 'live',
        engine: 'vad, not diarized, not transcribed',
        fault: expect.stringContaining('pocketsphinx 0.8 ended again'),
      });
      one.signal('SIGINT');
      expect(await one.exited()).toBe(0);
      expect(one.state()).toMatchObject({ phase: 'ended', error: null });
      expect(existsSync(one.audio_path)).toBe(true);
    });

    it('writes the last words although Ctrl-C in its terminal reaches the whole process group', async () => {
      const one = newRecording({}, { detached: true });
      one.start();
      const sender = await one.sender();
      await sender.send(joinedAudio(spoken(home.path('speech'), SENTENCES[1], { pause: 0 })));
      await until(
        'the audio in the engine',
        () => existsSync(one.audio_path) && readFileSync(one.audio_path).length > 60_000,
      );
      process.kill(-one.pid, 'SIGINT');
      expect(await one.exited()).toBe(0);
      expect(wordAccuracy(SENTENCES[1], textOf(one.spoken()))).toBeGreaterThanOrEqual(0.9);
      expect(engineOf()).toBe(undefined);
    });

    it('leaves no engine behind when it is killed, and its files can be read', async () => {
      const one = newRecording();
      one.start();
      const sender = await one.sender();
      await sender.send(spoken(home.path('speech'), SENTENCES[2]));
      await one.line(/ S1 /);
      one.signal('SIGKILL');
      await one.exited();
      await until('the end of the engine', () => engineOf() === undefined);
      expect(one.state()?.phase).toBe('live');
      for (const line of one.lines()) expect(line).toMatch(/^# |^\d\d:\d\d:\d\d-/);
    });
  },
);

it('refuses a mode that it does not have, with the fix', async () => {
  const one = newRecording();
  one.start({ mode: 'room' });
  expect(await one.exited()).toBe(1);
  expect(one.state()).toMatchObject({ phase: 'failed', error: expect.stringContaining('set SVC_RECORDER') });
  expect(one.log).toContain('cannot record in the mode room');
});

it('refuses an engine that is asked for and cannot be used', async () => {
  const one = newRecording();
  one.start({ more: ['--engine', 'sherpa'] });
  expect(await one.exited()).toBe(1);
  expect(one.state()).toMatchObject({
    phase: 'failed',
    error: expect.stringContaining('SVC_RECORDER_MODELS'),
  });
});

it('keeps no audio where the operator wants none', async () => {
  const one = newRecording({ SVC_RECORDER_AUDIO: 'off', SVC_RECORDER_ENGINE: 'vad' });
  one.start();
  const sender = await one.sender();
  await sender.send(joinedAudio(babble(2), silence(2)));
  await one.line(/ S1 /);
  one.signal('SIGTERM');
  expect(await one.exited()).toBe(0);
  expect(existsSync(one.audio_path)).toBe(false);
});
