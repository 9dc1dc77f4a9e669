import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kittySockets, launchInKitty } from '../../src/platform/terminal-kitty.ts';

const BEGIN = '\u001bP@kitty-cmd';
const END = '\u001b\\';
const LAUNCH = {
  argv: ['tmux', 'attach-session', '-t', '=it’s'],
  title: 'a title',
  type: 'os-window',
} as const;
const uid = process.getuid?.() ?? null;
let folder: string;
let servers: Server[] = [];
let asked: Record<string, unknown>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-kitty-'));
  servers = [];
  asked = [];
});
afterEach(async () => {
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  rmSync(folder, { recursive: true, force: true });
});

/** Listens as kitty does; `answer` gets each whole command. */
async function kitty(
  name: string,
  answer: (socket: Socket, command: Record<string, unknown>) => void,
): Promise<string> {
  const path = join(folder, name);
  const server = createServer((socket) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!text.startsWith(BEGIN) || !text.endsWith(END)) return;
      const command = JSON.parse(text.slice(BEGIN.length, -END.length));
      asked.push(command);
      answer(socket, command);
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(path, done));
  return path;
}

const say = (socket: Socket, value: unknown) => socket.write(`${BEGIN}${JSON.stringify(value)}${END}`);
const places = (more = {}) => ({ named: null, env: {}, folder, uid, ...more });

describe('a launch in kitty', () => {
  it('[WPL-21] sends one launch command with unchanged arguments, and reads an answer in several chunks', async () => {
    const path = await kitty('kitty-1', (socket) => {
      const text = `${BEGIN}${JSON.stringify({ ok: true, data: '7' })}${END}`;
      socket.write(text.slice(0, 9));
      setTimeout(() => socket.write(text.slice(9)), 20);
    });
    expect(await launchInKitty(LAUNCH, places({ named: `unix:${path}` }))).toEqual({
      kind: 'opened',
      terminal: 'kitty',
    });
    expect(asked).toEqual([
      {
        cmd: 'launch',
        version: [0, 14, 2],
        no_response: false,
        payload: { args: LAUNCH.argv, type: 'os-window', window_title: 'a title' },
      },
    ]);
  });

  it('[MUX-1] can have no window', async () => {
    const path = await kitty('kitty', (socket) => say(socket, { ok: true }));
    await launchInKitty({ ...LAUNCH, type: 'background', cwd: '/' }, places({ named: path }));
    expect(asked).toMatchObject([{ payload: { args: LAUNCH.argv, type: 'background', cwd: '/' } }]);
    expect(asked[0]!.payload).not.toHaveProperty('window_title');
  });

  it('[WPL-21] reports the message of a kitty that refuses', async () => {
    const path = await kitty('kitty-1', (socket) =>
      say(socket, { ok: false, error: 'Remote control is disabled' }),
    );
    expect(await launchInKitty(LAUNCH, places({ named: path }))).toEqual({
      kind: 'refused',
      detail: `kitty at ${path} refused: Remote control is disabled`,
    });
  });

  it('[WPL-21] skips sockets without an answer, and reports when none is left', async () => {
    const closes = await kitty('kitty-20', (socket) => socket.end());
    await kitty('kitty-3', (socket) => say(socket, { ok: true }));
    expect(await launchInKitty(LAUNCH, places())).toMatchObject({ kind: 'opened' });
    expect(asked).toHaveLength(2);
    expect(await launchInKitty(LAUNCH, places({ named: closes }))).toMatchObject({
      kind: 'unreachable',
      detail: expect.stringContaining(closes),
    });
    expect(await launchInKitty(LAUNCH, places({ named: join(folder, 'nobody') }))).toMatchObject({
      kind: 'unreachable',
      detail: expect.stringContaining('ENOENT'),
    });
    expect(await launchInKitty(LAUNCH, places({ folder: join(folder, 'none') }))).toMatchObject({
      kind: 'unreachable',
    });
  });

  it('refuses an endless answer and one that is not JSON', async () => {
    const endless = await kitty('kitty-1', (socket) => socket.write(`${BEGIN}${'x'.repeat(300_000)}`));
    expect(await launchInKitty(LAUNCH, places({ named: endless }))).toMatchObject({ kind: 'unreachable' });
    const odd = await kitty('kitty-2', (socket) => socket.write(`${BEGIN}{odd${END}`));
    expect(await launchInKitty(LAUNCH, places({ named: odd }))).toMatchObject({ kind: 'refused' });
  });
});

describe('the sockets of kitty', () => {
  it('are the given one alone, else its variable’s, else those of this user in the folder, the newest first', async () => {
    const old = await kitty('kitty-9', () => undefined);
    const first = await kitty('kitty-10', () => undefined);
    const second = await kitty('mykitty', () => undefined);
    await kitty('other-10', () => undefined);
    writeFileSync(join(folder, 'kitty-11'), 'no socket');
    expect(kittySockets(places({ named: 'unix:/run/k' }))).toEqual(['/run/k']);
    expect(kittySockets(places())).toEqual([first, old, second]);
    expect(kittySockets(places({ env: { KITTY_LISTEN_ON: 'unix:@mine' } }))).toEqual([
      '@mine',
      first,
      old,
      second,
    ]);
    expect(kittySockets(places({ env: { KITTY_LISTEN_ON: `unix:${second}` } }))).toEqual([
      second,
      first,
      old,
    ]);
    expect(kittySockets(places({ env: { KITTY_LISTEN_ON: 'tcp:localhost:1' } }))).toEqual([
      first,
      old,
      second,
    ]);
    expect(kittySockets(places({ uid: (uid ?? 0) + 1 }))).toEqual([]);
  });
});
