import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openAudioListener } from '../src/audio-listener.ts';
import { type Clock, FakeClock, systemClock } from '../src/base/clock.ts';
import { type Logger, silentLogger } from '../src/base/logger.ts';
import type { AudioSocket } from '../src/contract/threads/audio.ts';
import { AudioRelay } from '../src/meetings/audio-relay.ts';
import type { RelayedMeeting } from '../src/meetings/meeting-service.ts';
import { LOOPBACK_ONLY } from './http/served.ts';
import { type ScratchFolder, scratchFolder } from './kit/scratch-folder.ts';
import { until } from './kit/until.ts';

const PATH = '/api/v1/meeting/audio';

let folder: ScratchFolder;
let socket: string;
let recorder: Server;
/** What came to the recorder. */
let recorded: Buffer[];
let meeting: RelayedMeeting | null;
let relay: AudioRelay;
let phones: WebSocket[];
let close: () => Promise<void>;
beforeEach(async () => {
  folder = scratchFolder();
  socket = join(folder.path, 'socket', 'audio.sock');
  recorded = [];
  phones = [];
  const taken = join(folder.path, 'rec.sock');
  recorder = createServer((line) =>
    line.on('error', () => undefined).on('data', (one) => recorded.push(one)),
  );
  await new Promise<void>((resolve) => recorder.listen(taken, resolve));
  meeting = { launch: 'L1', mode: 'phone', state: 'live', error: null, socket: taken };
  relay = new AudioRelay({
    ...{ clock: systemClock, logger: silentLogger, meeting: () => meeting },
    look: async () => undefined,
    requireOwn: async () => undefined,
  });
  close = async () => undefined;
});
afterEach(async () => {
  for (const phone of phones) phone.terminate();
  await close();
  relay.stop();
  await new Promise((resolve) => recorder.close(resolve));
  folder.remove();
});

/** Opens it; resolves once it is there. */
async function open(): Promise<void> {
  begin();
  await until('the socket', () => existsSync(socket) && (statSync(socket).mode & 0o777) === 0o600);
}

function begin(logger: Logger = silentLogger, clock: Clock = systemClock): void {
  close = openAudioListener({
    ...{ socket, host: 'host-a', relay, clock, logger },
    access: { ...LOOPBACK_ONLY, allowed_hosts: ['harbor.example'] },
  });
}

function phone(query = '', headers: Record<string, string> = {}, path = PATH) {
  const client = new WebSocket(`ws+unix:${socket}:${path}${query}`, { headers });
  phones.push(client);
  const told: AudioSocket['message'][] = [];
  client.on('message', (data) => void told.push(JSON.parse(String(data))));
  client.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => void client.on('close', resolve));
  const refused = new Promise<number | undefined>((resolve) => {
    client.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
  });
  return { client, told, closed, refused };
}

