import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

vi.hoisted(() => {
  // Formatters keep the zone that they begin with.
  process.env.TZ = 'UTC';
});

import { FakeClock } from '../../../src/base/clock.ts';
import { rowsOf } from '../../../src/cli/command-line/verb-table.ts';
import { runCli } from '../../../src/cli/main.ts';
import { VERBS } from '../../../src/cli/verbs.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';
import { BOOTED_AT, NOW, REFUSALS, ROWS, SCREENS, type Screen } from './a-day-of-screens.ts';
import { asOnEveryMachine } from './same-everywhere.ts';

let machine: Machine;
beforeEach(() => {
  machine = createMachine();
  machine.env.LANG = 'C.UTF-8';
});
afterEach(() => machine.remove());

/** What a daemon tells; what `svc` finds on the machine differs from one to the next. */
const TOLD = SCREENS.filter(({ answers }) => answers !== null);

async function printed(
  { argv, answers, prepare }: Screen,
  over: Partial<Machine['context']> = {},
): Promise<string> {
  const more = prepare?.(machine) ?? {};
  const { listen } = await serveDaemon(machine, { ...answers, ...more });
  machine.writeDaemonFile([listen], { booted_at: new Date(BOOTED_AT).toISOString() });
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  await runCli(argv, { ...machine.context, clock: new FakeClock(NOW), out, ...over });
  return asOnEveryMachine(text, machine);
}

/** Every setting of the demo that changes what is printed. */
const DEMO = { SVC_DEMO: '1', SVC_DEMO_DIR: '/srv/a demo' };
const IN_THE_DEMO = "svc demo --dir '/srv/a demo' ";

describe('a screen', () => {
  it.each([...TOLD, ...REFUSALS])(
    '$name of the demo names each command as it is typed there',
    async (screen) => {
      let errors = '';
      const text = await printed(screen, {
        env: { ...machine.env, ...DEMO },
        err: (part) => {
          errors += part;
        },
      });
      const verbs = rowsOf(VERBS).map(({ name }) => name);
      const bare = new RegExp(`(?<![\\w/-])svc (${verbs.join('|')})\\b(?! --dir)`);
      expect(`${text}${errors}`.replaceAll(IN_THE_DEMO, '')).not.toMatch(bare);
    },
  );

  it('of the demo leaves alone what an agent has said', async () => {
    const said = 'Shall I run svc status now?';
    const screen = SCREENS.find(({ name }) => name === 'status-of-a-working-one')!;
    const row = { ...ROWS[0]!, runtime: { ...ROWS[0]!.runtime!, said } };
    const answers = { ...screen.answers, [`GET /fibers/${row.id}`]: { body: { fiber: row } } };
    expect(await printed({ ...screen, answers }, { env: { ...machine.env, ...DEMO } })).toContain(said);
  });

  it.each(TOLD)(
    '$name in ASCII where the locale has no more, without another change of its words',
    async (screen) => {
      machine.env.LANG = 'C';
      const text = await printed(screen, { outIsTerminal: true, columns: 80 });
      for (const glyph of ['◆', '◇', '●', '◌', '■', '·', '…']) expect(text).not.toContain(glyph);
    },
  );

  it.each(TOLD)(
    '$name into a pipe: whole, without colour or glyph, a line for each thing',
    async (screen) => {
      await expect(await printed(screen)).toMatchFileSnapshot(`fixtures/${screen.name}-pipe.txt`);
    },
  );

  it('is coloured on a terminal, unless NO_COLOR, --no-color or a dumb terminal forbids it', async () => {
    const [status] = TOLD as [Screen];
    const terminal = { outIsTerminal: true, columns: 80 };
    const esc = '\u001b[';
    expect(await printed(status, terminal)).toContain(`${esc}33m◆${esc}39m`);
    expect(await printed({ ...status, argv: ['--no-color', 'status'] }, terminal)).not.toContain(esc);
    expect(await printed({ ...status, argv: ['status', '--no-color'] }, terminal)).not.toContain(esc);
    for (const over of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect(await printed(status, { ...terminal, env: { ...machine.env, ...over } })).not.toContain(esc);
    expect(await printed(status)).not.toContain(esc);
  });
});
