import { isAbsolute } from 'node:path';
import { CodedError, isCoded, messageOf } from '../../base/errors.ts';
import { findSherpaModel } from '../../recorder/engines/sherpa-model.ts';
import { loadSherpa, recognize } from '../../recorder/engines/sherpa-recognizer.ts';
import { option, required } from '../command-line/options.ts';
import { defineVerb, EXIT } from '../command-line/verb.ts';

/** `svc recognize`: the engine of `svc recorder` that runs a model of sherpa-onnx, in a process of its own. */
export const verb = defineVerb({
  summary: 'Turn audio on standard input into text by a model (used by `svc recorder`)',
  options: {
    models: required(
      option('--models <dir>', 'folder with a model of sherpa-onnx', { completes: 'folders' }),
    ),
  },
  examples: [
    [
      'svc recognize --models /srv/models/zipformer <audio.raw',
      'a line of JSON for each utterance: b, d and t for its begin, its duration and its text',
    ],
  ],
  page: 'recorder.md',
  no_json: 'each line that it prints is JSON already',
  async run(context, { models }) {
    if (!isAbsolute(models))
      throw new CodedError('invalid_request', `${models} is not an absolute path; name the folder whole`);
    const model = findSherpaModel(models);
    const audio = context.stdin as AsyncIterable<Buffer>;
    try {
      for await (const { start, end, text, speaker } of recognize(loadSherpa(model), model, audio))
        context.out(`${JSON.stringify({ b: start, d: end - start, t: text, speaker })}\n`);
    } catch (error) {
      if (isCoded(error)) throw error;
      throw new CodedError(
        'invalid_config',
        `sherpa-onnx failed (${messageOf(error)}); see that ${models} holds a streaming transducer model`,
      );
    }
    return EXIT.ok;
  },
});
