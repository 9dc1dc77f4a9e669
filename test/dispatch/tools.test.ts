import { afterEach, beforeEach, expect, it } from 'vitest';
import { lookAtTools } from '../../src/dispatch/tools.ts';
import { runProcess } from '../../src/platform/process.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

it('[P31] asks each program for its version in a folder that is nobody’s project', async () => {
  const cli = scratch.write('agent', '#!/bin/sh\necho "$1 in $(pwd)"\n', 0o755);
  const silent = scratch.write('silent', '#!/bin/sh\nexit 1\n', 0o755);
  const { tools } = await lookAtTools({ run: runProcess }, [{ cli }, { cli: silent }, { cli: '/no/such' }]);
  expect(process.cwd()).not.toBe('/');
  expect(tools.slice(-3)).toEqual([
    { name: cli, path: cli, version: '--version in /' },
    { name: silent, path: silent, version: null },
    { name: '/no/such', path: null, version: null },
  ]);
});

it('keeps the beginning of what a program says at length in place of a version', async () => {
  const cli = scratch.write('agent', `#!/bin/sh\necho "${'x'.repeat(3_000)}"\n`, 0o755);
  const { tools } = await lookAtTools({ run: runProcess }, [{ cli }]);
  expect(tools.at(-1)?.version).toBe(`${'x'.repeat(99)}…`);
});
