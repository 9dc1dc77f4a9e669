import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommands } from '../../../src/cli/command-line/command-table.ts';
import { renderReferencePage } from '../../../src/cli/command-line/reference-page.ts';
import { runVerb } from '../../../src/cli/command-line/run-verb.ts';
import type { VerbTable } from '../../../src/cli/command-line/verb-table.ts';
import { bashScript } from '../../../src/cli/verbs/completion/bash.ts';
import { fishScript } from '../../../src/cli/verbs/completion/fish.ts';
import { createMachine, type Machine } from '../kit.ts';

const VERBS: VerbTable = {
  Tasks: { greet: async () => (await import('../../fixtures/cli/greet.ts')).verb },
};

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

async function svc(...argv: string[]) {
  const said = { out: [] as string[], err: [] as string[] };
  const context = {
    ...machine.context,
    out: (text: string) => void said.out.push(text),
    err: (text: string) => void said.err.push(text),
  };
  const code = await runVerb(argv, context, VERBS);
  return { code, out: said.out.join(''), err: said.err.join('') };
}

describe('a verb that is one file and one line of a table', () => {
  it('appears in the help and has its own help', async () => {
    expect((await svc('help')).out).toMatch(/^Tasks:\n {2}greet .*Greet somebody$/m);
    const { code, out } = await svc('greet', '--help');
    expect(code).toBe(0);
    for (const text of [
      'svc greet [options] <fiber>',
      'whom to greet',
      '--tone <tone>',
      '(choices: "warm", "cool")',
      '(default: 1)',
      '--json',
      'svc greet ada --tone warm\n      says hello to ada',
    ])
      expect(out).toContain(text);
  });

  it('prints its result as text and as JSON', async () => {
    expect(await svc('greet', 'ada', '--tone', 'warm')).toEqual({
      code: 0,
      out: 'Hello, dear ada!\n',
      err: '',
    });
    const { code, out } = await svc('greet', 'ada', '--times', '2', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, { said: ['Hello ada.', 'Hello ada.'] }]);
  });

  it.each([
    [1, ['greet', 'nobody'], ''],
    [1, ['greet', 'root'], 'svc: root is never greeted; name another\n'],
    [2, ['greet', 'ada', '--tone', 'sour'], 'svc: '],
    [2, ['greet', 'ada', '--times', 'often'], 'Give a whole number.'],
    [2, ['greet'], "missing required argument 'fiber'"],
    [2, ['gret'], 'Did you mean greet?'],
  ])('ends with %i for svc %j', async (code, argv, said) => {
    const ended = await svc(...argv);
    expect(ended.code).toBe(code);
    expect(ended.err).toContain(said);
  });

  it('is refused as JSON with --json', async () => {
    const { code, out, err } = await svc('greet', 'root', '--json');
    expect([code, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toEqual({
      error: 'fiber_not_found',
      message: 'root is never greeted; name another',
    });
  });

  it('is completed: its name, its options, their words, and fibers for its argument', async () => {
    const commands = await readCommands(VERBS);
    const bash = bashScript(commands);
    for (const line of [
      '"greet") words="--tone --times --json --help"; valued=" --tone --times " ;;',
      '"greet --tone") place="warm cool" ;;',
      '"greet 0") place="fibers" ;;',
    ])
      expect(bash).toContain(line);
    const fish = fishScript(commands);
    expect(fish).toContain("-a greet -d 'Greet somebody'");
    expect(fish).toContain("-l tone -r -a 'warm cool' -d 'how to say it'");
  });

  it('has its part of the page, with its exit codes and what it prints', async () => {
    const page = renderReferencePage(await readCommands(VERBS));
    for (const text of [
      '## Tasks\n\n### `svc greet`\n\nGreet somebody. See [daemon.md](daemon.md).',
      'svc greet ada --tone warm  # says hello to ada',
      '| `<fiber>` | whom to greet |',
      '{ said: string[] }',
      'Answers with exit code 1 where nobody is there.',
    ])
      expect(page).toContain(text);
  });
});
