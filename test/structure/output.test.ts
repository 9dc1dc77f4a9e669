import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CLI = new URL('../../src/cli/', import.meta.url).pathname;
/** Ways to a terminal that do not go through the context of a verb. */
const PAST_THE_CONTEXT =
  /process\.(?:stdout|stderr)|\bconsole\b|\bwriteSync\(\s*[12]\b|\/dev\/(?:tty|stdout|stderr)|stdio: 'inherit'/;

it('prints stored text only in the place that escapes terminal control characters', () => {
  const past = readdirSync(CLI, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|cjs|mjs)$/.test(name))
    .filter((name) => PAST_THE_CONTEXT.test(readFileSync(join(CLI, name), 'utf8')))
    .sort();
  // What a hook prints is JSON for a program. The launcher says sentences of its own; `main.ts` is where the escaped text
  // leaves.
  expect(past).toEqual(['hook/run.cjs', 'launcher.mjs', 'main.ts']);
});

it('gives verbs no other context than the one that escapes', () => {
  const runs = readdirSync(CLI, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => /verb\.run\(/.test(readFileSync(join(CLI, name), 'utf8')));
  expect(runs).toEqual(['command-line/commander.ts']);
  const text = readFileSync(join(CLI, 'command-line/run-verb.ts'), 'utf8');
  expect(text).toContain('const context = withSafeOutput(given);');
  expect(text).toContain('parseAndRun(argv, context,');
});
