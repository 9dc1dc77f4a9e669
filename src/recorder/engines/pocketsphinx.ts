import { statSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../../base/errors.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import type { EngineProgram } from './child-engine.ts';
import { continuousReader, liveLine } from './pocketsphinx-lines.ts';

/** Where packages put the English model. */
const MODEL_FOLDERS = ['/usr/share/pocketsphinx/model/en-us', '/usr/local/share/pocketsphinx/model/en-us'];
const LOAD_MS = 30_000;

/**
 * PocketSphinx as it is installed: `pocketsphinx` of version 5, or `pocketsphinx_continuous` of version 0.8. `grammar` is a
 * JSGF file that says all that can be said. Throws `invalid_config`.
 */
export async function findPocketSphinx(options: {
  path: string;
  grammar: string | null;
  model_folders?: readonly string[];
}): Promise<EngineProgram> {
  const { path, grammar, model_folders = MODEL_FOLDERS } = options;
  const live = await findExecutable('pocketsphinx', path);
  const file = live ?? (await findExecutable('pocketsphinx_continuous', path));
  if (file === null)
    throw unusable('is not installed; on Debian: apt-get install pocketsphinx pocketsphinx-en-us');
  const model = model_folders.find((folder) => isFile(join(folder, 'en-us/mdef')));
  if (model === undefined)
    throw unusable('has no English model; on Debian: apt-get install pocketsphinx-en-us');
  if (grammar !== null && !isFile(grammar))
    throw unusable(`needs the grammar ${grammar}, which is no file; correct SVC_RECORDER_GRAMMAR`);
  const models = [
    ...['-hmm', join(model, 'en-us'), '-dict', join(model, 'cmudict-en-us.dict')],
    ...(grammar === null ? ['-lm', join(model, 'en-us.lm.bin')] : ['-jsgf', grammar]),
  ];
  return {
    name: live === null ? 'pocketsphinx 0.8' : 'pocketsphinx 5',
    diarizes: false,
    caveat: grammar === null ? 'English, wrong in noise' : 'knows the sentences of its grammar alone',
    file,
    args:
      live === null
        ? ['-infile', '/dev/stdin', '-time', 'yes', ...models]
        : [...models, '-loglevel', 'ERROR', 'live', '-'],
    load_ms: LOAD_MS,
    reader: () => (live === null ? continuousReader() : liveLine),
    fault,
  };
}

function unusable(why: string): CodedError {
  return new CodedError('invalid_config', `PocketSphinx ${why}`);
}

/** Its last complaint; without one, its last words. */
function fault(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  const said =
    lines.findLast((line) => /^(?:ERROR|FATAL)/.test(line)) ?? lines.findLast((line) => line !== '');
  return `it ended${said === undefined ? '' : `: ${said.slice(0, 300)}`}`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
