import { chmod, link, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createDeferred } from '../../src/base/deferred.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Pieces } from '../../src/http/pieces.ts';
import type { Row } from '../../src/http/row.ts';
import { createHttpServer, type HttpLimits, type HttpServer } from '../../src/http/server.ts';
import { ask, exchangeRaw, parseAnswers, requestText } from './raw-exchange.ts';
import {
  ANSWERED_HERE,
  getRow,
  HAS_LOOPBACK_V6,
  LOOPBACK_ONLY,
  loopbackAddresses,
  SERVER_KIND,
} from './served.ts';

const running: HttpServer[] = [];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-http-'));
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await rm(folder, { recursive: true });
});

const hello = getRow('/hello', () => ({ status: 200, json: 'hello' }));

function create(routes: Row[] = [hello], limits: Partial<HttpLimits> = {}): HttpServer {
  const server = createHttpServer({
    host: 'host-a',
    routes,
    access: LOOPBACK_ONLY,
    booting: () => null,
    route: ANSWERED_HERE,
    http: SERVER_KIND,
    limits,
    logger: silentLogger,
    clock: systemClock,
  });
  running.push(server);
  return server;
}

function portOf(address: string): number {
  return Number(address.split(':').at(-1));
}

async function holdPort(host: string, port = 0): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host, port, exclusive: true }, resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('not bound');
  return { port: bound.port, release: () => new Promise((resolve) => server.close(() => resolve())) };
}

describe('TCP listeners', () => {
  it('[LIM-1] binds both loopback addresses on one port', async () => {
    const server = create();
    const addresses = await server.listen('127.0.0.1:0');
    const port = portOf(addresses[0]!);
    expect(addresses).toEqual(loopbackAddresses(port));
    expect(server.addresses()).toEqual(addresses);
    for (const host of HAS_LOOPBACK_V6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
      expect((await ask({ port, host }, 'GET', '/hello')).body).toBe('"hello"');
    }
  });

  it.runIf(HAS_LOOPBACK_V6)('binds IPv6 alone when asked to', async () => {
    const addresses = await create().listen('[::1]:0');
    expect(addresses).toEqual([expect.stringMatching(/^\[::1\]:\d+$/)]);
  });

  it('never shares a port: the second daemon is told which process holds it', async () => {
    const [address] = await create().listen('127.0.0.1:0');
    const refusal = await create()
      .listen(address!)
      .catch((error: unknown) => error);
    const is_named = platform() === 'linux';
    const pid = is_named ? process.pid : null;
    expect(refusal).toMatchObject({ code: 'address_in_use', details: { address, pid } });
    expect(String(refusal)).toContain(is_named ? `pid ${process.pid} (` : 'another process');
  });

  it.runIf(HAS_LOOPBACK_V6)(
    'refuses when only the IPv6 port is taken, and releases the IPv4 port',
    async () => {
      const held = await holdPort('::1');
      const refusal = await create()
        .listen(`127.0.0.1:${held.port}`)
        .catch((error: unknown) => error);
      expect(refusal).toMatchObject({ code: 'address_in_use', details: { address: `[::1]:${held.port}` } });
      const again = await holdPort('127.0.0.1', held.port);
      await again.release();
      await held.release();
      await expect(create().listen(`127.0.0.1:${held.port}`)).resolves.toHaveLength(2);
    },
  );

  it('refuses every address that is not loopback', async () => {
    const refused = [
      '0.0.0.0:4000',
      '[::]:4000',
      '192.168.1.5:4000',
      ':4000',
      '4000',
      '127.0.0.1:70000',
      'unix:relative',
    ];
    for (const address of refused) {
      await expect(create().listen(address), address).rejects.toMatchObject({ code: 'invalid_config' });
    }
  });

  it('finishes pending answers on stop, accepts nothing more, and closes idle connections', async () => {
    const started = createDeferred<void>();
    const release = createDeferred<void>();
    const server = create([
      hello,
      getRow('/slow', async () => {
        started.resolve();
        await release.promise;
        return { status: 200, json: 'slow' };
      }),
    ]);
    const port = portOf((await server.listen('127.0.0.1:0'))[0]!);
    const idle = exchangeRaw({ port }, [requestText('GET', '/hello')]);
    const slow = exchangeRaw({ port }, [requestText('GET', '/slow')]);
    await started.promise;
    const stopped = server.stop();
    await expect(ask({ port }, 'GET', '/hello')).rejects.toThrow(/ECONNREFUSED/);
    release.resolve();
    const [answer] = parseAnswers((await slow).text);
    expect(answer).toMatchObject({ body: '"slow"', headers: { connection: 'close' } });
    await stopped;
    expect(await idle).toMatchObject({ closed: true });
  });

  it('does not wait for a client that disconnected during a large answer', async () => {
    const bytes = new Uint8Array(20_000_000);
    const server = create(
      [getRow('/feed', () => ({ status: 200, bytes, content_type: 'application/octet-stream' }))],
      { drain_ms: 60_000 },
    );
    const port = portOf((await server.listen('127.0.0.1:0'))[0]!);
    const heard = await exchangeRaw({ port }, [requestText('GET', '/feed')], (text) => text.length > 1_000);
    expect(heard.text.length).toBeLessThan(bytes.length);
    await server.stop();
  });

  it('gives up on a request that exceeds the drain timeout', async () => {
    const started = createDeferred<AbortSignal>();
    const server = create(
      [
        getRow('/never', (request) => {
          started.resolve(request.signal);
          return new Promise(() => {});
        }),
      ],
      { drain_ms: 20 },
    );
    const port = portOf((await server.listen('127.0.0.1:0'))[0]!);
    const never = exchangeRaw({ port }, [requestText('GET', '/never')]);
    const signal = await started.promise;
    await server.stop();
    expect(await never).toEqual({ text: '', closed: true });
    expect(signal.aborted).toBe(true);
  });
});

