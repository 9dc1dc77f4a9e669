import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger, silentLogger } from '../../../src/base/logger.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { AgentsOnDisk } from '../../../src/harness/agents/agents-on-disk.ts';
import { answeringDisks, remoteDisk } from '../../kit/answering-disks.ts';
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
    disks: answeringDisks,
    logger,
  });
  await agents.look();
  const ids = () => agents.registry.agents.map((one) => one.id);
  expect(agents.registry).toBe(agents.registry);
  scratch.write('agents.json', agent('first'));
  expect(ids()).toContain('first');
  expect(agents.registry).toBe(agents.registry);
  scratch.write('agents.json', agent('another'));
  expect(ids()).toContain('another');
  scratch.write('agents.json', '{');
  expect(ids()).toContain('another');
  expect(agents.registry.problem).toMatchObject({ code: 'invalid_config' });
  expect(said).toHaveLength(1);
  scratch.write('agents.json', agent('mended'));
  expect(ids()).toContain('mended');
  expect(ids()).not.toContain('another');
  expect(agents.registry.problem).toBeNull();
});

it('[RPL-5] goes on with the agents it knows while their disk does not answer, and has none before that ever did', async () => {
  let answers = false;
  const agents = new AgentsOnDisk(readSettings({ SVC_CONFIG_DIR: scratch.path }), {
    disks: remoteDisk(() => answers),
    logger: silentLogger,
  });
  const ids = () => agents.registry.agents.map((one) => one.id);
  scratch.write('agents.json', agent('first'));
  expect(await agents.look()).toBe(false);
  expect(ids).toThrow('never read');
  answers = true;
  expect(await agents.look()).toBe(true);
  expect(ids()).toContain('first');
  answers = false;
  scratch.write('agents.json', agent('another'));
  expect(await agents.look()).toBe(false);
  expect(ids()).toContain('first');
  answers = true;
  await agents.look();
  expect(ids()).toContain('another');
});
