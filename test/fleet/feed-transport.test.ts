import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { HttpTransport } from '../../src/fleet/feed-transport.ts';
import { until } from '../kit/until.ts';

let server: Server;
let open: ServerResponse[];
let transport: HttpTransport;
let url: string;
beforeEach(async () => {
  open = [];
  transport = new HttpTransport({ host: 'host-a', clock: systemClock });
  server = createServer((request, response) => {
    if (request.url === '/api/v1/now') response.end(request.headers['if-none-match'] ?? 'none');
    else open.push(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://me:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  transport.stop();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const get = (path: string, more: object = {}) =>
  transport.get({
    ...{ to: { name: 'host-b', address: { url } }, path, if_none_match: null, timeout_ms: 20_000 },
    ...{ anew: false, meter: { bytes: 0 } },
    signal: new AbortController().signal,
    ...more,
  });

describe('a question to another host', () => {
  it('goes to its API, over a kept connection or a new one', async () => {
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    expect((await get('/now')).body.toString()).toBe('none');
    expect((await get('/now', { if_none_match: '"e"' })).body.toString()).toBe('"e"');
    expect(connections).toBe(1);
    await get('/now', { anew: true });
    expect(connections).toBe(2);
  });

  it('that fails says where, without what is secret in the URL, and how much came', async () => {
    const late = await get('/later', { timeout_ms: 50 }).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: 'remote_unreachable', details: { origin: 'host-b' } });
    expect(String(late)).toMatch(/host-b does not answer at 127\.0\.0\.1:\d+: no answer within 0\.05 s\./);
    expect(String(late)).not.toContain('secret');
    const meter = { bytes: 0 };
    const broken = get('/later', { meter }).catch((error: unknown) => error);
    await until('the question', () => open.length === 2);
    open[1]!.writeHead(200, { 'content-length': 9 }).write('abc', () => open[1]!.destroy());
    expect(await broken).toMatchObject({ code: 'remote_unreachable' });
    expect(meter).toEqual({ bytes: 3 });
  });

  it('waits while 64 other questions have no answer', async () => {
    const waiting = Array.from({ length: 65 }, () => get('/later', { anew: true }));
    await until('the questions', () => open.length === 64);
    open[0]!.end();
    await until('the last one', () => open.length === 65);
    for (const response of open) response.end();
    expect(await Promise.all(waiting)).toHaveLength(65);
  });
});
