import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { initProject } from '../../src/fibers/init-project.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

describe('a folder that is made a project', () => {
  it('[WPL-15] becomes a store once, and not in a dry run', () => {
    const root = scratch.mkdir('dev');
    expect(initProject(`${root}/`, true)).toEqual({ root, initialised: true });
    expect(existsSync(join(root, '.fibers'))).toBe(false);
    expect(initProject(root, false)).toEqual({ root, initialised: true });
    expect(initProject(root, false)).toEqual({ root, initialised: false });
  });

  it('[WPL-15] is refused if it lies inside a store', () => {
    const root = scratch.mkdir('dev');
    initProject(root, false);
    const inside = join(root, '.fibers');
    for (const dry_run of [true, false])
      expect(() => initProject(inside, dry_run)).toThrow(
        expect.objectContaining({ code: 'project_dir_in_store' }),
      );
    expect(existsSync(join(inside, '.fibers'))).toBe(false);
  });

  it.each(['missing', 'a-file', 'relative/path', '/with\0null'])(
    '[ERR-5] is refused if it is not a folder: %s',
    (name) => {
      scratch.write('a-file', '');
      const path = name.includes('/') ? name : join(scratch.path, name);
      expect(() => initProject(path, false)).toThrow(
        expect.objectContaining({
          code: 'not_a_directory',
          message: expect.stringMatching(/^not a directory: /),
        }),
      );
      expect(existsSync(path.replace('\0', ''))).toBe(name === 'a-file');
    },
  );
});
