import { chmodSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestHome } from '../kit/test-home.ts';

const COMPOSER = fileURLToPath(new URL('../faults/composer-agent.mjs', import.meta.url));
const SCRIPT = `#!/bin/sh
[ "$1" = --version ] && { echo '2.1.0 (an agent of the tests)'; exit 0; }
exec '${process.execPath}' '${COMPOSER}' "$HOME/swallowed.jsonl" "$@"
`;

/** Adds an agent to a home that takes messages in its terminal and answers them, under the id `composer`. */
export function addComposer(home: TestHome): void {
  const file = JSON.parse(readFileSync(home.path('config/agents.json'), 'utf8'));
  const cli = home.write('composer.sh', SCRIPT);
  chmodSync(cli, 0o755);
  file.agents.push({
    id: 'composer',
    harness: 'claude',
    cli,
    args: [],
    // Its standard input is the terminal.
    prompt: 'argument',
    effort_levels: [],
    env: { CLAUDE_CONFIG_DIR: home.claude },
  });
  home.write('config/agents.json', file);
}
