import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { createAgentsOnDisk } from '../../../src/harness/agents/registry.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const agent = (id: string) => ({ agents: [{ id, harness: 'claude', cli: '/opt/x' }] });

it('[RPL-5] reads the agents again only when their file changed, and keeps the last valid ones while it is broken', () => {
  const said: string[] = [];
  const logger = createLogger({
    component: 'p',
    level: 'warn',
    destination: { write: (line) => void said.push(line) },
  });
  const agents = createAgentsOnDisk(readSettings({ SVC_CONFIG_DIR: scratch.path }), logger);
  const ids = () => agents().agents.map((one) => one.id);
  expect(agents()).toBe(agents());
  scratch.write('agents.json', agent('first'));
  expect(ids()).toContain('first');
  expect(agents()).toBe(agents());
  scratch.write('agents.json', agent('another'));
  expect(ids()).toContain('another');
  scratch.write('agents.json', '{');
  expect(ids()).toContain('another');
  expect(agents().problem).toMatchObject({ code: 'invalid_config' });
  expect(said).toHaveLength(1);
  scratch.write('agents.json', agent('mended'));
  expect(ids()).toContain('mended');
  expect(ids()).not.toContain('another');
  expect(agents().problem).toBeNull();
});
