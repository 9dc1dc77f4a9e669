import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIFECYCLE_ACTIONS } from '../../src/contract/http/lifecycle.ts';
import { type ApiDescription, apiPath, describeApi } from '../../src/routes/api-description.ts';
import { renderApiPage } from '../../src/routes/api-page.ts';
import { checkAnswer } from '../kit/api-check.ts';
import { POLLER_STATE } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

/** Every value below a key of this name, anywhere in a document. */
function valuesOf(part: unknown, key: string): unknown[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => [
    ...(name === key && typeof value === 'string' ? [value] : []),
    ...valuesOf(value, key),
  ]);
}

describe('the description of the API', () => {
  it('[VER-1] describes every row of the route table, and nothing else', async () => {
    const { json } = await served.get('/api/v1/openapi.json');
    const api = json as unknown as ApiDescription;
    expect(api.openapi).toBe('3.1.0');
    const described = Object.entries(api.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(
      served.rows.map((row) => `${row.method} ${apiPath(row.path)}`).toSorted(),
    );
    for (const path of Object.keys(api.paths).filter(
      (one) =>
        !['/', '/assets/{name}', '/manifest.webmanifest', '/sw.js', '/phone', '/metrics'].includes(one),
    ))
      expect(path).toMatch(/^\/api\/v1\//);
  });

  it('holds together: references lead somewhere, names are used once, each part of a path is a parameter', async () => {
    const api = describeApi(served.rows, '1');
    for (const ref of new Set(valuesOf(api.paths, '$ref').concat(valuesOf(api.components, '$ref'))))
      expect(Object.keys(api.components.schemas)).toContain(String(ref).replace('#/components/schemas/', ''));
    const operations = Object.entries(api.paths).flatMap(([path, item]) =>
      Object.values(item).map((operation) => ({ path, operation })),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const named = operation.parameters.filter((one) => one.in === 'path').map((one) => one.name);
      expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
      expect(operation.responses.default?.content?.['application/json']?.schema).toEqual({
        $ref: '#/components/schemas/Error',
      });
    }
  });

  it('[VER-2] [EVT-1] says that it is no stability contract, and has neither subscriptions nor webhooks', async () => {
    const api = describeApi(served.rows, '1');
    expect(api.info.description).toContain('no stability contract');
    expect(Object.keys(api)).not.toContain('webhooks');
    for (const [path, item] of Object.entries(api.paths)) {
      expect(path).not.toMatch(/webhook|subscri|callback/);
      for (const operation of Object.values(item)) {
        expect(operation).not.toHaveProperty('callbacks');
        for (const { content } of Object.values(operation.responses))
          expect(Object.keys(content ?? {})).not.toContain('text/event-stream');
      }
    }
  });

  it('[AUT-1] [AUT-5] [ERR-8] states that no credentials are sent, and that every endpoint can refuse the caller', () => {
    const api = describeApi(served.rows, '1');
    expect(api.security).toEqual([]);
    expect(api.info.description).toContain('no tokens');
    for (const operation of Object.values(api.paths).flatMap(Object.values))
      expect(operation.responses).toHaveProperty('403');
  });

  it('[RPL-21] [RPL-26] [ERR-31] puts every endpoint in one group and says what it, its parameters and its answers are', () => {
    const api = describeApi(served.rows, '1');
    const groups = api.tags.map((tag) => tag.name);
    const listed = new Set<string>();
    for (const operation of Object.values(api.paths).flatMap(Object.values)) {
      expect(operation.tags).toHaveLength(1);
      listed.add(operation.tags[0]!);
      const texts = [operation, ...operation.parameters, ...Object.values(operation.responses)];
      for (const { description } of texts) expect(description, operation.operationId).toMatch(/\w/);
    }
    expect([...listed].toSorted()).toEqual(groups);
  });

  it.each([
    { path: 'transition', needs: ['fiber_id'] },
    { path: 'kill', needs: ['fiber_id'] },
    { path: 'fiber/create', needs: ['name'] },
    { path: 'fiber-nest', needs: ['fiber_id', 'parent'] },
    { path: 'quarantine/release', needs: [] },
    { path: 'fiber-stores', needs: ['stores'] },
  ])('[WPL-27] tells what POST /$path takes and what it cannot do without', async ({ path, needs }) => {
    const { paths } = describeApi(served.rows, '1');
    const { schema } = paths[`/api/v1/${path}`]!.post!.requestBody!.content['application/json']!;
    expect([...((schema.required as string[]) ?? [])].toSorted()).toEqual(needs);
    expect(Object.keys(schema.properties as object)).toContain('origin');
  });

  it('[WPL-3] [WPL-9] tells of bodies that their handler takes apart itself as of every other', async () => {
    const { paths } = describeApi(served.rows, '1');
    const bodyOf = (path: string) =>
      paths[path]!.post!.requestBody!.content['application/json']!.schema as {
        required: string[];
        oneOf: { required: string[]; properties: { action: { const: string } } }[];
      };
    expect(bodyOf('/api/v1/attachments').required).toEqual(['fiber', 'attachments']);
    const verbs = bodyOf('/api/v1/lifecycle').oneOf;
    expect(verbs.map((verb) => verb.properties.action.const)).toEqual(
      LIFECYCLE_ACTIONS.filter((action) => action !== 'close' && action !== 'reopen'),
    );
    const repeat = verbs.find((verb) => verb.properties.action.const === 'repeat');
    expect(repeat?.required).toEqual(['action', 'fiber', 'schedule']);
  });

  it('is computed once, and answered 304 to clients that have it', async () => {
    const first = await served.get('/api/v1/openapi.json');
    const again = await served.get('/api/v1/openapi.json', { 'If-None-Match': first.headers.etag! });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  it('has a summary of each endpoint, and a request that its schemas accept', () => {
    for (const row of served.rows) {
      const { example, summary } = row;
      expect(summary, row.path).toMatch(/[^.]$/);
      if (row.body !== undefined && typeof row.body !== 'string')
        expect(row.body.safeParse(example?.body).error, row.path).toBeUndefined();
      if (row.query !== undefined) {
        const query = Object.fromEntries(new URLSearchParams(example?.query));
        expect(row.query.safeParse(query).error, row.path).toBeUndefined();
      }
    }
  });

  it('tells the name of a remote from that of a file of the board', () => {
    const { paths } = describeApi(served.rows, '');
    const told = (path: string) => Object.values(paths[path]!)[0]!.parameters![0]!.description;
    expect(told('/api/v1/remotes/{name}/reset')).toContain('remote');
    expect(told('/assets/{name}')).toContain('board');
  });

  it('is the source of ops/api.md (npm run docs)', async () => {
    const page = readFileSync(new URL('../../ops/api.md', import.meta.url), 'utf8');
    expect(renderApiPage(served.rows)).toBe(page);
  });
});

describe('the check of every answer against the description', () => {
  const answer = {
    method: 'GET',
    path: '/api/v1/agents?origin=a',
    status: 200,
    content_type: 'application/json',
  };

  it.each([
    { what: 'a field that is missing', text: '{"default": null}' },
    { what: 'a field of another type', text: '{"default": 1, "agents": []}' },
    { what: 'a field that nobody described', text: '{"default": null, "agents": [], "more": 1}' },
  ])('refuses $what', async ({ text }) => {
    await checkAnswer({ ...answer, text: '{"default": null, "agents": []}' });
    await expect(checkAnswer({ ...answer, text })).rejects.toThrow(/unlike its description/);
  });

  it.each([
    { what: 'an unknown status', change: { status: 207, text: '{}' } },
    { what: 'another content type', change: { content_type: 'text/html', text: 'hello' } },
    { what: 'an error without its code', change: { status: 404, text: '{"message": "no"}' } },
    { what: 'an answer where no route is', change: { path: '/api/v1/nothing', text: '{}' } },
  ])('refuses $what', async ({ change }) => {
    await expect(checkAnswer({ ...answer, ...change })).rejects.toThrow();
  });

  it('is part of the fixtures: a handler that differs fails its test', async () => {
    const { poller, ledgers, fleet, audio } = served.callers;
    poller.answers.state = () => POLLER_STATE;
    for (const component of [ledgers, fleet, audio]) component.up = false;
    await served.get('/api/v1/state');
    const row = served.rows.find((one) => one.path === '/api/v1/state')!;
    const { handler } = row;
    row.handler = async (request) => ({ ...(await handler(request)), json: { running: 'no list' } });
    await expect(served.get('/api/v1/state')).rejects.toThrow(/unlike its description/);
  });
});
