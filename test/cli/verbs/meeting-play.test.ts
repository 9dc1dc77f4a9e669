import { describe, expect, it } from 'vitest';
import { samplesOfWav } from '../../../src/cli/verbs/meeting/play.ts';
import { wavHeader } from '../../../src/recorder/audio/wav-header.ts';

const SOUND = Buffer.from(Int16Array.from([1, -2, 300, -400]).buffer);
const WAV = Buffer.concat([wavHeader(SOUND.length), SOUND]);
const changed = (at: number, value: number) => {
  const file = Buffer.from(WAV);
  file.writeUInt16LE(value, at);
  return file;
};

describe('a sound file that is played into a meeting', () => {
  it('gives its samples, also behind other parts and where it was cut off', () => {
    expect(samplesOfWav(WAV, 'a.wav').equals(SOUND)).toBe(true);
    const part = Buffer.from('LIST\u0003\u0000\u0000\u0000abc\u0000', 'latin1');
    const behind = Buffer.concat([WAV.subarray(0, 12), part, WAV.subarray(12)]);
    expect(samplesOfWav(behind, 'a.wav').equals(SOUND)).toBe(true);
    expect(samplesOfWav(WAV.subarray(0, -1), 'a.wav').equals(SOUND.subarray(0, 6))).toBe(true);
  });

  it.each([
    ['no WAV file', Buffer.from('ID3 some song'), 'is no WAV file'],
    ['two channels', changed(22, 2), 'one channel'],
    ['another rate', changed(24, 44_100), '16000 Hz'],
    ['8 bit', changed(34, 8), '16 bit'],
    ['another coding', changed(20, 3), 'one channel'],
    ['no samples', WAV.subarray(0, 36), 'has no sound'],
  ])('is refused with the command that makes it one: %s', (_, file, why) => {
    expect(() => samplesOfWav(file, 'a.wav')).toThrow(why);
    expect(() => samplesOfWav(file, 'a.wav')).toThrow('ffmpeg -i a.wav -ar 16000');
  });

  it('names a file with a space as a shell takes it', () => {
    expect(() => samplesOfWav(Buffer.from('ID3'), 'my talk.mp3')).toThrow(
      "ffmpeg -i 'my talk.mp3' -ar 16000",
    );
  });
});
