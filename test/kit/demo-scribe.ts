import { readFileSync, writeFileSync } from 'node:fs';
import { programOf } from './built-package.ts';
import type { TestHome } from './test-home.ts';

/** Adds the agent of the demo to the agents of a home, by the name `scribe`: it takes notes of the meeting that it is given. */
export function addScribe(home: TestHome): void {
  const path = home.path('config', 'agents.json');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.agents.push({
    ...{ id: 'scribe', harness: 'claude', cli: process.execPath, effort_levels: [] },
    args: [programOf('launcher.mjs'), 'demo-agent', '--pace-ms', '50', '--playground', home.path()],
    env: { CLAUDE_CONFIG_DIR: home.path('claude-home') },
  });
  writeFileSync(path, JSON.stringify(file));
}
