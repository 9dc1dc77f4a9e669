import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPositionedFile } from '../../src/platform/positioned-file.ts';
import { wavHeader } from '../../src/recorder/audio/wav-header.ts';
import { KeptAudio } from '../../src/recorder/kept-audio.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

it('promises audio again for the next meeting only, where its disk does not take it', async () => {
  const path = join(scratch.path, 'missing', 'm.wav');
  const faults: string[] = [];
  const audio = new KeptAudio(path, (sentence) => faults.push(sentence));
  audio.push(new Int16Array(160));
  await until('the fault', () => faults.length > 0);
  await audio.close();
  expect(faults).toEqual([
    `no more audio is kept: ${path} cannot be written: its folder is missing; restore the folder before the next meeting`,
  ]);
});

it.each([0, 2_000])(
  'is a WAV file after each write, beginning with the first, %d ms into the meeting',
  async (ms) => {
    const path = join(scratch.path, 'm.wav');
    const beginnings: Buffer[] = [];
    const audio = new KeptAudio(
      path,
      () => undefined,
      async (name) => {
        const file = await createPositionedFile(name);
        return {
          ...file,
          async write(bytes, position) {
            await file.write(bytes, position);
            beginnings.push(readFileSync(path).subarray(0, 44));
          },
        };
      },
    );
    audio.skipTo(ms);
    audio.push(new Int16Array(160));
    await until('the writes', () => beginnings.length === 3);
    await audio.close();
    const [empty, whole] = [wavHeader(0), wavHeader(32 * ms + 320)];
    expect(beginnings).toEqual([empty, empty, whole]);
  },
);