describe('the socket for audio alone', () => {
  it('[AUD-1] [AUD-2] [AUD-5] passes the frames of a phone on unchanged', async () => {
    await open();
    const { client, told } = phone('?launch=L1');
    await until('connected', () => told.some(({ state }) => state === 'connected'));
    const sent = Array.from({ length: 20 }, (_, at) => Buffer.alloc(640, at));
    for (const frame of sent) client.send(frame);
    const all = Buffer.concat(sent);
    await until('all of it', () => Buffer.concat(recorded).length === all.length);
    expect(Buffer.concat(recorded).equals(all)).toBe(true);
    expect(relay.view()).toMatchObject({ connected: true, frames: 20, dropped: 0 });
  });

  it('[AUD-6] [AUD-7] tells a phone why it is refused, and that its meeting is over', async () => {
    await open();
    const other = phone('?launch=another');
    expect(await other.closed).toBe(4404);
    expect(other.told.at(-1)?.state).toBe('refused');
    const { told, closed } = phone();
    await until('connected', () => told.some(({ state }) => state === 'connected'));
    meeting = null;
    relay.followMeeting();
    expect(await closed).toBe(4410);
    expect(relay.view()).toBe(null);
  });

  it('[AUD-10] asks of a request what the daemon asks at its other addresses, and serves no other path', async () => {
    await open();
    expect(await phone('', { origin: 'https://evil.example' }).refused).toBe(403);
    expect(await phone('', { host: 'evil.example' }).refused).toBe(403);
    expect(await phone('', {}, '/api/v1/live').refused).toBe(404);
    const fronted = phone('', { host: 'harbor.example', origin: 'https://harbor.example' });
    await until('connected', () => fronted.told.some(({ state }) => state === 'connected'));
  });

  it('keeps its phones apart from those of the other listener, which has the same numbers for them', async () => {
    await open();
    const states: AudioSocket[][] = [];
    const others = relay.listener((all) => states.push(all));
    others.open(1, 'L1');
    const { told } = phone();
    await until('connected', () => told.some(({ state }) => state === 'connected'));
    await until('the other one too', () => states.at(-1)?.[0]?.message.state === 'connected');
    expect(relay.sockets).toBe(2);
    expect(states.every((all) => all.length === 1)).toBe(true);
    others.close(1);
    expect(relay.sockets).toBe(1);
    expect(relay.view()?.connected).toBe(true);
  });

  it('is made anew where a killed daemon has left it', async () => {
    const left = join(folder.path, 'left.sock');
    const killed = createServer();
    await new Promise<void>((resolve) => killed.listen(left, resolve));
    mkdirSync(dirname(socket));
    renameSync(left, socket);
    await new Promise((resolve) => killed.close(resolve));
    await open();
    const { told } = phone();
    await until('connected', () => told.some(({ state }) => state === 'connected'));
  });

  it('is closed also where that is asked while it is being opened', async () => {
    begin();
    // It is there before it is open to this user alone, and its opening ends with that.
    while (!existsSync(socket)) await new Promise((resolve) => setImmediate(resolve));
    await close();
    expect(existsSync(socket)).toBe(false);
  });

  it('[AUD-10] waits a second for phones that do not answer its farewell', async () => {
    const clock = new FakeClock();
    begin(silentLogger, clock);
    await until('the socket', () => existsSync(socket) && (statSync(socket).mode & 0o777) === 0o600);
    const line = connect(socket);
    const head = {
      ...{ Host: 'localhost', Upgrade: 'websocket', Connection: 'Upgrade' },
      ...{ 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    line.write(
      `GET ${PATH} HTTP/1.1\r\n${Object.entries(head)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    );
    let heard = '';
    line.on('data', (bytes) => {
      heard += bytes;
    });
    await until('connected', () => heard.includes('"connected"'));
    const closed = close();
    await until('the farewell', () => heard.includes('The daemon stops.'));
    clock.advance(1_000);
    await closed;
    expect(relay.sockets).toBe(0);
    line.destroy();
  });

  it('is done without where it cannot be opened, which the log says once, and is tried again, which it says too', async () => {
    writeFileSync(dirname(socket), 'a file in the place of the folder');
    let asked = 0;
    const clock = new (class extends FakeClock {
      override after(ms: number, run: () => void): () => void {
        asked += 1;
        return super.after(ms, run);
      }
    })();
    const said: string[] = [];
    const hear = (_: unknown, text: string) => void said.push(text);
    begin({ ...silentLogger, warn: hear, info: hear } as unknown as Logger, clock);
    await until('the first try having failed', () => asked === 1);
    clock.advance(5_000);
    await until('the second try having failed', () => asked === 2);
    expect(said).toEqual(['no socket for audio alone; the audio of phones comes through the main thread']);
    rmSync(dirname(socket));
    clock.advance(5_000);
    await until('the word that it is open', () => said[1] === 'the socket for audio alone is open now');
    expect(existsSync(socket)).toBe(true);
  });
});
