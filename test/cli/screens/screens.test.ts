import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

vi.hoisted(() => {
  // Formatters keep the zone that they begin with.
  process.env.TZ = 'UTC';
});

import { FakeClock } from '../../../src/base/clock.ts';
import { runCli } from '../../../src/cli/main.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';
import { BOOTED_AT, NOW, SCREENS, type Screen } from './a-day-of-screens.ts';
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

describe('a screen', () => {
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
