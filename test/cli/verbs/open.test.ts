import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { boardAddress } from '../../../src/cli/daemon-client/board-address.ts';
import { findUrlOpener, openUrl } from '../../../src/platform/open-url.ts';
import { until } from '../../kit/until.ts';
import { createMachine, type Machine } from '../kit.ts';

let machine: Machine;
let bin: string;
beforeEach(() => {
  machine = createMachine();
  bin = join(machine.folder, 'bin');
  mkdirSync(bin);
  machine.env.PATH = `${bin}:/usr/bin:/bin`;
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER', 'SSH_CONNECTION']) delete machine.env[name];
});
afterEach(() => machine.remove());

const opened = () => join(machine.folder, 'opened');

function program(name: string, script = `echo "$1" >'${opened()}'`): string {
  const path = join(bin, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('svc open', () => {
  it('opens the board of the running daemon in the browser of the desktop', async () => {
    machine.writeDaemonFile(['unix:/run/x.sock', '127.0.0.1:4711']);
    program('xdg-open');
    machine.env.DISPLAY = ':0';
    const { code, out } = await machine.svc('open');
    expect([code, out]).toEqual([0, 'Opened http://127.0.0.1:4711/\n']);
    await until('the browser', () => existsSync(opened()));
    expect(readFileSync(opened(), 'utf8')).toBe('http://127.0.0.1:4711/\n');
  });

  it('only prints the address where that is asked for', async () => {
    machine.writeDaemonFile(['127.0.0.1:4711']);
    program('xdg-open');
    machine.env.DISPLAY = ':0';
    expect(await machine.svc('open', '--print')).toMatchObject({ code: 0, out: 'http://127.0.0.1:4711/\n' });
    expect(existsSync(opened())).toBe(false);
  });

  it.each([
    ['there is no desktop', false],
    ['the program fails', true],
  ])('prints the address and the ssh command where %s', async (_, desktop) => {
    machine.writeDaemonFile(['127.0.0.1:4711']);
    program('xdg-open', 'exit 3');
    if (desktop) machine.env.DISPLAY = ':0';
    const { code, out, err } = await machine.svc('open');
    expect([code, out]).toEqual([1, 'http://127.0.0.1:4711/\n']);
    expect(err).toMatch(/ssh -N -L 4711:127\.0\.0\.1:4711 \S+@\S+/);
  });

  it('says what to do where the daemon listens on a socket alone, and where none runs', async () => {
    expect(await machine.svc('open')).toMatchObject({
      code: 3,
      err: expect.stringContaining('svc daemon start'),
    });
    machine.writeDaemonFile(['unix:/run/x.sock']);
    expect(await machine.svc('open')).toMatchObject({ code: 1, err: expect.stringContaining('SVC_LISTEN') });
  });
});

describe('the program that opens an address', () => {
  it.each([
    ['xdg-open on a desktop', 'linux', { DISPLAY: ':0' }, 'xdg-open'],
    ['xdg-open on Wayland', 'linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
    ['none without a display', 'linux', {}, null],
    ['that of an editor at the other end', 'linux', { BROWSER: 'far-browser' }, 'far-browser'],
    ['open on macOS', 'darwin', {}, 'open'],
    ['none on macOS over SSH', 'darwin', { SSH_CONNECTION: 'x' }, null],
  ] as const)('is %s', async (_, platform, more, name) => {
    for (const one of ['xdg-open', 'open', 'far-browser']) program(one);
    const env = { PATH: bin, ...more };
    expect(await findUrlOpener({ platform, env })).toBe(name === null ? null : join(bin, name));
  });

  it('may go on as the browser itself', async () => {
    const browser = program('browser', `echo "$1" >'${opened()}'; exec sleep 2`);
    expect(await openUrl(browser, 'http://x/', { env: machine.env, fails_within_ms: 50 })).toBe(true);
    expect(await openUrl(join(bin, 'nothing'), 'http://x/', { env: machine.env })).toBe(false);
  });
});

describe('the address of the board', () => {
  it.each([
    [['127.0.0.1:4000', '[::1]:4000'], 'http://127.0.0.1:4000/'],
    [['[::1]:4000'], 'http://[::1]:4000/'],
    [['unix:/x'], null],
    [[], null],
  ])('of %j is %s', (listen, address) => expect(boardAddress(listen)).toBe(address));
});
