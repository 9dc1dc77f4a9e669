import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { piExtension } from '../../../src/harness/pi/extension.ts';
import { messageWay } from '../../../src/harness/pi/message-socket.ts';
import { until } from '../../kit/until.ts';

const SESSION = 's-1';
const TERMINAL = '$7';

let dir: string;
let folder: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-pi-'));
  folder = join(dir, 'session-sockets');
  vi.stubEnv('SVC_DATA_DIR', dir);
  vi.stubEnv('TMUX', '/tmp/tmux-0/default,1234,7');
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

type Handler = (what: object, ctx: object) => void;

/** The extension in a Pi that does what a test says. */
async function startPi({ session = SESSION, tells = true, takes = true } = {}) {
  writeFileSync(join(dir, 'extension.mjs'), piExtension(['true']));
  const extension = await import(`${pathToFileURL(join(dir, 'extension.mjs')).href}?${Math.random()}`);
  const handlers = new Map<string, Handler[]>();
  const state = { idle: true, sent: [] as { text: string; deliverAs: string }[] };
  const ctx = { cwd: '/srv', isIdle: () => state.idle, sessionManager: { getSessionId: () => session } };
  const fire = (event: string, what: object = {}) => {
    for (const run of handlers.get(event) ?? []) run(what, ctx);
  };
  const send = (text: string, { deliverAs }: { deliverAs: string }) => {
    state.sent.push({ text, deliverAs });
    if (tells) fire('input', { text, source: 'extension' });
  };
  extension.default({
    on: (event: string, run: Handler) => handlers.set(event, [...(handlers.get(event) ?? []), run]),
    sendUserMessage: takes ? send : undefined,
  });
  fire('session_start', { reason: 'startup' });
  ends.push(() => fire('session_shutdown'));
  if (takes)
    await until('the extension listens', () => existsSync(folder) && readdirSync(folder).length === 1);
  const begins = () => {
    state.idle = false;
    fire('agent_start');
  };
  return { state, fire, begins };
}

async function give(text: string) {
  const way = await messageWay.open({ folder, session: SESSION, terminal: TERMINAL });
  try {
    return (await way?.give(text)) ?? 'no way';
  } finally {
    way?.close();
  }
}

describe('a message through the extension of Pi', () => {
  it('[MSG-3] starts a turn of an idle session, whole, on a socket that no other user reaches', async () => {
    const { state } = await startPi();
    const text = `[message m-1 from ada]\n${'“grüße” 漢字\n'.repeat(20_000)}`;
    expect(await give(text)).toEqual({ kind: 'given' });
    expect(state.sent).toEqual([{ text, deliverAs: 'steer' }]);
    expect(statSync(folder).mode & 0o077).toBe(0);
    expect(statSync(join(folder, readdirSync(folder)[0]!)).mode & 0o077).toBe(0);
  });

  it('[MDS-1] is queued behind a turn that runs', async () => {
    const { state, begins, fire } = await startPi();
    begins();
    expect(await give('one')).toEqual({ kind: 'queued' });
    expect(await give('two')).toEqual({ kind: 'queued' });
    state.idle = true;
    fire('agent_settled');
    expect(await give('three')).toEqual({ kind: 'given' });
    expect(state.sent.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
  });

  it('[MSG-3] is not given while a turn is about to start, also one of a person', async () => {
    const { state, begins, fire } = await startPi();
    expect(await give('one')).toEqual({ kind: 'given' });
    expect(await give('two')).toMatchObject({ kind: 'not_given' });
    begins();
    expect(await give('two')).toEqual({ kind: 'queued' });
    state.idle = true;
    fire('agent_settled');
    fire('input', { text: 'of a person', source: 'interactive' });
    expect(await give('three')).toMatchObject({ kind: 'not_given' });
    expect(state.sent).toHaveLength(2);
  });

  it('[MSG-3] is not given while Pi compacts the conversation', async () => {
    const { state } = await startPi();
    state.idle = false;
    expect(await give('one')).toMatchObject({ kind: 'not_given' });
    expect(state.sent).toEqual([]);
  });

  it('[RCP-5] is unknown if Pi does not say that it took the text', async () => {
    const { state } = await startPi({ tells: false });
    expect(await give('one')).toMatchObject({ kind: 'unknown' });
    expect(state.sent).toHaveLength(1);
  });
});

describe('where no extension answers for the session', () => {
  it('is typed when its Pi has no extension, ended, or was killed', async () => {
    expect(await give('one')).toBe('no way');
    const { fire } = await startPi();
    const [name] = readdirSync(folder);
    fire('session_shutdown');
    expect(readdirSync(folder)).toEqual([]);
    // What a killed program leaves: a name on which nobody listens.
    await leaveDeadSocket(join(folder, name!));
    expect(await give('one')).toBe('no way');
    await until('its socket is removed', () => readdirSync(folder).length === 0);
  });

  it('is typed when its Pi takes no texts of an extension', async () => {
    await startPi({ takes: false });
    expect(existsSync(folder)).toBe(false);
    expect(await give('one')).toBe('no way');
  });

  it('is typed when another terminal, or another conversation, answers', async () => {
    await startPi();
    const way = (session: string, terminal: string) => messageWay.open({ folder, session, terminal });
    expect(await way(SESSION, '$8')).toBeNull();
    expect(await way('s-2', TERMINAL)).toBeNull();
  });

  it('is typed when it says nothing, or nonsense', async () => {
    await startPi();
    const [name] = readdirSync(folder);
    for (const line of ['', 'nonsense\n', `${'long '.repeat(5_000)}\n`]) {
      await answering(join(folder, name!), (socket) => socket.write(line));
      expect(await give('one')).toBe('no way');
    }
  });

  it('[RCP-5] is unknown when its program ends before it answers', async () => {
    await startPi();
    const [name] = readdirSync(folder);
    const greeting = `${JSON.stringify({ session: SESSION, terminal: TERMINAL })}\n`;
    await answering(join(folder, name!), (socket) => {
      socket.write(greeting);
      socket.once('data', () => socket.destroy());
    });
    expect(await give('one')).toMatchObject({ kind: 'unknown' });
  });
});

/** Another server in the place of the extension. */
async function answering(path: string, answer: (socket: Socket) => void): Promise<Server> {
  rmSync(path, { force: true });
  mkdirSync(folder, { recursive: true });
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  ends.push(() => server.close());
  return server;
}

async function leaveDeadSocket(path: string): Promise<void> {
  const { execFileSync } = await import('node:child_process');
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', code]);
  } catch {
    // It was killed, as it should be.
  }
}
