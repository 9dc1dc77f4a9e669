import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  KeptConnections,
  requestJson,
  requestPaced,
  type ServerAddress,
} from '../../src/platform/http-client.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
let server: Server;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  scratch.remove();
});

async function answering(listener: RequestListener, path?: string): Promise<number> {
  server = createServer(listener);
  await new Promise<void>((done) =>
    path === undefined ? server.listen(0, '127.0.0.1', done) : server.listen(path, done),
  );
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

const echo: RequestListener = (request, response) => {
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method: request.method, url: request.url, text, ...request.headers }));
  });
};
const limits = { deadline_ms: 10_000, most_bytes: 1_000 };
const get = (to: ServerAddress, more: object = {}) =>
  requestJson({ to, method: 'GET', path: '/a?b=c', ...limits, ...more });

describe('a request to another server', () => {
  it('reaches it by address, by URL and by socket file', async () => {
    const port = await answering(echo);
    const seen = { status: 200, body: { method: 'GET', url: '/a?b=c', text: '', connection: 'close' } };
    expect(await get({ host: '127.0.0.1', port })).toMatchObject(seen);
    expect(await get({ url: `http://127.0.0.1:${port}` })).toMatchObject(seen);
    expect(await get({ url: `http://127.0.0.1:${port}/base` })).toMatchObject({
      body: { url: '/base/a?b=c', host: `127.0.0.1:${port}` },
    });
    server.close();
    const socketPath = join(scratch.path, 's');
    await answering(echo, socketPath);
    expect(await get({ socketPath })).toMatchObject({ body: { ...seen.body, host: 'localhost' } });
  });

  it('sends a body as JSON, and accepts JSON, text or an empty body', async () => {
    const port = await answering(echo);
    const to = { host: '127.0.0.1', port };
    const sent = await requestJson({ to, method: 'POST', path: '/', body: { é: 1 }, ...limits });
    expect(sent.body).toMatchObject({
      text: '{"é":1}',
      'content-type': 'application/json',
      'content-length': '8',
    });
    server.removeAllListeners('request');
    server.on('request', (_, response) =>
      response.writeHead(422, { 'content-type': 'text/plain' }).end('no'),
    );
    expect(await get(to)).toMatchObject({ status: 422, body: 'no' });
    server.removeAllListeners('request');
    server.on('request', (_, response) => response.writeHead(204).end());
    expect(await get(to)).toMatchObject({ status: 204, body: null });
  });

  it.each<[string, RequestListener, object]>([
    ['no answer within 0.05 s', () => undefined, { deadline_ms: 50 }],
    ['no answer within 0.05 s', (_, response) => void response.write('{"a":'), { deadline_ms: 50 }],
    ['its answer is too large', (_, response) => response.end(`"${'x'.repeat(999)}"`), {}],
    ['its answer is not JSON', (_, response) => response.end('<html>'), {}],
    ['it closed the connection', (request) => request.socket.destroy(), {}],
    [
      'its answer is not JSON',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end('moved'),
      {},
    ],
  ])('reports %s', async (message, listener, more) => {
    const to = { host: '127.0.0.1', port: await answering(listener) };
    await expect(get(to, more)).rejects.toThrow(message);
  });

  it('reports that another kind of server answers', async () => {
    const port = await answering(echo);
    server.on('connection', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await expect(get({ host: '127.0.0.1', port })).rejects.toThrow(/^its answer is not HTTP$/);
  });

  it('reports that nothing listens', async () => {
    const port = await answering(echo);
    await new Promise((done) => server.close(done));
    await expect(get({ url: `http://127.0.0.1:${port}` })).rejects.toThrow('ECONNREFUSED');
    await expect(get({ url: 'no url' })).rejects.toThrow('Invalid URL');
  });
});

describe('an answer of any length', () => {
  const ask = (port: number, more: object = {}) =>
    requestPaced({
      to: { url: `http://127.0.0.1:${port}/base` },
      ...{ path: '/a', headers: { accept: 'x/y' }, kept: null, head_ms: 5_000, rest_ms: 5_000 },
      ...{ takes: (bytes: number) => bytes <= 100_000, signal: new AbortController().signal },
      ...more,
    });

  it('is what came, of any status, and no redirect is followed', async () => {
    const port = await answering((request, response) => {
      response.writeHead(302, { location: '/elsewhere', 'x-url': request.url! });
      response.end('bytes');
    });
    const { status, headers, body } = await ask(port);
    expect([status, headers['x-url'], body.toString()]).toEqual([302, '/base/a', 'bytes']);
  });

  it('is cut off where it has no end, does not begin, or comes too slowly', async () => {
    const port = await answering((request, response) => {
      if (request.headers.accept === 'endless') {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', more);
        more();
      } else if (request.headers.accept === 'slow') {
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      }
    });
    const headers = (accept: string) => ({ headers: { accept } });
    let most = 0;
    const takes = (bytes: number) => {
      most = Math.max(most, bytes);
      return bytes <= 100_000;
    };
    await expect(ask(port, { ...headers('endless'), takes })).rejects.toThrow('its answer is too large');
    expect(most).toBeLessThan(1_000_000);
    await expect(ask(port, { ...headers('slow'), rest_ms: 200 })).rejects.toThrow(
      'its answer comes too slowly',
    );
    await expect(ask(port, { ...headers('silent'), head_ms: 100 })).rejects.toThrow('no answer within 0.1 s');
  });

  it('breaks off with the one who asked, and where its sender does', async () => {
    const port = await answering((request, response) => {
      response.writeHead(200, { 'content-length': 9 });
      response.write('x');
      if (request.headers.accept === 'broken') setTimeout(() => response.destroy(), 20);
    });
    await expect(ask(port, { headers: { accept: 'broken' } })).rejects.toThrow();
    const signal = AbortSignal.timeout(50);
    await expect(ask(port, { signal })).rejects.toThrow();
  });

  it('comes over a kept connection, or a new one where that was closed meanwhile', async () => {
    let connections = 0;
    const port = await answering((_, response) => response.end('x'));
    server.on('connection', () => {
      connections += 1;
    });
    const kept = new KeptConnections();
    for (let at = 0; at < 3; at += 1) await ask(port, { kept });
    expect(connections).toBe(1);
    server.removeAllListeners('request');
    server.once('request', (request) => {
      request.socket.resetAndDestroy();
      server.on('request', (_, response) => response.end('y'));
    });
    expect((await ask(port, { kept })).body.toString()).toBe('y');
    expect(connections).toBe(2);
    kept.close();
  });
});
