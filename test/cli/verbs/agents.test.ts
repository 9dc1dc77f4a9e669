import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentsReplySchema } from '../../../src/contract/agent.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { runInProcess } from '../in-process.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const agents = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  runInProcess(['agents', ...args], { SVC_CONFIG_DIR: scratch.path, ...env });

it('[RPL-5] svc agents --json prints the effective registry', async () => {
  scratch.write('agents.json', { agents: [{ id: 'mine', harness: 'pi', default: true }] });
  const { out, code } = await agents(['--json']);
  const reply = agentsReplySchema.parse(JSON.parse(out));
  expect(code).toBe(0);
  expect(reply.default).toBe('mine');
  expect(reply.agents.map((agent) => agent.id)).toContain('claude-opus');
});

it('svc agents prints one agent per line and marks the default', async () => {
  scratch.write('agents.json', {
    builtins: 'restrict',
    agents: [{ id: 'a', harness: 'pi', aliases: ['b', 'c'] }],
  });
  expect((await agents([])).out).toBe('a (default)\tpi\t(its own)\t(its own)\tb, c\n');
});

it('[OPF-3] svc agents refuses an invalid file and names it', async () => {
  const candidate = scratch.write('candidate.json', '{"agents": 1}');
  await expect(agents(['--json'], { SVC_AGENTS_FILE: candidate })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(candidate),
  });
});

describe('svc agents add', () => {
  const file = () => readFileSync(join(scratch.path, 'agents.json'), 'utf8');

  it('[OPF-3] adds an entry and keeps the text of the rest, but for the mark of the default', async () => {
    scratch.write(
      'agents.json',
      '{\n  "agents": [\n    { "id": "a", "harness": "pi", "default": true }\n  ],\n  "mine": 1\n}\n',
    );
    const added = await agents([
      'add',
      'b',
      '--harness',
      'claude',
      '--model',
      'opus',
      '--effort',
      'high',
      '--default',
    ]);
    expect(added).toMatchObject({ code: 0, out: 'b: claude, opus, the default\n' });
    expect(JSON.parse(file())).toEqual({
      agents: [
        { id: 'a', harness: 'pi' },
        { id: 'b', harness: 'claude', model: 'opus', default_effort: 'high', default: true },
      ],
      mine: 1,
    });
    expect(file()).toContain('"mine": 1');
    expect(agentsReplySchema.parse(JSON.parse((await agents(['--json'])).out)).default).toBe('b');
  });

  it('makes a file, and says that the program is not installed', async () => {
    const { err } = await agents(
      ['add', 'b', '--harness', 'pi', '--cli', '/none/pi', '--arg', '--fast', '--arg=-x'],
      { PATH: '' },
    );
    expect(err).toBe('svc: "/none/pi" is not installed here; install it, or correct --cli\n');
    expect(JSON.parse(file()).agents).toEqual([
      { id: 'b', harness: 'pi', cli: '/none/pi', args: ['--fast', '-x'] },
    ]);
  });

  it.each([
    [['add', 'a', '--harness', 'pi'], 'conflict'],
    [['add', 'claude-opus', '--harness', 'claude'], 'conflict'],
    [['add', 'n', '--harness', 'claude', '--effort', 'odd'], 'effort_unknown'],
  ])('refuses %j, and changes nothing', async (args, code) => {
    scratch.write('agents.json', { agents: [{ id: 'a', harness: 'pi' }] });
    const before = file();
    await expect(agents(args)).rejects.toMatchObject({ code });
    expect(file()).toBe(before);
  });
});

describe('svc agents init', () => {
  it('writes the agents whose programs are here, with their versions, and never replaces a file', async () => {
    scratch.write('bin/codex', '#!/bin/sh\necho "codex-cli 0.169.0"\n', 0o755);
    scratch.write('bin/pi', '#!/bin/sh\nexit 1\n', 0o755);
    const env = { PATH: `${join(scratch.path, 'bin')}:/usr/bin:/bin` };
    const { out } = await agents(['init', '--json'], env);
    const bin = (name: string) => join(scratch.path, 'bin', name);
    expect(JSON.parse(out)).toMatchObject({
      file: join(scratch.path, 'agents.json'),
      agents: [
        { id: 'codex', cli: bin('codex'), version: '0.169.0' },
        { id: 'codex-sol' },
        { id: 'codex-terra' },
        { id: 'pi', cli: bin('pi'), version: null },
      ],
    });
    const listed = agentsReplySchema.parse(JSON.parse((await agents(['--json'])).out));
    expect(listed.agents.map(({ id }) => id)).toEqual(['codex', 'codex-sol', 'codex-terra', 'pi']);
    expect(listed.default).toBe('codex');
    await expect(agents(['init'], env)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/; add to it with: svc agents add <id> --harness <name>$/),
    });
  });

  it('writes nothing where nothing is installed, and says what to install', async () => {
    await expect(agents(['init'], { PATH: '/none' })).rejects.toMatchObject({
      code: 'agent_not_found',
      message: expect.stringContaining('npm install'),
    });
    expect(existsSync(join(scratch.path, 'agents.json'))).toBe(false);
  });
});
