import { findExecutable } from '../../../platform/find-executable.ts';
import { describeEngines } from '../../../recorder/engines/engines.ts';
import { engineSettings } from '../../recorder-engines.ts';
import { type Check, fail, ok, warn } from './check.ts';

/** Which program records meetings; of the bundled one, which engine turns speech into text, and what that cannot do. */
export const checkRecorder: Check = async ({ settings, env }) => {
  const { recorder } = settings;
  if (recorder !== null)
    return [
      (await findExecutable(recorder, env.PATH ?? '')) === null
        ? fail(
            'recorder',
            `no meeting can be recorded: SVC_RECORDER names ${recorder}, which is not an executable program`,
            'correct it, or unset it',
          )
        : ok('recorder', `meetings are recorded by ${recorder}`),
    ];
  const engines = await describeEngines(engineSettings(settings, env));
  const chosen = engines.find((engine) => engine.chosen);
  if (chosen === undefined) {
    const said = engines.find(({ id }) => id === settings.recorder_engine)?.says ?? 'no engine can be used';
    const [what, mend] = whatAndMend(said);
    return [fail('recorder', `no meeting can be recorded: ${what}`, `${mend}, or unset SVC_RECORDER_ENGINE`)];
  }
  const used = `a meeting is recorded with: ${chosen.says}`;
  const isAuto = settings.recorder_engine === 'auto';
  const findings =
    chosen.id === 'vad' && isAuto
      ? [warn('recorder', used, 'for text on Debian: apt-get install pocketsphinx pocketsphinx-en-us')]
      : [ok('recorder', used)];
  const sherpa = engines.find(({ id, usable }) => id === 'sherpa' && !usable);
  if (settings.recorder_models === null || sherpa === undefined || !isAuto) return findings;
  const [what, mend] = whatAndMend(sherpa.says);
  return [
    ...findings,
    warn('recorder', `its model is not used: ${what}`, `${mend}, or unset SVC_RECORDER_MODELS`),
  ];
};

/** The halves of an error, which names its fix after a semicolon. */
function whatAndMend(sentence: string): [string, string] {
  const at = sentence.indexOf('; ');
  return at < 0 ? [sentence, 'see ops/recorder.md'] : [sentence.slice(0, at), sentence.slice(at + 2)];
}
