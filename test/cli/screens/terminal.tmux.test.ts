import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shellWord } from '../../../src/base/shell-word.ts';
import { createPrivateServer, type PrivateServer, until } from '../../fixtures/mux/private-server.ts';
import { createMachine, type Machine, serveDaemon } from '../kit.ts';
import { BOOTED_AT, NOW, REFUSALS, SCREENS, type Screen } from './a-day-of-screens.ts';
import { asOnEveryMachine } from './same-everywhere.ts';

const SVC = new URL('../../../src/cli/svc.cjs', import.meta.url).pathname;
const ROWS = 100;

let server: PrivateServer;
let clock: string;
beforeAll(() => {
  server = createPrivateServer();
  clock = join(server.dir, 'clock.mjs');
  writeFileSync(
    clock,
    `Date = class extends Date { constructor(...at) { super(...(at.length === 0 ? [${NOW}] : at)); } };\nDate.now = () => ${NOW};\n`,
  );
});
afterAll(() => server.dispose());

/** What the caller's own setup would say instead of the screen's. */
const OTHERS = /^(SVC_|LC_|LANG|NODE_OPTIONS$|NO_COLOR$|FORCE_COLOR$|COLUMNS$|LINES$)/;

function environmentOf(machine: Machine): string[] {
  const unset = Object.keys(process.env).filter((name) => OTHERS.test(name));
  const set = { ...machine.env, TZ: 'UTC', LANG: 'C.UTF-8', NODE_OPTIONS: `--import=${clock}` };
  return [
    'env',
    ...unset.flatMap((name) => ['-u', name]),
    ...Object.entries(set).map(([name, value]) => `${name}=${value}`),
  ];
}

/** The screen of a real terminal on which a person has typed this, its lines and its colours. */
async function shown({ name, argv, answers, prepare }: Screen, columns: number) {
  const machine = createMachine();
  try {
    const more = prepare?.(machine) ?? {};
    if (answers !== null) {
      const { listen } = await serveDaemon(machine, { ...answers, ...more });
      machine.writeDaemonFile([listen], { booted_at: new Date(BOOTED_AT).toISOString() });
    }
    const session = `${name}-${columns}`;
    const line = ['svc', ...argv.map(shellWord)].join(' ');
    const folder = join(machine.folder, 'my-project');
    mkdirSync(folder);
    const script =
      'cd "$1"; shift; printf "$ %s\\n" "$1"; shift; "$@"; printf "exit %s\\n" $?; exec /bin/cat';
    await server.tmux(
      ...['new-session', '-d', '-s', session, '-x', String(columns), '-y', String(ROWS)],
      ...environmentOf(machine),
      ...['/bin/sh', '-c', script, 'sh', folder, line, process.execPath, SVC, ...argv],
    );
    const capture = (...more: string[]) => server.tmux('capture-pane', '-p', ...more, '-t', `=${session}:`);
    await until(`the end of ${name}`, async () => /^exit \d+$/m.test(await capture()), 30_000);
    const [page, joined, coloured] = [await capture(), await capture('-J'), await capture('-e')];
    await server.tmux('kill-session', '-t', `=${session}`);
    const text = (captured: string) => asOnEveryMachine(withoutBlanks(captured), machine);
    return { page: text(page), joined: text(joined), coloured };
  } finally {
    machine.remove();
  }
}

/** Only tmux fills its lines, and its pane below them. */
function withoutBlanks(captured: string): string {
  return `${captured.replace(/ +$/gm, '').trimEnd()}\n`;
}

const CASES = [80, 120].flatMap((columns) =>
  [...SCREENS, ...REFUSALS].map((screen) => ({ columns, screen, name: screen.name })),
);

it.each(CASES)(
  '$name on a terminal of $columns columns is as its fixture, and no line of it is wrapped',
  async ({ screen, columns }) => {
    const { page, joined } = await shown(screen, columns);
    await expect(page).toMatchFileSnapshot(`fixtures/${screen.name}-${columns}.txt`);
    expect(joined).toBe(page);
  },
);

it('is coloured by what its glyphs mean, the rest of a line is not', async () => {
  const { coloured } = await shown(SCREENS[0]!, 80);
  const [yellow, blue, red] = [33, 34, 31];
  for (const [colour, glyphs] of [
    [yellow, '◆◇'],
    [blue, '●◌'],
    [red, '■'],
  ] as const)
    for (const glyph of glyphs)
      expect(coloured).toMatch(new RegExp(`\\u001b\\[${colour}m(\\u001b\\[[\\d;]*m)*${glyph}`));
  const command = coloured.split('\n').find((line) => line.includes('svc send tide-gauges')) ?? '';
  // What is left of a colour is taken back before.
  expect(command.replace(/\u001b\[(0|39|49)m/g, '').trim()).toBe('svc send tide-gauges "…"');
});
