import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
