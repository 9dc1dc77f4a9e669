import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../src/http/row.ts';
import { exchangeRaw, parseAnswers } from '../http/raw-exchange.ts';
import { askChecked as ask, type ServedRoutes, serveRoutes } from '../routes/served-routes.ts';

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

function calls(): number {
  const { poller, ledgers, fleet, audio } = served.callers;
  return [poller, ledgers, fleet, audio].reduce((sum, component) => sum + component.asked.length, 0);
}

describe('every row of the route table', () => {
  it('[AUT-1] is for the operator, and says what the kernel must enforce', async () => {
    await eachRow(async (row, name) => {
      expect(row.who, name).toBe('operator');
      expect(Object.keys(row.replies).length, name).toBeGreaterThan(0);
      if (row.method === 'GET') expect(row.body_limit, name).toBe(0);
      else {
        expect(row.body, name).toBeDefined();
        expect(row.body_limit, name).toBeGreaterThan(0);
      }
    });
  });

  it('is refused to a stranger who came by another host name', async () => {
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

  it('[RDY-1] [RDY-3] is either exempt from the booting gate or held by it', async () => {
    served.become({ ready_ms: null });
    await eachRow(async (row, name) => {
      const answer = await ask({ port: served.port }, row.method, pathOf(row), callOf(row));
      const held = answer.status === 503 && JSON.parse(answer.body).error === 'booting';
      expect(held, name).toBe(row.state === 'ready');
    });
  });

  it('answers another method with 405 and says which it takes', async () => {
    await eachRow(async (row, name) => {
      const answer = await ask({ port: served.port }, 'PATCH', pathOf(row), { body: '{}' });
      expect(answer.status, name).toBe(405);
      expect(answer.headers.allow, name).toContain(row.method);
      expect(JSON.parse(answer.body).error, name).toBe('method_not_allowed');
    });
    expect(calls()).toBe(0);
  });

  it('refuses a broken body before any component hears of it', async () => {
    const writes = served.rows.filter((row) => row.method !== 'GET');
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
      const head = `POST ${pathOf(row)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      const large = await exchangeRaw({ port: served.port }, [
        `${head}Content-Length: ${row.body_limit + 1}\r\n\r\n`,
      ]);
      expect(parseAnswers(large.text)[0]?.status, row.path).toBe(413);
    }
    expect(calls()).toBe(0);
  });
});
