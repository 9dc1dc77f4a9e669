import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCommands } from '../../../src/cli/command-line/command-table.ts';
import { renderReferencePage } from '../../../src/cli/command-line/reference-page.ts';
import { EXAMPLES, NO_JSON } from '../../../src/cli/examples.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { createMachine } from '../kit.ts';

const commands = await readCommands(VERBS);
const named = commands.map((command) => [command.path.join(' '), command] as const);

describe('the command table', () => {
  it('holds verbs and their second words', () => {
    expect(named.map(([name]) => name)).toEqual(
      expect.arrayContaining(['status', 'fiber add', 'daemon logs']),
    );
  });

  it.each(named)('svc %s has examples of itself', (name, command) => {
    expect(command.examples.length, `add one to src/cli/examples.ts`).toBeGreaterThan(0);
    for (const [line] of command.examples) expect(line).toContain(`svc ${name.split(' ')[0]}`);
  });

  it.each(named)('svc %s uses only its own options in its examples', (_, command) => {
    const own = command.options.flatMap(({ names }) => names);
    for (const [line] of command.examples)
      for (const [, option] of line.matchAll(/ (--?[a-z][a-z-]*)/g)) expect(own, line).toContain(option);
  });

  it.each(named)('svc %s describes each argument and option', (_, command) => {
    expect(command.summary).not.toBe('');
    for (const one of [...command.arguments, ...command.options])
      expect(one.description, JSON.stringify(one)).not.toBe('');
  });

  it.each(named)('svc %s takes --json or is said not to', (name, command) => {
    expect(command.no_json, 'add --json, or a reason to NO_JSON in src/cli/examples.ts').not.toBe('');
    if (command.no_json === null) expect(NO_JSON[name]).toBeUndefined();
  });

  it.each(named)('svc %s shows its examples in its help', async (_, command) => {
    const machine = createMachine();
    try {
      const { code, out } = await machine.svc(...command.path, '--help');
      expect(code).toBe(0);
      for (const [line] of command.examples) expect(out).toContain(line);
    } finally {
      machine.remove();
    }
  });

  it('has examples and reasons only of commands that exist', () => {
    const names = named.map(([name]) => name);
    for (const name of [...Object.keys(EXAMPLES), ...Object.keys(NO_JSON)]) expect(names).toContain(name);
  });

  it('ops/cli.md is up to date', () => {
    const page = readFileSync(new URL('../../../ops/cli.md', import.meta.url), 'utf8');
    expect(page, 'write it again with: npm run docs').toBe(renderReferencePage(commands));
  });
});
