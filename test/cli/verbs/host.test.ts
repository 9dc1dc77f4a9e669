import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hostVerb } from '../../../src/cli/verbs/host.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { runInProcess } from '../in-process.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const verbs = { Box: { host: async () => hostVerb({ hostname: () => 'Box.local' }) } };
const host = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  runInProcess(['host', ...args], { SVC_CONFIG_DIR: scratch.path, ...env }, { verbs });

it('[DSP-3] svc host prints the id alone, and writes nothing', async () => {
  expect(await host([])).toEqual({ out: 'box\n', err: '', code: 0 });
  expect(readdirSync(scratch.path)).toEqual([]);
});

it('[DSP-3] svc host --json shows the source of the id', async () => {
  scratch.write('host.json', { host: 'filed' });
  expect(JSON.parse((await host(['--json'])).out)).toEqual({ host: 'filed', source: 'file', contract: 1 });
  const fromEnvironment = await host(['--json'], { SVC_HOST: 'given' });
  expect(JSON.parse(fromEnvironment.out)).toEqual({ host: 'given', source: 'environment', contract: 1 });
});

it('[OPF-4] svc host refuses an invalid host file and names it', async () => {
  const candidate = scratch.write('candidate.json', '{"host": ""}');
  await expect(host(['--json'], { SVC_HOST_CONFIG_FILE: candidate })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(candidate),
  });
});
