import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { addressOf, paneOfLaunch } from '../../../src/mux/mux-listing.ts';
import { createPaneInput } from '../../../src/mux/pane-input.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { createProcessFacts } from '../../../src/platform/process-facts.ts';
import { createPrivateServer, until } from '../../fixtures/mux/private-server.ts';
import { findProgram } from '../../kit/find-program.ts';

/** One thing that a user sets on a tmux server: the words of a command. */
export type UserSetting = readonly string[];

const option = (scope: '-g' | '-s', name: string, value: string) => ['set-option', scope, name, value];
const hook = (name: string, command: string) => ['set-hook', '-ag', name, command];

/** Each must leave a worker as it is, or be named where the start is refused. */
export const USER_SETTINGS: readonly UserSetting[] = [
  option('-g', 'destroy-unattached', 'on'),
  option('-g', 'remain-on-exit', 'on'),
  option('-g', 'base-index', '7'),
  option('-g', 'pane-base-index', '3'),
  option('-g', 'automatic-rename', 'on'),
  option('-g', 'allow-rename', 'on'),
  option('-g', 'set-titles', 'on'),
  option('-g', 'history-limit', '0'),
  option('-g', 'prefix', 'None'),
  option('-g', 'key-table', 'none'),
  option('-g', 'status', 'off'),
  option('-g', 'default-command', 'false'),
  option('-g', 'default-shell', '/bin/false'),
  option('-g', 'update-environment', 'PATH HOME'),
  option('-g', 'detach-on-destroy', 'off'),
  option('-g', 'lock-after-time', '1'),
  option('-g', 'window-size', 'smallest'),
  option('-g', 'synchronize-panes', 'on'),
  option('-s', 'buffer-limit', '1'),
  option('-s', 'default-terminal', 'screen'),
  option('-s', 'exit-empty', 'off'),
  option('-s', 'exit-unattached', 'on'),
  hook('after-new-session', 'rename-session mine'),
  hook('session-created', 'rename-session created'),
  hook('after-new-session', 'split-window -b cat'),
  hook('after-new-session', 'new-window cat'),
  hook('after-new-session', 'kill-session'),
];

/**
 * Whether a worker starts, is typed to, is read and is seen to end on a server with these settings, or its refusal names one
 * of them. Throws what was not so.
 */
export async function tryUserSettings(settings: readonly UserSetting[]): Promise<void> {
  const server = createPrivateServer();
  try {
    const mux = server.open();
    await mux.create({ name: 'first', cwd: '/', command: ['sleep', '600'] });
    for (const words of settings) {
      const said = await server.tmux(...words);
      if (said !== '') throw new Error(`tmux refused ${words.join(' ')}: ${said}`);
    }
    const dir = join(server.dir, 'launch-1');
    mkdirSync(dir);
    const script = join(dir, 'run.sh');
    writeFileSync(script, "stty -echo; printf '\\033[?2004hready'; read line; echo got; read line");
    const made = await mux.create({ name: 'work', cwd: '/', command: ['/bin/sh', script] });
    if (made.kind === 'duplicate') throw new Error('its name was taken');
    if (made.kind === 'failed') {
      if (settings.some(([, , name = '']) => made.detail.includes(name))) return;
      throw new Error(`the refusal names none of them: ${made.detail}`);
    }
    const pane = async () => paneOfLaunch(await mux.list(), 'launch-1');
    const found = await pane();
    const address = found === undefined ? null : addressOf(found.pane);
    if (address === null) throw new Error('its pane is not listed');
    const runner = createRunner();
    const input = createPaneInput({
      tmux: findProgram('tmux', process.env.PATH ?? '') ?? 'tmux',
      ...{ socket: server.socket, env: process.env, runner, clock: systemClock, deadline_ms: 5_000 },
      facts: createProcessFacts({ platform: process.platform, runner }),
      platform: process.platform,
    });
    const shows = (text: string) =>
      until(`its screen with ${text}`, async () => (await mux.capture(address.id))?.includes(text));
    await shows('ready');
    const pasted = await input.paste(address, 'hello');
    if (pasted.kind !== 'pasted') throw new Error(`the message was not typed: ${pasted.kind}`);
    await shows('got');
    if (!(await input.pressEnter(address))) throw new Error('Enter was not pressed');
    await until('its end', async () => (await pane()) === undefined);
  } finally {
    await server.dispose();
  }
}
