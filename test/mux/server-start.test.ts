import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planServerStart, scopeArgv, serverEnvironment } from '../../src/mux/server-start.ts';

describe('starting the server', () => {
  it.each([
    ['linux', null, true, true, 'scope'],
    ['linux', '/tmp/s', true, true, 'scope'],
    ['linux', null, true, false, 'direct'],
    ['linux', null, false, true, 'direct'],
    ['linux', null, false, false, 'direct'],
    ['darwin', null, true, true, 'refused'],
    ['darwin', null, false, false, 'refused'],
    ['darwin', '/tmp/s', false, false, 'direct'],
  ] as const)(
    '[MUX-1] [MUX-2] [MUX-5] on %s with socket %s, inside a unit %s, with a user manager %s: %s',
    (platform, socket, inside_unit, user_manager, kind) => {
      expect(planServerStart({ platform, socket, inside_unit, user_manager }).kind).toBe(kind);
    },
  );

  it('gives each scope a unique name', () => {
    const argv = scopeArgv('/tmp/s', 1795225935000, ['/usr/bin/tmux', 'new-session']);
    expect(argv.slice(0, 4)).toEqual(['--user', '--scope', '--collect', '--quiet']);
    expect(argv[4]).toMatch(/^--unit=svc-mux-[0-9a-f]{8}-[0-9a-z]+$/);
    expect(argv.slice(5)).toEqual(['--', '/usr/bin/tmux', 'new-session']);
    expect(scopeArgv('/tmp/s', 1795225935001, [])[4]).not.toBe(argv[4]);
    expect(scopeArgv(null, 1795225935000, [])[4]).not.toBe(argv[4]);
  });

  it('leaves variables of this daemon out of the server’s environment', () => {
    const kept = {
      HOME: '/home/a',
      PATH: '/bin',
      LANG: 'C.UTF-8',
      SSH_AUTH_SOCK: '/s',
      XDG_RUNTIME_DIR: '/r',
    };
    expect(
      serverEnvironment({
        ...kept,
        SVC_DATA_DIR: '/x',
        NODE_OPTIONS: '--inspect',
        npm_config_x: '1',
        INVOCATION_ID: 'a',
        NOTIFY_SOCKET: '/n',
        LISTEN_FDS: '1',
        TMUX: '/tmp/other,1,0',
        TMUX_PANE: '%1',
        CREDENTIALS_DIRECTORY: '/c',
        GONE: undefined,
      }),
    ).toEqual(kept);
  });
});

it('the code contains no command that ends a server with all its sessions', () => {
  const source = new URL('../../src/', import.meta.url).pathname;
  const words = ['kill', 'server'].join('-');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) expect(readFileSync(source + file, 'utf8'), file).not.toContain(words);
});
