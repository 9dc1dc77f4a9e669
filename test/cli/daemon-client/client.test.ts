import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/base/clock.ts';
import {
  chooseAddress,
  connectDaemon,
  createDaemonClient,
  parseAddress,
} from '../../../src/cli/daemon-client/client.ts';
import { findDaemon } from '../../../src/cli/daemon-client/daemon-file.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

let machine: Machine;
const servers: StandIn[] = [];
const settings = () => readSettings(machine.env);

beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  machine.remove();
});

async function serve(...args: Parameters<typeof serveAnswers>): Promise<StandIn> {
  const server = await serveAnswers(...args);
  servers.push(server);
  return server;
}

describe('the address of a daemon', () => {
  it.each([
    ['127.0.0.1:4000', { host: '127.0.0.1', port: 4000 }],
    ['[::1]:4000', { host: '::1', port: 4000 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['http://127.0.0.1:4000/', { host: '127.0.0.1', port: 4000 }],
    ['unix:/run/svc.sock', { socketPath: '/run/svc.sock' }],
    ['unix:relative', null],
    ['127.0.0.1:0', null],
    ['127.0.0.1:70000', null],
    ['127.0.0.1', null],
    ['::1:4000', null],
    ['', null],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it('prefers the socket file, then the first that can be read', () => {
    expect(chooseAddress(['127.0.0.1:1', 'unix:/a'])).toEqual({ socketPath: '/a' });
    expect(chooseAddress(['what', '[::1]:2', '127.0.0.1:1'])).toEqual({ host: '::1', port: 2 });
    expect(chooseAddress([])).toBeNull();
  });
});

describe('finding the daemon', () => {
  it('finds none, a running one, one whose pid was reused, and an invalid file', async () => {
    expect(await findDaemon(settings())).toEqual({ kind: 'absent' });
    machine.writeDaemonFile(['127.0.0.1:1']);
    expect(await findDaemon(settings())).toMatchObject({ kind: 'running', daemon: { pid: process.pid } });
    machine.writeDaemonFile(['127.0.0.1:1'], { start_time: null });
    expect(await findDaemon(settings())).toMatchObject({ kind: 'running' });
    machine.writeDaemonFile(['127.0.0.1:1'], { start_time: '1' });
    expect(await findDaemon(settings())).toMatchObject({ kind: 'stale' });
    machine.writeDaemonFile(['127.0.0.1:1'], { pid: 0 });
    expect(await findDaemon(settings())).toMatchObject({ kind: 'stale' });
    for (const text of ['', '{"pid":', '[]', '{"pid":"7"}']) {
      writeFileSync(join(machine.data_dir, 'daemon.json'), text);
      expect(await findDaemon(settings())).toMatchObject({ kind: 'unreadable' });
    }
  });

  it('says how to start one if none runs', async () => {
    await expect(connectDaemon(settings())).rejects.toMatchObject({
      code: 'daemon_unreachable',
      message: 'the daemon does not run; start it with: svc daemon start',
    });
  });
});

describe('talking to the daemon', () => {
  const schema = z.object({ n: z.number() });

  it('reads and writes over TCP and over a socket file', async () => {
    for (const path of [undefined, join(machine.folder, 'api.sock')]) {
      const server = await serve({ 'GET /a': { body: { n: 1 } }, 'POST /b': (body) => body }, path);
      machine.writeDaemonFile([server.listen]);
      const client = await connectDaemon(settings());
      expect(await client.get('/a', schema)).toEqual({ n: 1 });
      expect(await client.post('/b', { n: 2 }, schema)).toEqual({ n: 2 });
      expect(server.seen).toEqual([
        { path: '/a', body: null },
        { path: '/b', body: { n: 2 } },
      ]);
    }
  });

  it('keeps the code, the message and the fields of a refusal', async () => {
    const body = { error: 'conflict', message: 'it moved on', conflict: true };
    const server = await serve({ 'GET /a': { status: 409, body }, 'GET /b': { status: 500, body: [] } });
    machine.writeDaemonFile([server.listen]);
    const client = await connectDaemon(settings());
    await expect(client.get('/a', schema)).rejects.toMatchObject({
      code: 'conflict',
      message: 'it moved on',
      details: { conflict: true },
    });
    await expect(client.get('/b', schema)).rejects.toMatchObject({
      code: 'internal',
      message: 'the daemon answered 500 to /b',
    });
  });

  it('[RDY-1] distinguishes a daemon that boots from one that fails', async () => {
    const body = { error: 'booting', ready: false, message: 'GET /api/v1/version says when it is ready.' };
    const server = await serve({ 'GET /state': { status: 503, body } });
    machine.writeDaemonFile([server.listen]);
    await expect((await connectDaemon(settings())).get('/state', schema)).rejects.toMatchObject({
      code: 'booting',
      message: 'the daemon is still starting; try again in a moment',
    });
  });

  it.each([
    [
      {},
      'the daemon is of another build than svc, and does not know /a; after an upgrade run: svc daemon restart',
    ],
    [
      { origin: 'mesa' },
      'the daemon of mesa is of another build than svc, and does not know /a; bring it up to date there',
    ],
  ])('[VER-3] names the fix where a daemon does not know what is asked of it: %j', async (more, message) => {
    const body = { error: 'not_found', message: 'none', unknown_route: true, ...more };
    const server = await serve({ 'GET /a?n=1': { status: 404, body } });
    machine.writeDaemonFile([server.listen]);
    await expect((await connectDaemon(settings())).get('/a?n=1', schema)).rejects.toMatchObject({
      code: 'not_found',
      message,
    });
  });

  it('refuses an answer of an unknown shape and names the fix', async () => {
    const server = await serve({ 'GET /a': { body: { n: 'one' } } });
    machine.writeDaemonFile([server.listen]);
    await expect((await connectDaemon(settings())).get('/a', schema)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('svc daemon restart'),
    });
  });

  it('names the other host whose answer has an unknown shape, and not the daemon that passed it on', async () => {
    const server = await serve({ 'GET /a': { body: { n: 'one' } } });
    machine.writeDaemonFile([server.listen]);
    const { daemon } = await connectDaemon(settings());
    await expect(createDaemonClient(daemon, 'host-b').get('/a', schema)).rejects.toMatchObject({
      code: 'internal',
      message:
        'the answer of host-b to /a has an unknown format; bring the older of both hosts up to date, which this tells: svc remotes check host-b',
    });
  });

  it('treats a closed port, a lost connection and an answer that is not JSON as unreachable', async () => {
    const unreachable = { code: 'daemon_unreachable', message: expect.stringContaining('svc daemon logs') };
    const server = await serveAnswers({});
    machine.writeDaemonFile([server.listen]);
    await server.close();
    await expect((await connectDaemon(settings())).get('/a', schema)).rejects.toMatchObject(unreachable);

    for (const said of [
      '',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}',
    ]) {
      const raw = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.end(said));
      });
      await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
      const address = raw.address();
      machine.writeDaemonFile([`127.0.0.1:${typeof address === 'object' ? address?.port : 0}`]);
      await expect((await connectDaemon(settings())).get('/a', schema)).rejects.toMatchObject(unreachable);
      await new Promise((resolve) => raw.close(resolve));
    }
  });

  /** As the daemon of the machine, until the test ends. */
  async function listen(server: Server): Promise<void> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    machine.writeDaemonFile([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
  }

  it('[WPL-4] gives up a call that may take minutes once the daemon answers nothing at all', async () => {
    const { timeout } = AbortSignal;
    const limits = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => timeout.call(AbortSignal, ms > 10_000 ? ms : 1));
    onTestFinished(() => limits.mockRestore());
    const server = createServer((socket) => void socket.on('error', () => {}));
    await listen(server);
    await expect((await connectDaemon(settings())).post('/kill', {}, schema)).rejects.toMatchObject({
      code: 'daemon_unreachable',
      message: expect.stringContaining('does not answer: no answer within 10 s'),
    });
  });

  it('says of a daemon that answers other requests that one of them is slow', async () => {
    const { timeout } = AbortSignal;
    const limits = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => timeout.call(AbortSignal, ms === 10_000 ? 1 : ms));
    onTestFinished(() => limits.mockRestore());
    const server = createHttpServer((request, response) => {
      if (request.url?.endsWith('/version')) response.end('{}');
    });
    await listen(server);
    await expect((await connectDaemon(settings())).get('/spend', schema)).rejects.toMatchObject({
      code: 'daemon_unreachable',
      message: expect.stringMatching(
        /answers, but not this yet: no answer within 10 s; see: svc daemon status$/,
      ),
    });
    server.closeAllConnections();
  });

  it('[WPL-1] waits for a slow answer of a daemon that answers meanwhile', async () => {
    let slow: ServerResponse | null = null;
    const server = createHttpServer((request, response) => {
      if (request.method === 'POST') {
        slow = response;
        return;
      }
      response.end('{}');
      slow?.writeHead(200, { 'content-type': 'application/json' }).end('{"n":1}');
    });
    await listen(server);
    expect(await (await connectDaemon(settings())).post('/dispatch', {}, schema)).toEqual({ n: 1 });
  });

  it('[WPL-1] asks again under the id of a write that goes on, and answers what came of it', async () => {
    const keys: unknown[] = [];
    const server = createHttpServer((request, response) => {
      if (request.method !== 'POST') return void response.end('{}');
      keys.push(request.headers['idempotency-key']);
      const late = { error: 'deadline_exceeded', message: 'it is slow', goes_on: true };
      const [status, body] = keys.length < 3 ? [504, late] : [200, { n: 1 }];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await listen(server);
    const client = await connectDaemon(settings());
    expect(await client.post('/dispatch', {}, schema)).toEqual({ n: 1 });
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], keys[0]]);
    await client.post('/dispatch', {}, schema);
    expect(keys[3]).not.toBe(keys[0]);
    // A message has an id of its own, a rehearsal needs none.
    await client.post('/messages', { message_id: 'm-1' }, schema);
    await client.post('/dispatch', { dry_run: true }, schema);
    expect(keys.slice(4)).toEqual([undefined, undefined]);
  });

  it('[WPL-1] tells of a write that is not done in its time where to look, and that it goes on', async () => {
    vi.spyOn(systemClock, 'monotonic').mockImplementation(() => passed);
    onTestFinished(() => void vi.restoreAllMocks());
    let passed = 0;
    const server = createHttpServer((request, response) => {
      if (request.method !== 'POST') return void response.end('{}');
      passed += 60_000;
      const late = {
        error: 'deadline_exceeded',
        message: 'the poller is slow; it goes on, and more',
        goes_on: true,
      };
      response.writeHead(504, { 'content-type': 'application/json' }).end(JSON.stringify(late));
    });
    await listen(server);
    await expect(
      (await connectDaemon(settings())).post('/dispatch', { fiber_id: 'a b' }, schema),
    ).rejects.toMatchObject({
      code: 'outcome_unknown',
      message:
        "the poller is slow; whether it was done is not known yet, and it goes on; look with: svc status 'a b'",
    });
    expect(passed).toBe(180_000);
  });

  it('[WPL-1] waits for the answer of a daemon that is being stopped and takes no other connection', async () => {
    const server = createHttpServer((_, response) => {
      server.close();
      const looks = setInterval(() => {
        // The request itself, a question that was refused, and one more.
        if (doubts.mock.calls.length < 3) return;
        clearInterval(looks);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"n":1}');
      }, 10);
    });
    await listen(server);
    const client = await connectDaemon(settings());
    const doubts = vi.spyOn(AbortSignal, 'any');
    onTestFinished(() => doubts.mockRestore());
    doubts.mockClear();
    expect(await client.post('/dispatch', {}, schema)).toEqual({ n: 1 });
  });
});
