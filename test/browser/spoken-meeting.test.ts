import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { MeetingAnswer } from '../../src/contract/http/meeting.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { addScribe } from '../kit/demo-scribe.ts';
import { joinedAudio, silence } from '../kit/made-audio.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { likeness, readWav, samplesOf, writeWav } from '../kit/sound.ts';
import { NO_SPEECH, SENTENCES, spoken, wordAccuracy, writeGrammar } from '../kit/spoken.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER } from './chromium.ts';
import { click, read } from './controls.ts';
import { faults, PHONE } from './desk-page.ts';

const MISSING = [NO_BROWSER, NO_SPEECH].filter((one) => one !== null).join(', ');
const TITLE = `a meeting that is spoken to a phone${MISSING === '' ? '' : ` (${MISSING})`}`;
/** The first line is in the transcript so soon after the tap; its sentence takes about 3 s. */
const FIRST_LINE_MS = 6_000;
/** Opening a microphone costs the first moments of what is said. */
const BEFORE_S = 0.6;

let daemon: TestDaemon | undefined;
let browser: Chromium | undefined;
let scratch: ScratchFolder;

afterEach(async () => {
  await browser?.close();
  await daemon?.dispose();
  scratch.remove();
});

describe.skipIf(MISSING !== '')(TITLE, () => {
  it.each([
    ['95 % of the words of a grammar', 0.95, true],
    ['90 % of the words of the free model', 0.9, false],
  ])(
    '[CAP-2] [AUD-2] [MTR-2] [EVT-6] is written down with %s, through page, daemon and recorder, and quoted in its fiber',
    async (_, least, by_grammar) => {
      scratch = scratchFolder();
      const said = joinedAudio(
        silence(BEFORE_S),
        ...SENTENCES.map((sentence) => spoken(join(scratch.path, 'speech'), sentence)),
      );
      const heard = join(scratch.path, 'heard.wav');
      writeWav(heard, samplesOf(said));
      browser = new Chromium({}, heard);
      daemon = await startTestDaemon({
        settings: {
          SVC_RECORDER_ENGINE: 'pocketsphinx',
          SVC_RECORDER_GRAMMAR: by_grammar ? writeGrammar(scratch.path, SENTENCES) : undefined,
        },
        prepare: addScribe,
      });
      const { http, home, address } = daemon;
      const look = async () => (await http.get<MeetingAnswer>('/meeting')).body.meeting;
      const project_dir = home.project('atlas');
      const asked = { prompt: 'Budget', project_dir, agent: 'scribe', meeting: { mode: 'phone' } };
      const captured = await http.post('/capture', asked);
      expect(captured.status, captured.text).toBe(200);
      await until('the recorder', async () => (await look())?.state === 'live');

      const page = await browser.open(`http://${address}/?view=meeting`, { view: (one) => one.look(PHONE) });
      await read(page, 'Use this phone as the microphone');
      const began = performance.now();
      await click(page, 'Use this phone as the microphone');
      await until('the first line', async () => ((await look())?.tail.length ?? 0) > 0);
      const first_ms = performance.now() - began;
      await read(page, SENTENCES[0]);
      await until(
        'the last line',
        async () => (await look())?.tail.at(-1)?.endsWith('for your time'),
        90_000,
      );

      const { transcript } = (await look())!;
      await click(page, 'Stop');
      await click(page, 'End it');
      await until('its end', async () => (await look()) === null);
      const row = await daemon.rowWhen('budget', 'done', ({ status }) => status === 'closed');
      const lines = readFileSync(transcript, 'utf8').split('\n');
      const text = lines
        .filter((line) => /^\d/.test(line))
        .map((line) => line.split(' ').slice(2).join(' '))
        .join(' ');
      const document = readFileSync(row.path, 'utf8').split('\n');
      for (const line of lines.filter((one) => /^\d/.test(one))) expect(document).toContain(`> ${line}`);
      expect(wordAccuracy(SENTENCES.join(' '), text), text).toBeGreaterThanOrEqual(least);
      expect(first_ms).toBeLessThan(FIRST_LINE_MS);
      expect(lines[0]).toMatch(/^# pocketsphinx .*not diarized/);
      expect(likeness(readWav(transcript.replace(/txt$/, 'wav')), samplesOf(said))).toBeGreaterThanOrEqual(
        0.97,
      );
      expect(faults(page)).toEqual([]);
    },
  );
});
