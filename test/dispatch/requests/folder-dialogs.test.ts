import { chmodSync, existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderDialogs } from '../../../src/dispatch/requests/folder-dialogs.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { until } from '../../kit/until.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

function dialogs(script: string | null, limit_ms?: number): FolderDialogs {
  if (script !== null) chmodSync(scratch.write('bin/zenity', `#!/bin/sh\n${script}\n`), 0o755);
  const env = { PATH: `${scratch.path}/bin:/usr/bin:/bin`, DISPLAY: ':0' };
  return new FolderDialogs({ runner: createRunner(), env, ...(limit_ms !== undefined && { limit_ms }) });
}
const HERE = { title: 'Choose', start: '/' };

describe.skipIf(process.platform === 'darwin')('the folder dialog', () => {
  it('[WPL-20] answers the folder, or that it was dismissed', async () => {
    expect(await dialogs('echo /srv/dev').ask('a', HERE)).toEqual({ ok: true, path: '/srv/dev' });
    expect(await dialogs('exit 1').ask('a', HERE)).toEqual({ ok: false, cancelled: true });
  });

  it('[ERR-22] is refused where the host has no picker, or none that can be shown', async () => {
    const refused = { code: 'folder_picker_unavailable' };
    await expect(dialogs(null).ask('a', HERE)).rejects.toMatchObject(refused);
    const blind = dialogs('echo "cannot open display" >&2; exit 1');
    await expect(blind.ask('a', HERE)).rejects.toMatchObject(refused);
  });

  it('[LIM-13] is given up when nobody answers', async () => {
    await expect(dialogs('exec sleep 30', 200).ask('a', HERE)).rejects.toMatchObject({
      code: 'deadline_exceeded',
    });
  });

  it('is one at a time, and goes with whoever asked for it', async () => {
    const shown = `${scratch.path}/shown`;
    const open = dialogs(`touch ${shown}; exec sleep 30`);
    const asked = open.ask('a', HERE);
    await until('the dialog', () => existsSync(shown));
    await expect(open.ask('b', HERE)).rejects.toMatchObject({ code: 'dialog_open' });
    open.end('b');
    open.end('a');
    expect(await asked).toEqual({ ok: false, cancelled: true });
    expect((await open.find(false))?.program).toBe('zenity');
  });
});
