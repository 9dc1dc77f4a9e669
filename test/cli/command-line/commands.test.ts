import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCommands } from '../../../src/cli/command-line/command-table.ts';
import { renderReferencePage } from '../../../src/cli/command-line/reference-page.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { createMachine } from '../kit.ts';

const commands = await readCommands(VERBS);
const named = commands.map((command) => [command.path.join(' '), command] as const);

describe('the command table', () => {
  it('has verbs and their subcommands', () => {
    expect(named.map(([name]) => name)).toEqual(
      expect.arrayContaining(['status', 'fiber add', 'daemon logs']),
    );
  });

  it.each(named)('svc %s has its own examples', (name, command) => {
    expect(command.verb.examples.length).toBeGreaterThan(0);
    for (const [line] of command.verb.examples) expect(line).toContain(`svc ${name.split(' ')[0]}`);
  });

  it.each(named)('svc %s uses only its own options in its examples', (_, command) => {
    const own = command.options.flatMap(({ names }) => names);
    for (const [line] of command.verb.examples)
      for (const [, option] of line.matchAll(/ (--?[a-z][a-z-]*)/g)) expect(own, line).toContain(option);
  });

  it.each(named)('svc %s describes each argument and option', (_, command) => {
    expect(command.verb.summary).not.toBe('');
    for (const one of [...command.arguments, ...command.options])
      expect(one.description, JSON.stringify(one)).not.toBe('');
  });

  it.each(named)('svc %s takes --json and describes its output, or says why not', (_, { verb, options }) => {
    const takes = options.some(({ names }) => names.includes('--json'));
    expect(takes).toBe(verb.json !== undefined);
    if (!takes) expect(verb.no_json).not.toBe('');
  });

  it.each(named)('svc %s names each argument and option uniquely', (_, { verb }) => {
    const places = [...Object.keys(verb.arguments), ...Object.keys(verb.options)];
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(named)('svc %s refers to a page that exists', (_, { verb }) => {
    if (verb.page !== undefined)
      expect(existsSync(new URL(`../../../ops/${verb.page}`, import.meta.url))).toBe(true);
  });

  it.each(named)('svc %s shows its examples in its help', async (_, command) => {
    const machine = createMachine();
    try {
      const { code, out } = await machine.svc(...command.path, '--help');
      expect(code).toBe(0);
      for (const [line] of command.verb.examples) expect(out).toContain(line);
    } finally {
      machine.remove();
    }
  });

  it('ops/cli.md is up to date', () => {
    const page = readFileSync(new URL('../../../ops/cli.md', import.meta.url), 'utf8');
    expect(page, 'write it again with: npm run docs').toBe(renderReferencePage(commands));
  });
});
