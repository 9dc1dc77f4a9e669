import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { addressOf, paneOfLaunch } from '../../src/mux/mux-listing.ts';
import { createPaneInput } from '../../src/mux/pane-input.ts';
import { findExecutable } from '../../src/platform/find-executable.ts';
import { createRunner } from '../../src/platform/process.ts';
import { createProcessFacts } from '../../src/platform/process-facts.ts';
import { createPrivateServer, until } from '../fixtures/mux/private-server.ts';

/** What users set, all at once: each must leave a worker that starts, is typed to, is read and is seen to end. */
const OPTIONS = [
  ['-g', 'destroy-unattached', 'on'],
  ['-g', 'remain-on-exit', 'on'],
  ['-g', 'base-index', '7'],
  ['-g', 'pane-base-index', '3'],
  ['-g', 'automatic-rename', 'on'],
  ['-g', 'allow-rename', 'on'],
  ['-g', 'set-titles', 'on'],
  ['-g', 'history-limit', '0'],
  ['-g', 'prefix', 'None'],
  ['-g', 'status', 'off'],
  ['-g', 'default-command', 'false'],
  ['-g', 'default-shell', '/bin/false'],
  ['-g', 'update-environment', 'PATH HOME'],
  ['-g', 'detach-on-destroy', 'off'],
  ['-g', 'lock-after-time', '1'],
  ['-g', 'window-size', 'smallest'],
  ['-g', 'synchronize-panes', 'on'],
  ['-s', 'buffer-limit', '1'],
  ['-s', 'exit-empty', 'off'],
];

it('a server with the options of a user, and with hooks that split and rename, serves a worker from start to end', async () => {
  const server = createPrivateServer();
  try {
    const mux = server.open();
    await mux.create({ name: 'first', cwd: '/', command: ['sleep', '600'] });
    for (const option of OPTIONS) expect(await server.tmux('set-option', ...option), option[1]).toBe('');
    await server.tmux('set-hook', '-g', 'after-new-session[0]', 'split-window -b cat');
    await server.tmux('set-hook', '-g', 'after-new-session[1]', 'rename-session mine');
    const dir = join(server.dir, 'launch-1');
    mkdirSync(dir);
    writeFileSync(
      join(dir, 'run.sh'),
      "stty -echo; printf '\\033[?2004hready'; read line; echo got; read line",
    );
    const made = await mux.create({ name: 'work', cwd: '/', command: ['/bin/sh', join(dir, 'run.sh')] });
    expect(made).toMatchObject({ kind: 'created', session: { name: 'work' } });
    const found = paneOfLaunch(await mux.list(), 'launch-1');
    const pane = addressOf(found!.pane)!;
    const runner = createRunner();
    const input = createPaneInput({
      tmux: findExecutable('tmux', process.env.PATH ?? '')!,
      ...{ socket: server.socket, env: process.env, runner, clock: systemClock, deadline_ms: 5_000 },
      facts: createProcessFacts({ platform: process.platform, runner }),
      platform: process.platform,
    });
    await until('its screen', async () => (await mux.capture(pane.id))?.includes('ready'));
    expect(await input.paste(pane, 'hello')).toEqual({ kind: 'pasted' });
    await until('the text', async () => (await mux.capture(pane.id))?.includes('got'));
    expect(await input.pressEnter(pane)).toBe(true);
    await until('its end', async () => paneOfLaunch(await mux.list(), 'launch-1') === undefined);
  } finally {
    await server.dispose();
  }
});
