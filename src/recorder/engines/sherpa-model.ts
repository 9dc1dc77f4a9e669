import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CodedError, messageOf } from '../../base/errors.ts';

/** The package with the native code; the operator installs it, since nobody else needs it. */
const PACKAGE = 'sherpa-onnx-node';

/** A streaming transducer model of sherpa-onnx, by its files. */
export type SherpaModel = {
  encoder: string;
  decoder: string;
  joiner: string;
  tokens: string;
  /** A speaker embedding model; null where speakers are not told apart. */
  speaker: string | null;
  /** The entry of the package. */
  package_entry: string;
};

/**
 * The model in a folder, and the package that runs it, which is looked for in the folder and then where this program is
 * installed. The native code ends its process on some faults, so that nothing is given to it unseen. Throws
 * `invalid_config`.
 */
export function findSherpaModel(
  folder: string,
  resolve: (from: string) => string = resolvePackage,
): SherpaModel {
  const names = namesIn(folder);
  const file = (part: string) => {
    const found = names.filter((name) => name.startsWith(part) && name.endsWith('.onnx')).sort();
    const name = found.find((one) => one.endsWith('.int8.onnx')) ?? found[0];
    return name === undefined ? null : join(folder, name);
  };
  const required = (part: string) => {
    const found = part.endsWith('.txt') ? (names.includes(part) ? join(folder, part) : null) : file(part);
    if (found !== null) return found;
    const missing = part.endsWith('.txt') ? part : `${part}*.onnx`;
    throw unusable(
      `finds no ${missing} in ${folder}; unpack a streaming transducer model there, or correct SVC_RECORDER_MODELS`,
    );
  };
  return {
    encoder: required('encoder'),
    decoder: required('decoder'),
    joiner: required('joiner'),
    tokens: required('tokens.txt'),
    speaker: file('speaker'),
    package_entry: resolve(folder),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw unusable(`cannot read the folder ${folder} (${messageOf(error)}); correct SVC_RECORDER_MODELS`);
  }
}

function resolvePackage(folder: string): string {
  for (const from of [join(folder, 'from.js'), import.meta.url]) {
    try {
      return createRequire(from).resolve(PACKAGE);
    } catch {
      // Not installed there.
    }
  }
  throw unusable(`needs the package ${PACKAGE}; run: npm install --prefix ${folder} ${PACKAGE}`);
}

function unusable(why: string): CodedError {
  return new CodedError('invalid_config', `sherpa-onnx ${why}`);
}
