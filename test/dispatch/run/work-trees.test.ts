import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Run } from '../../../src/dispatch/run/run.ts';
import { WorkTrees } from '../../../src/dispatch/run/work-trees.ts';
import type { DirectoryLook } from '../../../src/dispatch/world/world.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const shown = (id: string) => daemon.row(id)?.shares_folder_with;

describe('workers in one work tree', () => {
  it('[DSP-6] are shown on the rows of each other, and no longer once one of them has ended', async () => {
    world.directories.set('/srv/app', { kind: 'directory', real: '/srv/app', tree: '/srv/app' });
    world.directories.set('/srv/app/docs', { kind: 'directory', real: '/srv/app/docs', tree: '/srv/app' });
    world.directories.set('/home/app', { kind: 'directory', real: '/srv/app', tree: '/srv/app' });
    world.fiber('code', { project_dir: '/srv/app' });
    await round();
    expect(shown('code')).toBeUndefined();
    world.fiber('docs', { project_dir: '/srv/app/docs' });
    world.fiber('linked', { project_dir: '/home/app' });
    world.fiber('apart', { project_dir: '/srv/apart' });
    await round();
    await round();
    expect([shown('code'), shown('docs'), shown('linked'), shown('apart')]).toEqual([
      ['docs', 'linked'],
      ['code', 'linked'],
      ['code', 'docs'],
      undefined,
    ]);
    for (const id of ['docs', 'linked']) await world.run(daemon.dispatcher.kills.kill(id));
    expect([shown('code'), shown('docs')]).toEqual([undefined, undefined]);
  });

  it('are shown so too where their folder is no repository', async () => {
    for (const id of ['a', 'b']) world.fiber(id, { project_dir: '/srv/plain' });
    await round();
    await round();
    expect([shown('a'), shown('b')]).toEqual([['b'], ['a']]);
  });

  it('[DSP-4] are known to the next daemon without a look at their folders', async () => {
    for (const id of ['a', 'b']) world.fiber(id, { project_dir: '/srv/plain' });
    await round();
    daemon = world.boot({ released: true });
    daemon.world.lookAtDirectory = async (path) => {
      throw new Error(`${path} was looked at`);
    };
    await round();
    await round();
    expect([shown('a'), shown('b')]).toEqual([['b'], ['a']]);
  });
});

describe('the work tree of a claimed session', () => {
  it('[DSP-4] is looked for once its disk answers, once, and kept; of a started worker it is not looked for', async () => {
    const claimed = { key: 'a', launch_id: 'l-1', project_dir: '/srv/app', claim: 'person' } as Run;
    const started = { key: 'b', launch_id: 'l-2', project_dir: '/srv/b' } as Run;
    const looks: DirectoryLook[] = [
      { kind: 'silent', after_ms: 1, place: '/srv' },
      { kind: 'directory', real: '/srv/app/docs', tree: '/srv/app' },
    ];
    const asked: string[] = [];
    const written: object[] = [];
    const moved: string[] = [];
    const trees = new WorkTrees(
      {
        lookAtDirectory: async (path) => {
          asked.push(path);
          return looks.shift()!;
        },
        runDirectories: { update: (...change: unknown[]) => void written.push(change) } as never,
        logger: silentLogger,
      },
      { all: () => [claimed, started] } as never,
      (keys) => moved.push(...keys),
    );
    for (let time = 0; time < 3; time += 1) await trees.look();
    expect(asked).toEqual(['/srv/app', '/srv/app']);
    expect(claimed.work_tree).toBe('/srv/app');
    expect(written).toEqual([['l-1', { work_tree: '/srv/app' }]]);
    expect(moved).toEqual(['a']);
  });

  it('is shown though it could not be kept, and a look that fails ends nothing', async () => {
    const [kept, failed] = ['a', 'b'].map(
      (key) => ({ key, launch_id: key, project_dir: `/srv/${key}`, claim: 'person' }) as Run,
    );
    const moved: string[] = [];
    const trees = new WorkTrees(
      {
        lookAtDirectory: async (path) => {
          if (path === '/srv/b') throw new Error('the pool of looks is gone');
          return { kind: 'directory', real: path, tree: path };
        },
        runDirectories: {
          update: () => {
            throw new Error('ENOSPC');
          },
        } as never,
        logger: silentLogger,
      },
      { all: () => [kept!, failed!] } as never,
      (keys) => moved.push(...keys),
    );
    await trees.look();
    expect([kept!.work_tree, failed!.work_tree, moved]).toEqual(['/srv/a', undefined, ['a']]);
  });
});
