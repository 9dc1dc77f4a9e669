import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from './installed.ts';
import { joinedAudio, silence } from './made-audio.ts';

/** Sentences of a meeting, in words that the English model knows. */
export const SENTENCES = [
  'good morning and welcome to the meeting',
  'the first point is the budget for the next year',
  'we have to decide about the new building',
  'the old house is too small for the people who work there',
  'i think that we should wait for the report',
  'when will the report be ready',
  'it will be ready at the end of the month',
  'then we can decide in the first week of december',
  'is there anything else that we have to talk about',
  'the children want to see the garden in the summer',
  'that is a good idea and we will write it down',
  'thank you very much for your time',
] as const;

/** The speech programs of Debian that tests need; what is missing is named, null where nothing is. */
export const NO_SPEECH: string | null =
  ['flite', 'pocketsphinx_continuous'].filter((program) => !isInstalled(program)).join(', ') || null;

/** A sentence as flite says it, as samples in bytes, with a pause behind it. */
export function spoken(folder: string, sentence: string, { pause = 1.2, voice = 'rms' } = {}): Uint8Array {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'spoken.wav');
  execFileSync('flite', ['-voice', voice, '-t', sentence, '-o', file]);
  return joinedAudio(readFileSync(file).subarray(44), silence(pause));
}

/** A JSGF grammar of these sentences. */
export function writeGrammar(folder: string, sentences: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'meeting.gram');
  writeFileSync(path, `#JSGF V1.0;\ngrammar meeting;\npublic <said> = ${sentences.join(' | ')};\n`);
  return path;
}

/** The share of the words of `said` that are not lost or wrong in `heard`: 1 minus the word error rate. */
export function wordAccuracy(said: string, heard: string): number {
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z']+/g) ?? [];
  const [words, other] = [wordsOf(said), wordsOf(heard)];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, word] of words.entries()) {
    const next = [at + 1];
    for (const [place, one] of other.entries())
      next.push(Math.min(row[place]! + (one === word ? 0 : 1), row[place + 1]! + 1, next[place]! + 1));
    row = next;
  }
  return 1 - row.at(-1)! / words.length;
}
