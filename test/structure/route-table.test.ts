import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { CANNOT_ATTACK } from '../http/attacks/gated-target.ts';
import { exchangeRaw } from '../http/raw-exchange.ts';
import { run } from '../kit/test-home.ts';
import { askChecked as ask, type ServedRoutes, serveRoutes } from '../routes/served-routes.ts';

// Each walk opens hundreds of connections, and each is looked up.
vi.setConfig({ testTimeout: 60_000 });

let served: ServedRoutes;

beforeEach(async () => {
  served = await serveRoutes();
});

afterEach(() => served.stop());

function pathOf(row: Row): string {
  return row.path.replaceAll(/[*:]\w+/g, 'some');
}

function callOf(row: Row): { headers: Record<string, string>; body?: string } {
  return row.method === 'GET' ? { headers: {} } : { headers: {}, body: '{}' };
}

async function eachRow(check: (row: Row, name: string) => Promise<void>): Promise<void> {
  expect(served.rows.length).toBeGreaterThan(10);
  for (const row of served.rows) await check(row, `${row.method} ${row.path}`);
}

const strangers: Record<string, string>[] = [
  { Origin: 'http://evil.example' },
  { Origin: 'null' },
  { 'Sec-Fetch-Site': 'cross-site' },
];

/** What a browser says of a request that a page elsewhere makes, for what is no page of its own. */
const loads: Record<string, string>[] = [
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
  { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
];

/** Served before the daemon is ready: what the contract lists, and what says nothing of any component. */
const EXEMPT = [
  '/',
  '/phone',
  '/assets/:name',
  '/manifest.webmanifest',
  '/sw.js',
  '/metrics',
  '/api/v1/openapi.json',
  '/api/v1/version',
  '/api/v1/peers',
  '/api/v1/sessions',
  '/api/v1/messages',
  '/api/v1/messages/files',
];

/** The body of a row's schema is JSON; a row may take bytes as they come instead. */
function takesJson(row: Row): boolean {
  return row.method !== 'GET' && row.body !== 'bytes';
}

/** Of the first answer; the native server gives some of them without a length. */
function parseStatus(text: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
}

function calls(): number {
  const { poller, ledgers, fleet, audio } = served.callers;
  return [poller, ledgers, fleet, audio].reduce((sum, component) => sum + component.asked.length, 0);
}

describe('every row of the route table', () => {
  it('declares what the kernel must enforce', async () => {
    await eachRow(async (row, name) => {
      expect(Object.keys(row.replies).length, name).toBeGreaterThan(0);
      if (row.method === 'GET') expect(row.body_limit, name).toBe(0);
      else {
        expect(row.body, name).toBeDefined();
        expect(row.body_limit, name).toBeGreaterThan(0);
      }
    });
  });

  it.skipIf(CANNOT_ATTACK !== null)(
    `[AUT-2] [ERR-8] is refused to another user of the machine${CANNOT_ATTACK === null ? '' : ` (${CANNOT_ATTACK})`}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-strangers-'));
      try {
        const asked = served.rows.map((row) => {
          const body = row.method === 'GET' ? '' : 'header = "Content-Type: application/json"\ndata = "{}"\n';
          const url = `http://127.0.0.1:${served.port}${pathOf(row)}`;
          return `url = "${url}"\nrequest = "${row.method}"\n${body}write-out = "\\n%{http_code}\\n"\n`;
        });
        const list = join(folder, 'asked');
        writeFileSync(list, asked.join('next\n'), { mode: 0o644 });
        await run('chmod', ['755', folder], process.env);
        const told = await run('su', ['-s', '/bin/sh', 'nobody', '-c', `curl -s -K ${list}`], process.env);
        const answers = told.stdout.trim().split('\n403\n');
        expect(told.stdout.match(/^403$/gm)).toHaveLength(served.rows.length);
        for (const answer of answers)
          expect(answer).toMatch(/^\{"error":"peer_refused","reason":"peer uid \d+ is not/);
      } finally {
        await rm(folder, { recursive: true });
      }
      expect(calls()).toBe(0);
    },
  );

  it('[P18] is refused under a foreign host name', async () => {
    await eachRow(async (row, name) => {
      for (const host of ['evil.example', '127.0.0.1.evil.example:4000']) {
        const { headers, ...rest } = callOf(row);
        const answer = await ask({ port: served.port }, row.method, pathOf(row), {
          ...rest,
          headers: { ...headers, Host: host },
        });
        expect(answer.status, name).toBe(403);
        expect(JSON.parse(answer.body).error, name).toBe('forbidden_host');
      }
    });
    expect(calls()).toBe(0);
  });

  it('[RPL-10] [RPL-13] is refused to the board’s own page as a script, a worker or a style, but for the files of the board', async () => {
    await eachRow(async (row, name) => {
      for (const use of ['script', 'worker', 'serviceworker', 'audioworklet', 'xslt', 'style']) {
        const { headers, ...rest } = callOf(row);
        const answer = await ask({ port: served.port }, row.method, pathOf(row), {
          ...rest,
          headers: { ...headers, 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': use },
        });
        const is_refused = answer.status === 403 && JSON.parse(answer.body).error === 'forbidden_use';
        expect(is_refused, `${name} as ${use}`).toBe(/^\/(api\/|metrics)/.test(row.path));
      }
    });
    expect(calls()).toBe(0);
  });

  it('[RPL-10] [RPL-13] is shown in a sandbox where it answers with the bytes of a file of somebody else', async () => {
    await eachRow(async (row, name) => {
      const isForeign = row.runs !== true && Object.values(row.replies).includes('content');
      expect(row.sandbox === true, name).toBe(isForeign);
    });
  });

  it('[AUT-3] is refused to a page of another site, as a write or as an upgrade', async () => {
    await eachRow(async (row, name) => {
      const upgrade: Record<string, string> =
        row.method === 'GET' ? { Upgrade: 'websocket', Connection: 'Upgrade' } : {};
      for (const stranger of strangers) {
        const { headers, ...rest } = callOf(row);
        const answer = await ask({ port: served.port }, row.method, pathOf(row), {
          ...rest,
          headers: { ...headers, ...upgrade, ...stranger },
        });
        expect(answer.status, name).toBe(403);
        expect(JSON.parse(answer.body).error, name).toBe('forbidden_origin');
      }
    });
    expect(calls()).toBe(0);
  });

  it('is refused to anything that a page of another site or port embeds', async () => {
    await eachRow(async (row, name) => {
      for (const load of loads) {
        const { headers, ...rest } = callOf(row);
        const answer = await ask({ port: served.port }, row.method, pathOf(row), {
          ...rest,
          headers: { ...headers, ...load },
        });
        expect(answer.status, name).toBe(403);
        expect(JSON.parse(answer.body).error, name).toBe('forbidden_origin');
      }
    });
    expect(calls()).toBe(0);
  });

  it('gives no page of another site permission to read or to write', async () => {
    await eachRow(async (row, name) => {
      for (const origin of ['http://evil.example', `http://127.0.0.1:${served.port}`]) {
        const answer = await ask({ port: served.port }, 'OPTIONS', pathOf(row), {
          headers: { Origin: origin, 'Access-Control-Request-Method': row.method },
        });
        expect(answer.status, name).toBeGreaterThanOrEqual(400);
        expect(
          Object.keys(answer.headers).filter((header) => header.startsWith('access-control')),
          name,
        ).toEqual([]);
      }
    });
    expect(calls()).toBe(0);
  });

  it('[AUT-1] [AUT-5] requires no credential, and admits nobody because of one', async () => {
    const claims = { Authorization: 'Bearer operator', Cookie: 'session=operator', 'X-Api-Key': 'operator' };
    served.become({ ready_ms: null });
    await eachRow(async (row, name) => {
      const { headers, ...rest } = callOf(row);
      const asked = { ...rest, headers: { ...headers, ...claims } };
      const answer = await ask({ port: served.port }, row.method, pathOf(row), asked);
      expect(answer.status, name).toBe(
        (await ask({ port: served.port }, row.method, pathOf(row), callOf(row))).status,
      );
      expect([401, 407], name).not.toContain(answer.status);
      expect(Object.keys(answer.headers), name).not.toContain('www-authenticate');
      expect(Object.keys(answer.headers), name).not.toContain('set-cookie');
      const stranger = { ...rest, headers: { ...asked.headers, Host: 'evil.example' } };
      expect((await ask({ port: served.port }, row.method, pathOf(row), stranger)).status, name).toBe(403);
    });
  });

  it('[GEN-1] is under /api/v1, except the page and its assets', async () => {
    const pages = ['/', '/phone', '/metrics', '/manifest.webmanifest', '/sw.js'];
    await eachRow(async (row, name) => {
      const is_page = pages.includes(row.path) || row.path.startsWith('/assets/');
      expect(is_page || row.path.startsWith('/api/v1/'), name).toBe(true);
    });
  });

  it('[RDY-1] [RDY-3] is either exempt from the booting gate or held by it', async () => {
    served.become({ ready_ms: null });
    await eachRow(async (row, name) => {
      const answer = await ask({ port: served.port }, row.method, pathOf(row), callOf(row));
      const held = answer.status === 503 && JSON.parse(answer.body).error === 'booting';
      expect(held, name).toBe(row.state === 'ready');
      expect(held, name).toBe(!EXEMPT.includes(row.path));
    });
  });

  it('answers another method with 405 and lists the allowed ones', async () => {
    await eachRow(async (row, name) => {
      const answer = await ask({ port: served.port }, 'PATCH', pathOf(row), { body: '{}' });
      expect(answer.status, name).toBe(405);
      expect(answer.headers.allow, name).toContain(row.method);
      expect(JSON.parse(answer.body).error, name).toBe('method_not_allowed');
    });
    expect(calls()).toBe(0);
  });

  it('is no WebSocket unless declared: a handshake from the own page is refused with that reason, on every row', async () => {
    const handshake = {
      Upgrade: 'websocket',
      Connection: 'Upgrade',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version': '13',
      Origin: 'http://127.0.0.1:4000',
    };
    await eachRow(async (row, name) => {
      if (row.socket !== undefined) return;
      const { headers, ...rest } = callOf(row);
      const asked = { ...rest, headers: { ...headers, ...handshake, Host: '127.0.0.1:4000' } };
      const answer = await ask({ port: served.port }, row.method, pathOf(row), asked);
      expect(answer.status, name).toBe(400);
      expect(JSON.parse(answer.body), name).toMatchObject({ error: 'invalid_request' });
      expect(answer.headers.connection, name).toBe('close');
    });
    expect(calls()).toBe(0);
  });

  it('refuses a body that is too large or badly framed before any component is called, JSON or not', async () => {
    const writes = served.rows.filter((row) => row.method !== 'GET');
    expect(writes.length).toBeGreaterThan(writes.filter(takesJson).length);
    for (const row of writes) {
      const head = `${row.method} ${pathOf(row)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const broken: [string, number][] = [
        [`Content-Length: ${row.body_limit + 1}\r\n\r\n`, 413],
        ['Content-Length: 2x\r\n\r\n{}', 400],
        ['Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
        ['Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n', 400],
      ];
      for (const [rest, status] of broken) {
        const { text, closed } = await exchangeRaw({ port: served.port }, [head + rest]);
        expect([parseStatus(text), closed], `${row.path} ${rest}`).toEqual([status, true]);
      }
    }
    expect(calls()).toBe(0);
  });

  it('refuses invalid JSON before any component is called', async () => {
    const writes = served.rows.filter(takesJson);
    expect(writes.length).toBeGreaterThan(3);
    for (const row of writes) {
      const broken: [string, string, number][] = [
        ['{"fiber_id":', 'application/json', 400],
        ['[]', 'application/json', 400],
        ['"text"', 'application/json', 400],
        ['{"origin":5}', 'application/json', 400],
        ['{}', 'text/plain', 415],
        ['a=b', 'application/x-www-form-urlencoded', 415],
      ];
      for (const [body, type, status] of broken) {
        const answer = await ask({ port: served.port }, row.method, pathOf(row), {
          body,
          headers: { 'Content-Type': type },
        });
        expect(answer.status, `${row.path} ${body}`).toBe(status);
      }
    }
    expect(calls()).toBe(0);
  });
});

it('declares for each read, and nothing else, whether requests share its answer', async () => {
  await eachRow(async (row, name) => {
    expect(typeof row.shared, name).toBe(row.method === 'GET' ? 'boolean' : 'undefined');
  });
});
