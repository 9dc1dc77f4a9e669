import { afterEach, beforeEach, expect, it } from 'vitest';
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
  expect((await agents([])).out).toBe(
    [
      'AGENT        HARNESS  MODEL      EFFORT     ALSO CALLED',
      'a (default)  pi       (its own)  (its own)  b, c',
      '',
    ].join('\n'),
  );
});

it('[OPF-3] svc agents refuses an invalid file and names it', async () => {
  const candidate = scratch.write('candidate.json', '{"agents": 1}');
  await expect(agents(['--json'], { SVC_AGENTS_FILE: candidate })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining(candidate),
  });
});
