import { STATUS_CODES } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { bootingSchema } from '../contract/http/booting.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import type { Routing } from '../http/routing.ts';
import type { ReplySchema, Row } from '../http/row.ts';
import type { SocketRow } from '../http/socket.ts';
import { ApiSchemas, type JsonSchema } from './api-schemas.ts';

export type ApiParameter = {
  name: string;
  in: 'query' | 'path';
  required: boolean;
  description?: string;
  schema: JsonSchema;
};
export type ApiContent = { [media: string]: { schema: JsonSchema } };
export type ApiOperation = {
  operationId: string;
  summary: string;
  'x-routing': Routing;
  parameters: ApiParameter[];
  requestBody?: { required: true; content: ApiContent };
  responses: { [status: string]: { description: string; content?: ApiContent } };
  /** Of a WebSocket: the shape of its messages each way; null where that way has none. */
  'x-websocket'?: { sends: JsonSchema; takes: JsonSchema | null };
};
/** An OpenAPI 3.1 document. */
export type ApiDescription = {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  paths: { [path: string]: { [method: string]: ApiOperation } };
  components: { schemas: Record<string, JsonSchema> };
};

const ABOUT =
  'The HTTP API of the per-machine daemon. It is meant for the board and for scripts on the operator’s own machine, and is no stability contract: a route may change with the next build.';
const BINARY: JsonSchema = { type: 'string', format: 'binary' };

const TEXT: ApiContent = { 'text/*': { schema: { type: 'string' } } };

/**
 * Describes every row from the schemas that the kernel enforces. One row a turn of the event loop, so that nobody waits
 * for the whole.
 */
export async function describeApi(rows: readonly Row[], version: string): Promise<ApiDescription> {
  const schemas = new ApiSchemas();
  const paths: ApiDescription['paths'] = {};
  for (const row of rows) {
    const path = apiPath(row.path);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, schemas) };
    await setImmediate();
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Fiber Dispatch', version, description: ABOUT },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: schemas.components },
  };
}

/** The path of a row as OpenAPI writes it; a last `*name` stands for the rest of the path, slashes and all. */
export function apiPath(path: string): string {
  return path.replaceAll(/[:*](\w+)/g, '{$1}');
}

function operationOf(row: Row, schemas: ApiSchemas): ApiOperation {
  const parameters = [...pathParameters(row.path), ...queryParameters(row, schemas)];
  const responses: ApiOperation['responses'] = {};
  const body = row.described_body ?? row.body;
  const json = body === undefined ? null : bodyOf(body, schemas);
  for (const [status, reply] of Object.entries(row.replies))
    responses[status] = responseOf(Number(status), reply, schemas);
  if (row.state === 'ready')
    responses[503] = withAlso(responses[503], 503, schemas.of(bootingSchema, 'output'), schemas);
  responses.default = { description: 'A refusal or a fault', content: errorContent(schemas) };
  return {
    operationId: operationId(row),
    summary: row.summary,
    'x-routing': row.routing,
    parameters,
    ...(json === null ? {} : { requestBody: { required: true, content: json } }),
    responses,
    ...(row.socket === undefined ? {} : { 'x-websocket': messagesOf(row.socket, schemas) }),
  };
}

function messagesOf({ sends, takes }: SocketRow, schemas: ApiSchemas) {
  const shape = (message: SocketRow['sends'], io: 'input' | 'output') =>
    message === 'bytes' ? BINARY : schemas.of(message, io);
  return { sends: shape(sends, 'output'), takes: takes === null ? null : shape(takes.message, 'input') };
}

function operationId(row: Row): string {
  const words = row.path
    .replace('/api/v1', '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return [row.method.toLowerCase(), ...(words.length === 0 ? ['board'] : words)].join('_');
}

function pathParameters(path: string): ApiParameter[] {
  return [...path.matchAll(/([:*])(\w+)/g)].map(([, kind, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...(kind === '*' ? { description: 'The rest of the path; may hold slashes' } : {}),
    schema: { type: 'string' },
  }));
}

function queryParameters(row: Row, schemas: ApiSchemas): ApiParameter[] {
  if (row.query === undefined) return [];
  const { properties = {}, required = [] } = schemas.of(row.query, 'input') as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function bodyOf(body: z.ZodType | 'bytes', schemas: ApiSchemas): ApiContent {
  return body === 'bytes'
    ? { 'application/octet-stream': { schema: BINARY } }
    : { 'application/json': { schema: schemas.of(body, 'input') } };
}

function responseOf(status: number, reply: ReplySchema, schemas: ApiSchemas) {
  const description = STATUS_CODES[status] ?? String(status);
  if (reply === 'empty') return { description };
  if (typeof reply === 'object' && 'text_or' in reply) {
    const json = { 'application/json': { schema: schemas.of(reply.text_or, 'output') } };
    return { description, content: { ...TEXT, ...json } };
  }
  if (typeof reply === 'string') {
    const content: ApiContent = reply === 'text' ? TEXT : { '*/*': { schema: BINARY } };
    // The kernel's own refusals have a body of JSON whatever the route answers.
    return { description, content: status < 400 ? content : { ...content, ...errorContent(schemas) } };
  }
  const schema = schemas.of(reply, 'output');
  if (status < 400) return { description, content: { 'application/json': { schema } } };
  return withAlso(undefined, status, schema, schemas);
}

/** An error status whose body is one of its own or the general one. */
function withAlso(
  known: ApiOperation['responses'][string] | undefined,
  status: number,
  schema: JsonSchema,
  schemas: ApiSchemas,
): ApiOperation['responses'][string] {
  const description = STATUS_CODES[status] ?? String(status);
  const before = known?.content?.['application/json']?.schema;
  const rest =
    before === undefined
      ? [schemas.of(errorBodySchema, 'output')]
      : ((before.anyOf as JsonSchema[]) ?? [before]);
  return {
    description,
    content: { ...known?.content, 'application/json': { schema: { anyOf: [schema, ...rest] } } },
  };
}

function errorContent(schemas: ApiSchemas): ApiContent {
  return { 'application/json': { schema: schemas.of(errorBodySchema, 'output') } };
}