describe('Unix sockets', () => {
  it('serves only its owner, under a host name of its own, and leaves no file behind', async () => {
    const path = join(folder, 'api.sock');
    const server = create();
    expect(await server.listen(`unix:${path}`)).toEqual([`unix:${path}`]);
    expect(server.peerGate()).toMatchObject({ mode: 'enforced', source: 'unix_socket' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await ask({ path }, 'GET', '/hello', { headers: { Host: 'localhost' } })).body).toBe('"hello"');
    expect((await ask({ path }, 'GET', '/hello', { headers: { Host: 'evil.example' } })).status).toBe(403);
    await server.stop();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('sends a body of many times what the system holds for it, whole or in pieces, to its end', async () => {
    // The system holds less than what is handed over at one time, so that the client has to make room again and again.
    const sizes = [230, 216_600, 3, 0, 1_000_000, 230, 2_000_000, 3];
    const pieces = sizes.map((size, nth) => Buffer.alloc(size, String(nth)));
    const [whole, content_type] = [Buffer.concat(pieces), 'text/plain'];
    const rows = [
      getRow('/pieces', () => ({ status: 200, pieces: new Pieces(pieces), content_type })),
      getRow('/whole', () => ({ status: 200, bytes: whole, content_type })),
    ];
    const path = join(folder, 'api.sock');
    await create(rows).listen(`unix:${path}`);
    for (const name of ['/pieces', '/whole']) {
      const { body } = await ask({ path }, 'GET', name, { headers: { Connection: 'close' } });
      expect(Buffer.from(body, 'latin1').equals(whole)).toBe(true);
    }
  });

  it('refuses a socket that another process serves, and leaves it working', async () => {
    const path = join(folder, 'api.sock');
    await create().listen(`unix:${path}`);
    await expect(create().listen(`unix:${path}`)).rejects.toMatchObject({ code: 'address_in_use' });
    expect((await ask({ path }, 'GET', '/hello')).status).toBe(200);
  });

  it('takes over the socket of a daemon that died', async () => {
    const path = join(folder, 'api.sock');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(join(folder, 'live.sock'), resolve));
    await link(join(folder, 'live.sock'), path);
    await new Promise((resolve) => other.close(resolve));
    expect((await stat(path)).isSocket()).toBe(true);
    await create().listen(`unix:${path}`);
    expect((await ask({ path }, 'GET', '/hello')).status).toBe(200);
  });

  it('deletes neither a file nor a link at the path', async () => {
    const file = join(folder, 'notes.md');
    await writeFile(file, 'precious');
    const dangling = join(folder, 'link.sock');
    await symlink(join(folder, 'elsewhere'), dangling);
    for (const path of [file, dangling]) {
      await expect(create().listen(`unix:${path}`)).rejects.toMatchObject({ code: 'invalid_config' });
    }
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  it('reports a missing folder and a path that is too long', async () => {
    await chmod(folder, 0o700);
    for (const path of [join(folder, 'missing', 'api.sock'), join(folder, 'x'.repeat(100))]) {
      await expect(create().listen(`unix:${path}`)).rejects.toMatchObject({ code: 'invalid_config' });
    }
  });
});
