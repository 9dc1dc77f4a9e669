import { describe, expect, it } from 'vitest';
import type { EngineSegment } from '../../../src/recorder/engines/engine.ts';
import { continuousReader, liveLine } from '../../../src/recorder/engines/pocketsphinx-lines.ts';

function read(lines: readonly string[]): EngineSegment[] {
  const reader = continuousReader();
  return lines.flatMap((line) => reader(line) ?? []);
}

describe('the lines of pocketsphinx 0.8', () => {
  it('are one utterance up to its end, with the times of its words', () => {
    const lines = [
      'we agreed on the budget',
      '<s> 0.000 0.120 1.000100',
      'we 3.330 3.510 0.999700',
      'agreed 3.520 4.020 0.998301',
      '<sil> 4.020 4.030 0.998301',
      'on(2) 4.030 4.190 1.000100',
      'the 4.200 4.270 1.000100',
      '[NOISE] 4.270 4.275 1.000100',
      'budget 4.280 4.700 1.000100',
      '</s> 5.820 5.930 1.000000',
      'next',
      '<s> 6.000 6.100 1.0',
      'next 6.200 6.500 1.0',
      '</s> 6.600 6.700 1.0',
    ];
    expect(read(lines)).toEqual([
      { start: 3.33, end: 4.7, text: 'we agreed on the budget' },
      { start: 6.2, end: 6.5, text: 'next' },
    ]);
  });

  it('are complete with the last word, since a grammar writes no end', () => {
    const lines = [
      'it will',
      '<sil> 3.980 4.220 1.0',
      'it(2) 4.230 4.680 1.0',
      'will 4.690 4.840 1.0',
      '<sil> 5.0 5.1 1.0',
    ];
    expect(read(lines.slice(0, 3))).toEqual([]);
    expect(read(lines.slice(0, 4))).toEqual([{ start: 4.23, end: 4.84, text: 'it will' }]);
    expect(read(lines)).toHaveLength(1);
  });

  it('of an utterance in which nothing was understood are none', () => {
    expect(read(['', '<s> 0.000 0.120 1.0', '</s> 0.5 0.6 1.0'])).toEqual([]);
    expect(read(['</s> 0.5 0.6 1.0', 'word 1.0 2.0 1.0'])).toEqual([]);
  });
});

describe('a line of pocketsphinx 5', () => {
  it('is an utterance with its begin and duration', () => {
    const line = '{"b":0.81,"d":2.82,"p":0.7,"t":"we agreed","w":[{"b":0.81,"d":0.2,"p":1,"t":"we"}]}';
    expect(liveLine(line)).toEqual({ start: 0.81, end: 3.63, text: 'we agreed' });
    expect(liveLine('{"b":1,"d":1,"t":"yes","speaker":"S2"}')).toEqual({
      start: 1,
      end: 2,
      text: 'yes',
      speaker: 'S2',
    });
  });

  it.each(['', 'INFO: ready', '{"b":0,"d":1,"t":" "}', '{"t":"a"}', '[1]', '{"b":-1,"d":1,"t":"a"}'])(
    'that is %s is none',
    (line) => expect(liveLine(line)).toBe(null),
  );
});
