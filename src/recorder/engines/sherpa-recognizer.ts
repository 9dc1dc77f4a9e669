import { createRequire } from 'node:module';
import { SAMPLE_RATE } from '../../contract/recorder.ts';
import { Samples } from '../audio/samples.ts';
import type { EngineSegment } from './engine.ts';
import type { SherpaModel } from './sherpa-model.ts';
import { SpeakerClusters } from './speaker-clusters.ts';

type Stream = {
  acceptWaveform(audio: { sampleRate: number; samples: Float32Array }): void;
  inputFinished(): void;
};
/** What is used of `sherpa-onnx-node`. */
export type Sherpa = {
  OnlineRecognizer: new (
    config: object,
  ) => {
    createStream(): Stream;
    isReady(stream: Stream): boolean;
    decode(stream: Stream): void;
    isEndpoint(stream: Stream): boolean;
    reset(stream: Stream): void;
    getResult(stream: Stream): { text: string; timestamps?: number[] };
  };
  SpeakerEmbeddingExtractor: new (
    config: object,
  ) => {
    createStream(): Stream;
    isReady(stream: Stream): boolean;
    compute(stream: Stream): Float32Array;
  };
};

/** A voice is looked at for so many seconds of an utterance at most. */
const MOST_VOICE_SECONDS = 20;
/** How long the last sound of an utterance counts, in seconds: the package tells when it begins alone. */
const LAST_SOUND_SECONDS = 0.3;
/** Silence that ends an utterance, in seconds; the forced cut is longer. */
const END_SILENCE_SECONDS = 0.6;

/** Loads the package that a model was found with. */
export function loadSherpa({ package_entry }: SherpaModel): Sherpa {
  return createRequire(import.meta.url)(package_entry) as Sherpa;
}

/** Turns samples as bytes into what was said, in seconds of the audio. Throws what the package throws. */
export async function* recognize(
  sherpa: Sherpa,
  model: SherpaModel,
  audio: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<EngineSegment> {
  const recognizer = new sherpa.OnlineRecognizer(recognizerConfig(model));
  const voices = model.speaker === null ? null : voicesOf(sherpa, model.speaker);
  const stream = recognizer.createStream();
  const samples = new Samples();
  let begin = 0;
  let given = 0;
  let heard: Float32Array[] = [];
  const utterance = (): EngineSegment | null => {
    const { text, timestamps = [] } = recognizer.getResult(stream);
    const voice = heard;
    const from = begin / SAMPLE_RATE;
    const until = given / SAMPLE_RATE;
    begin = given;
    heard = [];
    if (text.trim() === '') return null;
    const [first = 0, last = until - from] = [timestamps[0], timestamps.at(-1)];
    const segment = { start: from + first, end: Math.min(until, from + last + LAST_SOUND_SECONDS), text };
    return voices === null ? segment : { ...segment, speaker: voices(voice) };
  };
  const decode = () => {
    while (recognizer.isReady(stream)) recognizer.decode(stream);
  };
  for await (const bytes of audio) {
    const pcm = samples.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    const floats = new Float32Array(pcm);
    // In place: `Float32Array.from` with a function takes thirty times as long.
    for (let at = 0; at < floats.length; at += 1) floats[at]! /= 32_768;
    stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples: floats });
    given += pcm.length;
    if (voices !== null && given - begin < MOST_VOICE_SECONDS * SAMPLE_RATE) heard.push(floats);
    decode();
    if (!recognizer.isEndpoint(stream)) continue;
    const said = utterance();
    recognizer.reset(stream);
    if (said !== null) yield said;
  }
  stream.inputFinished();
  decode();
  const said = utterance();
  if (said !== null) yield said;
}

function recognizerConfig({ encoder, decoder, joiner, tokens }: SherpaModel): object {
  return {
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: 80 },
    modelConfig: {
      transducer: { encoder, decoder, joiner },
      ...{ tokens, numThreads: 2, provider: 'cpu', debug: 0 },
    },
    decodingMethod: 'greedy_search',
    enableEndpoint: true,
    rule1MinTrailingSilence: 2.4,
    rule2MinTrailingSilence: END_SILENCE_SECONDS,
    rule3MinUtteranceLength: 20,
  };
}

function voicesOf(sherpa: Sherpa, model: string): (heard: readonly Float32Array[]) => string {
  const extractor = new sherpa.SpeakerEmbeddingExtractor({ model, numThreads: 1, debug: false });
  const clusters = new SpeakerClusters();
  let last = 'S1';
  return (heard) => {
    const stream = extractor.createStream();
    for (const samples of heard) stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples });
    stream.inputFinished();
    // Too little for the model: most likely whoever spoke before.
    if (!extractor.isReady(stream)) return last;
    last = clusters.speakerOf(extractor.compute(stream));
    return last;
  };
}
