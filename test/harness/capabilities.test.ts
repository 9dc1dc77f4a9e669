import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCapabilities } from '../../src/harness/capabilities.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { agentOf } from './fixture-homes.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const setUp = () => {
  const file = scratch.write('bin/pi', '#!/bin/sh\n', 0o755);
  const world = { help: { kind: 'exited', stdout: '--session-id <id>' }, asked: 0 };
  const env = { PATH: join(scratch.path, 'bin') };
  const runner = {
    async run(call: { file: string; args: readonly string[]; cwd: string }) {
      // Nobody's project: its settings would be read.
      expect([call.cwd, call.file, ...call.args]).toEqual(['/', file, '--help']);
      world.asked += 1;
      return world.help;
    },
  };
  return { file, world, capabilities: createCapabilities({ runner, env }) };
};

it('a program is run once, and again after it was replaced', async () => {
  const { file, world, capabilities } = setUp();
  const pi = agentOf('pi');
  expect(capabilities.choosesSessionId(pi)).toBe(true);
  world.help.stdout = '--session <path>';
  await capabilities.probe(pi);
  await capabilities.probe(pi);
  expect(world.asked).toBe(1);
  expect(capabilities.choosesSessionId(pi)).toBe(false);
  world.help.stdout = '--session-id <id>';
  utimesSync(file, 1, 1);
  await capabilities.probe(pi);
  expect(capabilities.choosesSessionId(pi)).toBe(true);
});

it('a program that does not answer keeps its last result', async () => {
  const { world, capabilities } = setUp();
  world.help = { kind: 'timed_out', stdout: '' };
  await capabilities.probe(agentOf('pi'));
  expect(capabilities.choosesSessionId(agentOf('pi'))).toBe(true);
  await capabilities.probe(agentOf('pi', { cli: 'not-there' }));
  expect(world.asked).toBe(1);
});

it('claude always accepts an id and codex never does, so neither is run', async () => {
  const { world, capabilities } = setUp();
  for (const name of ['claude', 'codex'] as const) await capabilities.probe(agentOf(name));
  expect(world.asked).toBe(0);
  expect(capabilities.choosesSessionId(agentOf('claude'))).toBe(true);
  expect(capabilities.choosesSessionId(agentOf('codex'))).toBe(false);
});
