import { describe, expect, it } from 'vitest';
import { sharedFolderWarnings, workersIn } from '../../../../src/cli/verbs/lifecycle/shared-folder.ts';

const row = (id: string, project_dir: string, works = true) =>
  ({ id, project_dir, ...(works ? { runtime: {} } : {}) }) as never;

describe('a folder that a fiber is set to work in', () => {
  it.each([
    ['/srv/app', ['same', 'below', 'above']],
    ['/srv/app/docs', ['same', 'below', 'above']],
    ['/srv/ap', ['above']],
    ['/home', []],
  ])('%s is shared with %j', (folder, ids) => {
    const rows = [
      row('same', '/srv/app'),
      row('below', '/srv/app/docs'),
      row('above', '/srv'),
      row('beside', '/srv2/app'),
      row('idle', '/srv/app', false),
      row('me', '/srv/app'),
    ];
    expect(workersIn(rows, 'me', folder)).toEqual(ids);
  });

  it('[DSP-6] is warned of with the command that gives another one', async () => {
    const get = (async () => ({ fibers: [row('map-tiles', '/srv/app')] })) as never;
    const fiber = { id: 'link-audit', project_dir: '/srv/app' };
    expect(await sharedFolderWarnings({ get }, fiber, 'svc')).toEqual([
      expect.stringMatching(
        /^map-tiles works in this folder too.*svc reshape link-audit --project-dir <dir>$/,
      ),
    ]);
    expect(await sharedFolderWarnings({ get }, fiber, 'svc', { started: true })).toEqual([
      expect.stringContaining('its next worker gets another folder with: svc reshape link-audit'),
    ]);
    expect(await sharedFolderWarnings({ get }, { id: 'a' }, 'svc')).toEqual([]);
  });

  it('[DSP-6] is not warned of where the next start makes a git worktree', async () => {
    const get = (async () => ({ fibers: [row('map-tiles', '/srv/app')] })) as never;
    const svc = { kind: 'oneshot', worktree: 'new' } as const;
    const fiber = { id: 'link-audit', project_dir: '/srv/app', svc };
    expect(await sharedFolderWarnings({ get }, fiber, 'svc')).toEqual([]);
  });

  it('names no more fibers than a person reads', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const get = (async () => ({ fibers: names.map((name) => row(name, '/srv/app')) })) as never;
    expect(await sharedFolderWarnings({ get }, { id: 'me', project_dir: '/srv/app' }, 'svc')).toEqual([
      expect.stringMatching(/^a, b, c and 2 more work in this folder too/),
    ]);
  });

  it('[DSP-6] is warned of with a git worktree where it is in a repository', async () => {
    const project_dir = new URL('.', import.meta.url).pathname.replace(/\/$/, '');
    const get = (async () => ({ fibers: [row('map-tiles', project_dir)] })) as never;
    expect(await sharedFolderWarnings({ get }, { id: 'link-audit', project_dir }, 'svc')).toEqual([
      expect.stringMatching(/a git worktree of its own is given with: svc reshape link-audit --worktree$/),
    ]);
  });
});
