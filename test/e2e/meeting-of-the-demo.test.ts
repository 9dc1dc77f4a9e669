import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { CONVERSATION } from '../../src/cli/verbs/meeting/play.ts';
import type { MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { addScribe } from '../kit/demo-scribe.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { samplesOf, writeWav } from '../kit/sound.ts';
import { NO_SPEECH, wordAccuracy } from '../kit/spoken.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

describe('a meeting that a file is played into', () => {
  it('[SVC-4] [CAP-3] is recorded by the bundled recorder and quoted by the demo agent in its fiber', async () => {
    daemon = await startTestDaemon({
      settings: { SVC_RECORDER_ENGINE: 'vad' },
      prepare: addScribe,
    });
    const { home, http } = daemon;
    const project = home.project('meetings');
    const started = await home.svc(
      ...['meeting', 'start', 'Budget 2027', '--project-dir', project, '--agent', 'scribe'],
    );
    expect(started.stdout, started.stderr).toContain('"Budget 2027" is live');
    const meeting = async () => (await http.get<MeetingAnswer>('/meeting')).body.meeting;
    await until('the fiber', async () => (await meeting())?.fiber === 'budget-2027');
    const wav = home.path('talk.wav');
    writeWav(wav, samplesOf(joinedAudio(babble(1.5), silence(1.5), babble(1), silence(1))));
    const played = await home.svc('meeting', 'play', wav);
    expect(played.stdout, played.stderr).toContain('Played 5 s');
    await until('what was heard', async () => (await meeting())?.tail.length === 2);
    expect((await home.svc('meeting', 'mark', 'agreed')).stdout).toContain(' agreed');
    expect((await home.svc('meeting', 'stop')).code).toBe(0);
    const row = await daemon.rowWhen('budget-2027', 'done', (one) => one.status === 'closed');
    expect(row.outcome).toBe('Notes of “Budget 2027”; lines: 2, marks: 1.');
    const document = readFileSync(row.path, 'utf8');
    expect(document.match(/^> .* S1 \[speech \d\.\d s, not transcribed\]$/gm)).toHaveLength(2);
    expect(document).toMatch(/^- \d\d:\d\d:\d\d agreed$/m);
    await until('the end', async () => (await meeting()) === null);
  });

  it.skipIf(NO_SPEECH !== null)(
    `is a conversation that flite speaks where none is named${NO_SPEECH === null ? '' : ` (${NO_SPEECH} is missing)`}`,
    async () => {
      daemon = await startTestDaemon({
        settings: { SVC_RECORDER_ENGINE: 'pocketsphinx' },
        prepare: addScribe,
      });
      const { home, http } = daemon;
      const started = await home.svc(
        ...['meeting', 'start', 'Talk', '--project-dir', home.project('meetings'), '--agent', 'scribe'],
      );
      expect(started.stdout, started.stderr).toContain('"Talk" is live');
      const tail = async () => (await http.get<MeetingAnswer>('/meeting')).body.meeting?.tail ?? [];
      const played = await home.svc('meeting', 'play');
      expect(played.stdout, played.stderr).toMatch(/^Played \d+ s; what was heard: svc meeting\n$/);
      await until('all sentences', async () => (await tail()).length >= CONVERSATION.length - 1);
      const heard = await tail();
      const text = heard.map((line) => line.split(' ').slice(2).join(' ')).join(' ');
      // A busy machine drops some of what it hears.
      expect(wordAccuracy(CONVERSATION.join(' '), text), text).toBeGreaterThan(0.5);
      await home.svc('meeting', 'stop');
      const row = await daemon.rowWhen('talk', 'done', ({ status }) => status === 'closed');
      const document = readFileSync(row.path, 'utf8').split('\n');
      for (const line of heard) expect(document).toContain(`> ${line}`);
    },
  );

  it('is refused where no meeting takes it, with the reason', async () => {
    daemon = await startTestDaemon();
    const wav = daemon.home.path('talk.wav');
    writeWav(wav, samplesOf(babble(1)));
    const played = await daemon.home.svc('meeting', 'play', wav);
    expect([played.code, played.stderr]).toEqual([1, expect.stringContaining('No meeting is recorded')]);
  });
});
