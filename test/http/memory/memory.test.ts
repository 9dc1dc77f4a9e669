import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { pause, until } from '../../kit/until.ts';
import { ask, requestText } from '../raw-exchange.ts';
import { SERVER_KIND } from '../served.ts';

const MIB = 1024 * 1024;
const FILE_BYTES = 16 * MIB;

let folder: string;
let server: ChildProcess;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-memory-'));
  const path = join(folder, 'file');
  writeFileSync(path, Buffer.alloc(FILE_BYTES, 7));
  const script = new URL('server.ts', import.meta.url).pathname;
  server = spawn(process.execPath, ['--expose-gc', '--experimental-strip-types', script, SERVER_KIND, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(server.stdout!, 'data');
  port = Number(String(said));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  const gone = once(server, 'exit');
  server.kill('SIGKILL');
  await gone;
  rmSync(folder, { recursive: true });
});

/** What the kernel says that the server's process holds of its own: no files, no socket buffers, no garbage. */
async function heldBytes(): Promise<number> {
  await ask({ port }, 'GET', '/collect', {});
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** Asks, reads the beginning of the answer and then nothing more. */
async function askAndStop(path: string): Promise<Socket> {
  const socket = await open();
  socket.write(requestText('GET', path));
  await once(socket, 'readable');
  return socket;
}

/** A client of `GET /live`, and what it was told: the tag of each message, or `whole`. */
async function follow(): Promise<{ client: WebSocket; told: string[] }> {
  const client = new WebSocket(`ws://127.0.0.1:${port}/api/v1/live`);
  onTestFinished(() => client.terminate());
  const told: string[] = [];
  client.on('message', (data) => {
    const message = JSON.parse(String(data));
    told.push(message.whole === true ? 'whole' : message.tag);
  });
  await until('the first message', () => told.length > 0);
  return { client, told };
}

/** The most that is held until it has not grown for a while. */
async function settledBytes(): Promise<number> {
  let [most, same] = [0, 0];
  await until('the memory of the server settles', async () => {
    await pause(100);
    const held = await heldBytes();
    same = held > most + MIB ? 0 : same + 1;
    most = Math.max(most, held);
    return same >= 10;
  });
  return most;
}

const longHead = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;

describe.runIf(process.platform === 'linux')('the memory of a server', () => {
  it('buffers a limited part of what slow readers have not read, and serves others meanwhile', async () => {
    const before = await heldBytes();
    await Promise.all(Array.from({ length: 600 }, () => askAndStop('/file')));
    // Read ahead for each of them, it would be 300 MiB.
    expect((await settledBytes()) - before).toBeLessThan(150 * MIB);
    expect(await ask({ port }, 'GET', '/small', {})).toMatchObject({ status: 200 });
  }, 90_000);

  it('closes the answers that wait longest for their clients, and never one that is being read', async () => {
    const before = await heldBytes();
    const readers = await Promise.all(Array.from({ length: 80 }, () => askAndStop('/answer')));
    // The 320 MiB of all of them were made; those of who was cut off go when more is asked for.
    await until('what was cut off is given back', async () => {
      expect(await ask({ port }, 'GET', '/answer', {})).toMatchObject({ status: 200 });
      return (await heldBytes()) - before < 200 * MIB;
    });
    for (const reader of readers) reader.resume();
    await until('the oldest is cut off', () => readers[0]!.destroyed || readers[0]!.closed);
  }, 90_000);

  it('accepts as many long bodies as fit in memory, refuses others with Retry-After, and accepts short ones', async () => {
    const before = await heldBytes();
    const length = 59 * MIB;
    const part = Buffer.alloc(length - 1, 1);
    const answers = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const socket = await open();
        let text = '';
        socket.on('data', (chunk: Buffer) => {
          text += chunk.toString('latin1');
        });
        socket.write(longHead('/long', length));
        socket.write(part);
        return { socket, text: () => text };
      }),
    );
    await until('all but two are answered', () => answers.filter(({ text }) => text() !== '').length === 14);
    for (const { text } of answers.filter((each) => each.text() !== '')) {
      expect(text()).toMatch(/^HTTP\/1\.1 503 /);
      expect(text()).toContain('\r\nRetry-After: 2\r\n');
      expect(text()).toContain('"error":"memory_full"');
    }
    // Its connection is not cut off under the body: the client reads the answer, and may ask again.
    const refused = answers.find((each) => each.text() !== '')!;
    refused.socket.write(`x${requestText('GET', '/small')}`);
    await until('the next answer', () => refused.text().includes('HTTP/1.1 200 '));
    expect((await settledBytes()) - before).toBeLessThan(190 * MIB);
    const document = { body: 'x'.repeat(2 * MIB) };
    expect(await ask({ port }, 'POST', '/document', document)).toMatchObject({ status: 200 });
    expect(await ask({ port }, 'GET', '/small', {})).toMatchObject({ status: 200 });
    const taken = answers.filter(({ text }) => text() === '');
    for (const { socket } of taken) socket.write('x');
    await until('those that were let in are answered', () => taken.every(({ text }) => text() !== ''));
    for (const { text } of taken) expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    const left = await open();
    left.write(longHead('/long', length));
    left.write(part);
    await until('most of a body has come', async () => (await heldBytes()) - before > 50 * MIB);
    left.destroy();
    await until('the memory of who left is given back', async () => (await heldBytes()) - before < 40 * MIB);
    const again = await open();
    again.write(longHead('/long', length));
    again.write(Buffer.alloc(length, 1));
    const [chunk] = await once(again, 'data');
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 200 /);
  }, 90_000);

  it('buffers a limited part of the live messages that slow clients have not read, and tells the others of each change', async () => {
    const bytes = 256 * 1024;
    const moves = 60;
    const slow = await Promise.all(Array.from({ length: 64 }, follow));
    for (const { client } of slow) client.pause();
    const fast = await Promise.all(Array.from({ length: 4 }, follow));
    const before = await heldBytes();
    for (let nth = 1; nth <= moves; nth += 1) {
      const counts = fast.map(({ told }) => told.length);
      await ask({ port }, 'POST', '/move', { body: JSON.stringify({ tag: `t${nth}`, bytes }) });
      await until(`change ${nth}`, () => fast.every(({ told }, one) => told.length > counts[one]!));
      for (const { told } of fast) expect(['whole', `t${nth}`]).toContain(told.at(-1));
    }
    // All that was not read of the 960 MiB would be more than 500 MiB, without what the kernel has taken.
    expect((await settledBytes()) - before).toBeLessThan(120 * MIB);
    const [first, ...others] = slow;
    first!.client.resume();
    await until('it is told to read the feed again', () => first!.told.at(-1) === 'whole');
    expect(first!.told.length).toBeLessThan(moves);
    for (const { client } of others) client.terminate();
    await until('the changes themselves are sent again', async () => {
      await ask({ port }, 'POST', '/move', { body: JSON.stringify({ tag: 'last', bytes }) });
      return [first!, ...fast].every(({ told }) => told.at(-1) === 'last');
    });
  }, 90_000);
});
