import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineSegment } from '../../../src/recorder/engines/engine.ts';
import { findSherpa } from '../../../src/recorder/engines/sherpa.ts';
import { findSherpaModel } from '../../../src/recorder/engines/sherpa-model.ts';
import { loadSherpa, recognize } from '../../../src/recorder/engines/sherpa-recognizer.ts';
import { callerEnvironment } from '../../kit/caller-environment.ts';
import { babble, joinedAudio, silence } from '../../kit/made-audio.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

/**
 * A stand-in for `sherpa-onnx-node`, which needs a model: it has the calls of that package, hears a word in each second that
 * is not silent, and an end in one that is. Its voices are the level of what it was given.
 */
const STAND_IN = `
class Stream {
  constructor() { this.samples = 0; this.words = []; this.quiet = false; this.level = 0; }
  acceptWaveform({ sampleRate, samples }) {
    if (sampleRate !== 16000 || !(samples instanceof Float32Array)) throw new Error('bad audio');
    const loud = samples.some((one) => Math.abs(one) > 0.05);
    this.level = Math.max(this.level, ...samples);
    if (loud) this.words.push(this.samples / 16000);
    this.quiet = !loud;
    this.samples += samples.length;
  }
  inputFinished() { this.quiet = true; }
}
exports.OnlineRecognizer = class {
  constructor({ modelConfig }) { if (!modelConfig.transducer.encoder) throw new Error('Please check your config!'); }
  createStream() { return new Stream(); }
  isReady() { return false; }
  decode() {}
  isEndpoint(stream) { return stream.quiet && stream.words.length > 0; }
  getResult(stream) { return { text: stream.words.map(() => 'word').join(' '), timestamps: stream.words }; }
  reset(stream) { stream.words = []; stream.samples = 0; }
};
exports.SpeakerEmbeddingExtractor = class {
  createStream() { return new Stream(); }
  isReady(stream) { return stream.samples > 0; }
  compute(stream) { return Float32Array.of(stream.level > 0.5 ? 1 : 0, stream.level > 0.5 ? 0 : 1); }
};`;

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
  for (const name of [
    'encoder-1.onnx',
    'encoder-1.int8.onnx',
    'decoder-1.onnx',
    'joiner-1.onnx',
    'tokens.txt',
  ])
    scratch.write(name, '');
  scratch.write('node_modules/sherpa-onnx-node/package.json', { name: 'sherpa-onnx-node', main: 'index.js' });
  scratch.write('node_modules/sherpa-onnx-node/index.js', STAND_IN);
});
afterEach(() => scratch.remove());

async function* seconds(audio: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < audio.length; at += 32_000) yield audio.subarray(at, at + 32_000);
}

describe('a model of sherpa-onnx', () => {
  it('is found with the package beside it, the smaller files first', () => {
    expect(findSherpaModel(scratch.path)).toEqual({
      encoder: join(scratch.path, 'encoder-1.int8.onnx'),
      decoder: join(scratch.path, 'decoder-1.onnx'),
      joiner: join(scratch.path, 'joiner-1.onnx'),
      tokens: join(scratch.path, 'tokens.txt'),
      speaker: null,
      package_entry: join(scratch.path, 'node_modules/sherpa-onnx-node/index.js'),
    });
  });

  it.each(['decoder-1.onnx', 'tokens.txt', 'node_modules/sherpa-onnx-node/package.json'])(
    'without %s is refused with the fix, before anything native is loaded',
    (name) => {
      rmSync(join(scratch.path, name));
      if (name.startsWith('node_modules'))
        rmSync(join(scratch.path, 'node_modules/sherpa-onnx-node/index.js'));
      expect(() => findSherpa(scratch.path)).toThrow(/finds no .*SVC_RECORDER_MODELS|npm install --prefix/);
      expect(() => findSherpa(join(scratch.path, 'missing'))).toThrow('cannot read the folder');
    },
  );

  it('says what was said, when, and by whom', async () => {
    scratch.write('speaker.onnx', '');
    const model = findSherpaModel(scratch.path);
    const audio = joinedAudio(babble(2, 30_000), silence(1), babble(1, 5_000), silence(1), babble(1, 30_000));
    const said: EngineSegment[] = [];
    for await (const segment of recognize(loadSherpa(model), model, seconds(audio))) said.push(segment);
    expect(said).toEqual([
      { start: 0, end: 1.3, text: 'word word', speaker: 'S1' },
      { start: 3, end: 3.3, text: 'word', speaker: 'S2' },
      { start: 5, end: 5.3, text: 'word', speaker: 'S1' },
    ]);
    expect(findSherpa(scratch.path)).toMatchObject({ name: 'sherpa-onnx', diarizes: true });
  });

  it('runs in a process of its own, whose lines the recorder reads', () => {
    const { file, args, reader } = findSherpa(scratch.path);
    const ran = spawnSync(file, args, {
      env: callerEnvironment(),
      input: joinedAudio(babble(1), silence(1)),
      encoding: 'utf8',
    });
    expect(ran.stderr).toBe('');
    const segments = ran.stdout.split('\n').flatMap((line) => reader()(line) ?? []);
    expect(segments.map(({ text }) => text).join(' ')).toContain('word');
    expect(ran.status).toBe(0);
  });

  it('that the package refuses ends with a sentence that names the fix', () => {
    scratch.write('node_modules/sherpa-onnx-node/index.js', 'throw new Error("Please check your config!")');
    const { file, args, fault } = findSherpa(scratch.path);
    const ran = spawnSync(file, args, { env: callerEnvironment(), input: '', encoding: 'utf8' });
    expect(ran.status).toBe(1);
    expect(fault(ran.stderr)).toMatch(/Please check your config!.*streaming transducer model/);
  });
});
