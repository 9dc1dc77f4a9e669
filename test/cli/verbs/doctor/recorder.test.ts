import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/cli/verbs/doctor/check.ts';
import { checkRecorder } from '../../../../src/cli/verbs/doctor/recorder.ts';
import { readSettings } from '../../../../src/config/settings.ts';
import { createMachine, type Machine } from '../../kit.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

/** The findings with these settings, on a machine without an engine's programs. */
async function examine(given: NodeJS.ProcessEnv): Promise<Finding[]> {
  const env = { ...machine.env, PATH: machine.folder, ...given };
  return checkRecorder({ settings: readSettings(env), env } as unknown as Parameters<
    typeof checkRecorder
  >[0]);
}

describe('what svc doctor says of the recorder', () => {
  it('is what to install where speech is kept as sound alone', async () => {
    const [finding] = await examine({});
    expect(finding).toMatchObject({
      level: 'warn',
      what: expect.stringMatching(/^a meeting is recorded with: /),
      mend: 'for text on Debian: apt-get install pocketsphinx pocketsphinx-en-us',
    });
    expect(await examine({ SVC_RECORDER_ENGINE: 'vad' })).toMatchObject([{ level: 'ok', mend: null }]);
  });

  it('is why a chosen engine cannot be used, with the fix', async () => {
    expect(await examine({ SVC_RECORDER_ENGINE: 'pocketsphinx' })).toEqual([
      {
        name: 'recorder',
        level: 'fail',
        what: 'no meeting can be recorded: PocketSphinx is not installed',
        mend: 'on Debian: apt-get install pocketsphinx pocketsphinx-en-us, or unset SVC_RECORDER_ENGINE',
      },
    ]);
  });

  it('is why a model is not used, beside what is used in its place', async () => {
    const models = join(machine.folder, 'models');
    mkdirSync(models);
    expect(await examine({ SVC_RECORDER_MODELS: models })).toMatchObject([
      { level: 'warn', what: expect.stringMatching(/^a meeting is recorded with: /) },
      {
        level: 'warn',
        what: expect.stringMatching(/^its model is not used: sherpa-onnx /),
        mend: expect.stringMatching(/, or unset SVC_RECORDER_MODELS$/),
      },
    ]);
  });

  it('[MTG-3] is the recorder that is configured, and whether it can be run', async () => {
    const SVC_RECORDER = join(machine.folder, 'hark');
    expect(await examine({ SVC_RECORDER })).toEqual([
      {
        name: 'recorder',
        level: 'fail',
        what: `no meeting can be recorded: SVC_RECORDER names ${SVC_RECORDER}, which is not an executable program`,
        mend: 'correct it, or unset it',
      },
    ]);
    writeFileSync(SVC_RECORDER, '#!/bin/sh\n');
    chmodSync(SVC_RECORDER, 0o700);
    expect(await examine({ SVC_RECORDER })).toEqual([
      { name: 'recorder', level: 'ok', what: `meetings are recorded by ${SVC_RECORDER}`, mend: null },
    ]);
  });
});
