import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fiberAnswer } from '../cli/answers.ts';
import { makeRepository } from '../fixtures/repository.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let scratch: ScratchFolder;
let project_dir: string | undefined;
beforeEach(async () => {
  served = await serveRoutes();
  scratch = scratchFolder();
  served.callers.poller.answers.fiber = () => ({ fiber: fiberAnswer({ project_dir }) });
});
afterEach(async () => {
  await served.stop();
  scratch.remove();
});
const ask = async (query = 'fiber=work/loader') => (await served.get(`/api/v1/uncommitted?${query}`)).json;

describe('GET /uncommitted', () => {
  it('tells what the folder of the fiber has that no commit has', async () => {
    project_dir = makeRepository(join(scratch.path, 'repo')).path;
    scratch.write('repo/a.txt', 'a\n');
    const work = { state: 'read', repo: project_dir, branch: 'main', files: [], untracked: ['a.txt'] };
    expect(await ask()).toEqual({
      ...{ host: 'host-a', fiber_id: 'work/loader', uid: fiberAnswer().uid, folder: project_dir },
      work: { ...work, truncated: false },
    });
    expect(await ask('fiber=work/loader&patch=1')).toMatchObject({ work });
  });

  it('says why there is nothing to tell', async () => {
    project_dir = undefined;
    expect(await ask()).toMatchObject({ folder: null, work: { state: 'no_folder' } });
    project_dir = join(scratch.path, 'gone');
    expect(await ask()).toMatchObject({ folder: project_dir, work: { state: 'folder_missing' } });
    project_dir = scratch.mkdir('plain');
    expect(await ask()).toMatchObject({ work: { state: 'no_repository' } });
  });

  it.each(['', 'fiber=', 'fiber=a&patch=some'])('refuses %s', async (query) => {
    expect((await served.get(`/api/v1/uncommitted?${query}`)).status).toBe(400);
  });
});
