import { join } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import { packageRoot } from '../../platform/package-root.ts';
import type { EngineProgram } from './child-engine.ts';
import { liveLine } from './pocketsphinx-lines.ts';
import { findSherpaModel } from './sherpa-model.ts';

/** Large models take their time. */
const LOAD_MS = 120_000;

/** `svc recognize` with the model in a folder; null for none. Throws `invalid_config`. */
export function findSherpa(models: string | null, resolve?: (from: string) => string): EngineProgram {
  if (models === null)
    throw new CodedError(
      'invalid_config',
      'sherpa-onnx has no model; unpack a streaming transducer model into a folder and name it by SVC_RECORDER_MODELS',
    );
  const { speaker } = findSherpaModel(models, resolve);
  return {
    name: 'sherpa-onnx',
    diarizes: speaker !== null,
    caveat: null,
    file: process.execPath,
    args: [join(packageRoot(), 'src/cli/launcher.mjs'), 'recognize', '--models', models],
    load_ms: LOAD_MS,
    reader: () => liveLine,
    fault: (stderr) =>
      stderr
        .split('\n')
        .findLast((line) => line.trim() !== '')
        ?.trim() ?? 'it ended',
  };
}
