import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { declareVerbs, NO_PROCESS } from '../../src/cli/command-line/commander.ts';
import { VERBS } from '../../src/cli/verbs.ts';

const SKILLS = new URL('../../ops/skills/', import.meta.url).pathname;

/** Every `svc …` command line in a text: a line of a code block, or a piece of inline code. */
function commandLines(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(([, block]) =>
    block!.replaceAll('\\\n', ' ').split('\n'),
  );
  const inline = [...markdown.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(
    ([, code]) => code!,
  );
  return [...blocks, ...inline].map((line) => line.trim()).filter((line) => /^svc [a-z]/.test(line));
}

/** The words of a command line as a shell would pass them; what is optional is taken as given. */
function words(line: string): string[] {
  const [command] = line.split(/ < | > | \| | && | # /);
  const found = command!.replaceAll(/[[\]]/g, ' ').matchAll(/'([^']*)'|(\S+)/g);
  return [...found].map(([, quoted, bare]) => (quoted ?? bare!).replace(/^<(.+)>$/, '$1')).slice(1);
}

/** Parses the words with the real verb, whose action is taken out; answers what is wrong, or null. */
async function refusal(argv: readonly string[]): Promise<string | null> {
  const program = new Command('svc')
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  await declareVerbs(program, VERBS, argv, NO_PROCESS);
  const command = program.commands.find((each) => each.name() === argv[0]);
  if (command === undefined) return `there is no verb ${argv[0]}`;
  // A command that is only mentioned by its name, such as `svc fiber edit`, need not be complete.
  const [, sub, more] = argv;
  if (sub === undefined || (more === undefined && command.commands.some((each) => each.name() === sub)))
    return null;
  for (const each of [command, ...command.commands]) if (each.commands.length === 0) each.action(() => {});
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === 'commander.helpDisplayed' ? null : error.message;
  }
}

describe('the worker skills', () => {
  const files = readdirSync(SKILLS, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const lines = files.flatMap((file) =>
    commandLines(readFileSync(join(SKILLS, file), 'utf8')).map((line) => ({ file, line })),
  );

  it('are read completely: each of their files has commands to check', () => {
    expect([...new Set(lines.map(({ file }) => file))].sort()).toEqual([
      'fiber-service/SKILL.md',
      ...['capture', 'handoff', 'headless', 'meeting', 'messages', 'survey', 'transcripts'].map(
        (name) => `fiber-service/references/${name}.md`,
      ),
      'fiber-store/SKILL.md',
    ]);
    expect(lines.length).toBeGreaterThan(12);
  });

  it.each(lines)('[PRM-8] use a command that svc accepts: $line', async ({ line }) => {
    expect(await refusal(words(line))).toBeNull();
  });

  it.each([
    'svc frobnicate',
    'svc fiber frobnicate <fiber>',
    'svc handoff --twice',
    'svc fiber edit --outcome x',
    'svc install <fiber> <another>',
  ])('fail this check if they use %s', async (line) => {
    expect(await refusal(words(line))).toMatch(/frobnicate|twice|argument/);
  });
});
