import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeDataDir } from '../../src/config/data-dir.ts';
import { readSettings } from '../../src/config/settings.ts';

it.each(['SVC_DATA_DIR', 'SVC_CONFIG_DIR', 'SVC_TMUX_SOCKET', 'SVC_UI_DIST', 'SVC_EVENTS_FILE'])(
  'refuses a relative %s: the daemon, its workers and the shell have different working directories',
  (name) => {
    const mend = expect.objectContaining({
      code: 'invalid_config',
      message: `${name} is "here/x"; it takes an absolute path, or one that begins with ~/`,
    });
    expect(() => readSettings({ [name]: 'here/x' })).toThrow(mend);
    expect(() => readSettings({ [name]: '~/x' })).not.toThrow();
  },
);

it('[DSP-7] [DSP-8] accepts lists of absolute paths, and refuses others', () => {
  const { stores, projects } = readSettings({ SVC_STORES: ' /a/ , ~/b', SVC_PROJECTS: '/c d' });
  expect([stores, projects]).toEqual([['/a', join(homedir(), 'b')], ['/c d']]);
  expect(() => readSettings({ SVC_STORES: '/a,b' })).toThrow(
    'SVC_STORES is "/a,b"; it takes an absolute path',
  );
});

it('says how to fix a data folder that cannot be made', () => {
  expect(() => makeDataDir({ data_dir: '/dev/null/x' })).toThrow(
    /^the data folder \/dev\/null\/x cannot be made \(.*\); set SVC_DATA_DIR to a folder of yours$/,
  );
});
