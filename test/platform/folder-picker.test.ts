import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseFolder, type FolderPicker, findFolderPicker } from '../../src/platform/folder-picker.ts';
import { createRunner } from '../../src/platform/process.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

function program(name: FolderPicker['program'], script: string): FolderPicker {
  const file = scratch.write(
    `bin/${name}`,
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${scratch.path}/args\n${script}\n`,
  );
  chmodSync(file, 0o755);
  return { program: name, file };
}

const ask = (picker: FolderPicker, signal = new AbortController().signal, timeout_ms = 10_000) =>
  chooseFolder(picker, {
    title: '--help; $(x) "quoted"',
    start: scratch.path,
    runner: createRunner(),
    timeout_ms,
    signal,
  });

describe('the folder picker of a host', () => {
  it.each([
    { platform: 'linux', env: { DISPLAY: ':0' }, has: ['kdialog', 'zenity'], found: 'zenity' },
    {
      platform: 'linux',
      env: { WAYLAND_DISPLAY: 'w', XDG_CURRENT_DESKTOP: 'KDE' },
      has: ['kdialog', 'zenity'],
      found: 'kdialog',
    },
    { platform: 'linux', env: { DISPLAY: ':0' }, has: [], found: undefined },
    { platform: 'linux', env: {}, has: ['zenity'], found: undefined },
    { platform: 'darwin', env: {}, desktop: true, has: ['osascript'], found: 'osascript' },
    { platform: 'darwin', env: {}, has: ['osascript'], found: undefined },
  ] as const)(
    '[WPL-20] [REC-8] on $platform with $has and $env is $found',
    async ({ platform, env, has, found, ...rest }) => {
      for (const name of has) program(name, 'exit 0');
      const picker = await findFolderPicker({
        platform,
        env: { ...env, PATH: join(scratch.path, 'bin') },
        desktop: 'desktop' in rest,
      });
      expect(picker?.program).toBe(found);
    },
  );

  it.each([
    { name: 'zenity', args: ['--file-selection', '--directory', '--title=--help; $(x) "quoted"'] },
    { name: 'kdialog', args: ['--title=--help; $(x) "quoted"', '--getexistingdirectory'] },
    { name: 'osascript', args: ['-e', 'on run argv', '--help; $(x) "quoted"'] },
  ] as const)(
    '[WPL-20] $name is given each text as one argument, and its path is the answer',
    async ({ name, args }) => {
      expect(await ask(program(name, "echo '/srv/a b/'"))).toEqual({ kind: 'chosen', path: '/srv/a b' });
      const given = readFileSync(join(scratch.path, 'args'), 'utf8').split('\n');
      for (const argument of args) expect(given).toContain(argument);
    },
  );

  it.each([
    { name: 'zenity', script: 'exit 1' },
    { name: 'kdialog', script: 'exit 1' },
    { name: 'osascript', script: 'echo "execution error: User canceled. (-128)" >&2; exit 1' },
  ] as const)('[WPL-20] a dismissed dialog of $name is no fault', async ({ name, script }) => {
    expect(await ask(program(name, script))).toEqual({ kind: 'cancelled' });
  });

  it.each([
    { name: 'zenity', script: 'echo "Gtk-WARNING **: cannot open display: :9" >&2; exit 1' },
    { name: 'osascript', script: 'echo "execution error: No user interaction allowed. (-1713)" >&2; exit 1' },
    { name: 'zenity', script: 'echo nowhere' },
    { name: 'kdialog', script: 'kill -6 $$' },
  ] as const)(
    '[ERR-22] a dialog of $name that could not be shown is not taken for a dismissal: $script',
    async ({ name, script }) => {
      expect(await ask(program(name, script))).toMatchObject({ kind: 'broken' });
    },
  );

  it('[LIM-13] has a timeout, and closes when its caller disconnects', async () => {
    const picker = program('zenity', 'exec sleep 30');
    expect(await ask(picker, undefined, 200)).toEqual({ kind: 'unanswered' });
    const gone = new AbortController();
    const asked = ask(picker, gone.signal);
    setTimeout(() => gone.abort(), 200);
    expect(await asked).toMatchObject({ kind: 'broken' });
  });
});
