import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Version } from '../../src/contract/http/version.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';
import { HOSTILE_NAMES, HOSTILE_TEXTS, writeHostileDocuments } from './hostile-documents.ts';
import { seeded } from './seeded.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000_000);
const MANY = 10_000;

let bed: Bed;

afterEach(() => bed.dispose());

/** The daemon is the same process and none of its threads had to be restarted. */
async function expectUnharmed(daemon: Daemon): Promise<void> {
  const { json } = await daemon.get<Version>('/version');
  expect(json).toMatchObject({ ready: true, pid: daemon.pid });
  expect(json.components.filter((one) => one.restarts > 0 || one.state !== 'running')).toEqual([]);
}

it('lists hostile documents with their errors, among ten thousand others, and keeps serving', async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  const base = join(bed.store.root, '.fibers');
  writeHostileDocuments(base);
  for (let nth = 0; nth < MANY; nth += 1) {
    mkdirSync(join(base, 'many', `n${nth}`), { recursive: true });
    writeFileSync(join(base, 'many', `n${nth}`, `n${nth}.md`), `---\nname: N ${nth}\nstatus: open\n---\n`);
  }
  await bed.fiber('good', { armed: false });
  const daemon = await bed.daemon().ready(60_000);
  await daemon.stateWhen('a listing', (state) => state.poll_health.stores[0]?.state === 'ok', 60_000);
  const { status, json } = await daemon.get<{ fibers: { id: string; error?: string }[] }>(
    '/fibers?body=true',
    30_000,
  );
  expect(status).toBe(200);
  const ids = new Set(json.fibers.map((row) => row.id));
  for (const name of ['good', 'huge', 'itself', 'nowhere', 'zeros', ...Object.keys(HOSTILE_TEXTS)])
    expect(ids).toContain(name);
  expect([...ids].filter((id) => id.startsWith('many/')).length).toBe(MANY);
  for (const name of ['huge', 'itself', 'nowhere', 'zeros', 'no-end', 'bomb'])
    expect(json.fibers.find((row) => row.id === name)?.error, name).toBeTypeOf('string');
  expect(ids.size).toBeLessThan(MANY + 200);

  // Everything is asked for by name, armed ones are let go, and what can change changes.
  await daemon.post('/quarantine/release', {});
  for (const name of [
    ...HOSTILE_NAMES,
    ...Object.keys(HOSTILE_TEXTS),
    'huge',
    'zeros',
    'itself',
    'loop/good',
  ]) {
    await daemon.get(`/fibers/${encodeURIComponent(name)}`);
    await daemon.post('/dispatch', { fiber_id: name });
    await daemon.post('/fiber-edit', { fiber_id: name, outcome: 'x', set: { 'svc.agent': 'fast' } });
    const path = join(base, name, `${name}.md`);
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
      utimesSync(path, new Date(), new Date());
  }
  await delay(1_500);
  await expectUnharmed(daemon);
  expect((await daemon.post('/fiber-edit', { fiber_id: 'good', outcome: 'fine' })).status).toBe(200);
  expect(bed.store.read('good').outcome).toBe('fine');
  // `find` follows none of the links that lead in circles.
  expect(execFileSync('find', [bed.root, '-name', 'pwned'], { encoding: 'utf8' })).toBe('');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it(`answers or drops garbage on its port and keeps serving (FAULT_SEED=${SEED})`, async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  await bed.fiber('good', { armed: false });
  const daemon = await bed.daemon().ready();
  const [host = '', port = ''] = (await daemon.address()).split(':');
  const random = seeded(SEED);
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.whole(0, 255)));
  const head = (line: string, ...more: string[]) =>
    `${line}\r\nHost: ${host}:${port}\r\n${more.map((one) => `${one}\r\n`).join('')}\r\n`;
  const junk: (string | Buffer)[] = [
    '',
    '\r\n\r\n\r\n',
    'GET',
    head('GET / HTTP/9.9'),
    head('GET /api/v1/%00%ff%zz HTTP/1.1'),
    head(`GET /${'a'.repeat(100_000)} HTTP/1.1`),
    head('GET /api/v1/version HTTP/1.1', `X-Long: ${'b'.repeat(200_000)}`),
    head('GET /api/v1/version HTTP/1.1', ...Array.from({ length: 500 }, (_, nth) => `X-${nth}: y`)),
    head('POST /api/v1/dispatch HTTP/1.1', 'Content-Length: -1'),
    head('POST /api/v1/dispatch HTTP/1.1', 'Content-Length: 99999999999999999999'),
    `${head('POST /api/v1/dispatch HTTP/1.1', 'Content-Length: 5', 'Content-Length: 6')}hello`,
    `${head('POST /api/v1/dispatch HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\nnot a chunk\r\n`,
    head('POST /api/v1/fiber-edit HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 400000') +
      '['.repeat(400_000),
    head('POST /api/v1/fiber-edit HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 20') +
      '{"__proto__": {"a":',
    head('GET /api/v1/state HTTP/1.1', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: x'),
    ...Array.from({ length: 60 }, () => bytes(random.whole(1, 4_000))),
    ...Array.from({ length: 60 }, () =>
      Buffer.concat([
        Buffer.from('GET /api/v1/'),
        bytes(random.whole(1, 300)),
        Buffer.from(' HTTP/1.1\r\n\r\n'),
      ]),
    ),
  ];
  for (let from = 0; from < junk.length; from += 20)
    await Promise.all(junk.slice(from, from + 20).map((one) => throwAt(host, Number(port), one)));
  // Many connections at once that are reset in the middle of a request.
  await Promise.all(
    Array.from({ length: 300 }, () => throwAt(host, Number(port), 'POST /api/v1/dispatch HTTP/1.1\r\nHo', 5)),
  );
  await until('an answer', async () => (await daemon.get('/version')).status === 200);
  await expectUnharmed(daemon);
  expect((await daemon.get('/fibers/good')).status).toBe(200);
  expect(bed.store.read('good').outcome).toBeUndefined();
});

/** Sends bytes, waits a moment for whatever comes back, and resets the connection. */
function throwAt(host: string, port: number, bytes: string | Buffer, wait_ms = 200): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.write(bytes);
      setTimeout(() => socket.resetAndDestroy(), wait_ms);
    });
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.on('close', () => resolve());
  });
}
