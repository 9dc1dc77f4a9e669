import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger, silentLogger } from '../../../src/base/logger.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { AgentsOnDisk } from '../../../src/harness/agents/agents-on-disk.ts';
import { builtinAgents } from '../../../src/harness/agents/builtin-agents.ts';
import type { PathCheck } from '../../../src/platform/disks.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const agent = (id: string) => ({ agents: [{ id, harness: 'claude', cli: '/opt/x' }] });

it('[RPL-5] reads the agents again only when their file changed, and keeps the last valid ones while it is broken', async () => {
  const said: string[] = [];
  const logger = createLogger({
    component: 'p',
    level: 'warn',
    destination: { write: (line) => void said.push(line) },
  });
  const agents = new AgentsOnDisk(readSettings({ SVC_CONFIG_DIR: scratch.path }), {
    disks: { check: async () => ({ kind: 'missing' }) },
    logger,
  });
  const now = async () => {
    await agents.look();
    return agents.registry;
  };
  const ids = async () => (await now()).agents.map((one) => one.id);
  expect(await now()).toBe(await now());
  scratch.write('agents.json', agent('first'));
  expect(await ids()).toContain('first');
  expect(await now()).toBe(await now());
  scratch.write('agents.json', agent('another'));
  expect(await ids()).toContain('another');
  scratch.write('agents.json', '{');
  expect(await ids()).toContain('another');
  expect((await now()).problem).toMatchObject({ code: 'invalid_config' });
  expect(said).toHaveLength(1);
  scratch.write('agents.json', agent('mended'));
  expect(await ids()).toContain('mended');
  expect(await ids()).not.toContain('another');
  expect((await now()).problem).toBeNull();
});

it('[RPL-5] goes on with the agents it knows while their disk does not answer, and with the built-in ones before it ever did', async () => {
  let answers = false;
  const disks = {
    check: async (): Promise<PathCheck> => (answers ? { kind: 'missing' } : { kind: 'unchecked' }),
  };
  const agents = new AgentsOnDisk(readSettings({ SVC_CONFIG_DIR: scratch.path }), {
    disks,
    logger: silentLogger,
  });
  const ids = () => agents.registry.agents.map((one) => one.id);
  scratch.write('agents.json', agent('first'));
  await agents.look();
  expect(ids()).toEqual(builtinAgents().map((one) => one.id));
  expect(agents.registry.problem?.message).toContain(`${scratch.path}/agents.json has not answered`);
  answers = true;
  await agents.look();
  expect(ids()).toContain('first');
  expect(agents.registry.problem).toBeNull();
  answers = false;
  scratch.write('agents.json', agent('another'));
  await agents.look();
  expect(ids()).toContain('first');
  answers = true;
  await agents.look();
  expect(ids()).toContain('another');
});
