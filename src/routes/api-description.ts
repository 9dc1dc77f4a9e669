import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import {
  createDocument,
  createSchema,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { agentSchema } from '../contract/agent.ts';
import { componentViewSchema } from '../contract/component.ts';
import { blockedViewSchema, fiberRowSchema, runViewSchema, svcBlockSchema } from '../contract/fiber.ts';
import { bootingSchema } from '../contract/http/booting.ts';
import { captureViewSchema } from '../contract/http/capture.ts';
import { configEntrySchema, storeOriginSchema } from '../contract/http/config.ts';
import { refusedDeliverySchema } from '../contract/http/deliver.ts';
import { refusedSchema } from '../contract/http/dispatch.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { incidentSchema } from '../contract/http/incidents.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { gateViewSchema } from '../contract/http/why.ts';
import { sessionLineSchema } from '../contract/ledger.ts';
import type { Routing } from '../http/routing.ts';
import type { ReplySchema, Row } from '../http/row.ts';
import type { SocketRow } from '../http/socket.ts';
import { ANSWERED_BY, GROUPS, PARAMETERS, routingName, STATUSES } from './api-words.ts';

export type JsonSchema = { [key: string]: unknown };
type ApiParameter = {
  name: string;
  in: 'query' | 'path';
  required: boolean;
  description: string;
  schema: JsonSchema;
};
type ApiContent = { [media: string]: { schema: JsonSchema } };
export type ApiOperation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
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
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  /** Empty: no credentials are sent. */
  security: [];
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: ApiOperation } };
  components: { schemas: Record<string, JsonSchema> };
};

const ABOUT =
  'The HTTP API of the per-machine daemon. It is meant for the board and for scripts on the operator’s own machine, and is no stability contract: a route may change with the next build. There are no tokens: the daemon refuses (403) whoever is not its own user on this machine, and pages of other origins.';
const BINARY = { type: 'string', format: 'binary' } as const;
const TEXT = { 'text/*': { schema: { type: 'string' } } } as const;

/** Schemas that are described once, under a name; every other one stands where it is used. */
const NAMED: Readonly<Record<string, z.ZodType>> = {
  Agent: agentSchema,
  Blocked: blockedViewSchema,
  Booting: bootingSchema,
  Capture: captureViewSchema,
  Component: componentViewSchema,
  ConfigEntry: configEntrySchema,
  DeliveryRefused: refusedDeliverySchema,
  DispatchRefused: refusedSchema,
  Error: errorBodySchema,
  Fiber: fiberRowSchema,
  Gate: gateViewSchema,
  Incident: incidentSchema,
  Rehearsal: rehearsalSchema,
  Run: runViewSchema,
  SessionLine: sessionLineSchema,
  StoreOrigin: storeOriginSchema,
  SvcBlock: svcBlockSchema,
};
for (const [id, schema] of Object.entries(NAMED)) z.globalRegistry.add(schema, { id });

/** Describes every row from the schemas that the kernel enforces. Takes tens of milliseconds: not for the main thread. */
export function describeApi(rows: readonly Row[], version: string): ApiDescription {
  const paths: ZodOpenApiPathsObject = {};
  for (const row of rows) {
    const path = apiPath(row.path);
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row) };
  }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Fiber Dispatch',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [],
    tags: Object.entries(GROUPS).map(([name, description]) => ({ name, description })),
    paths,
  });
  const api = document as ApiDescription;
  for (const { parameters } of Object.values(api.paths).flatMap(Object.values) as ApiOperation[])
    for (const parameter of parameters) parameter.description ??= PARAMETERS[parameter.name] ?? '';
  return api;
}

/** The path of a row as OpenAPI writes it; a last `*name` stands for the rest of the path, slashes and all. */
export function apiPath(path: string): string {
  return path.replaceAll(/[:*](\w+)/g, '{$1}');
}

function operationOf(row: Row): ZodOpenApiOperationObject {
  const body = row.described_body ?? row.body;
  return {
    operationId: operationId(row),
    summary: row.summary,
    description: descriptionOf(row),
    ...(row.group === undefined ? {} : { tags: [row.group] }),
    'x-routing': row.routing,
    parameters: pathParameters(row.path),
    ...(row.query === undefined ? {} : { requestParams: { query: row.query as z.ZodObject } }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: bodyOf(body) } }),
    responses: responsesOf(row),
    ...(row.socket === undefined ? {} : { 'x-websocket': messagesOf(row.socket) }),
  };
}

function descriptionOf({ summary, routing, state, page }: Row): string {
  return [
    `${summary}.`,
    `Answered by ${ANSWERED_BY[routingName(routing)]}.`,
    ...(state === 'ready' ? ['While the daemon boots: 503 `booting`.'] : []),
    ...(page === undefined ? [] : [`More in ops/${page}.`]),
  ].join(' ');
}

function messagesOf({ sends, takes }: SocketRow): ApiOperation['x-websocket'] {
  const shape = (message: SocketRow['sends'], io: 'input' | 'output') =>
    message === 'bytes' ? BINARY : (createSchema(message, { io }).schema as JsonSchema);
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
  return [...path.matchAll(/(\w+\/)([:*])(\w+)/g)].map(([whole, , kind, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PARAMETERS[whole] ?? PARAMETERS[`${kind}${name}`] ?? '',
    schema: { type: 'string' },
  }));
}

function bodyOf(body: z.ZodType | 'bytes'): ZodOpenApiContentObject {
  return body === 'bytes' ? { 'application/octet-stream': { schema: BINARY } } : json(body);
}

function responsesOf(row: Row): Record<string, ZodOpenApiResponseObject> {
  const { replies, state } = row;
  const booting = state === 'ready' ? [bootingSchema] : [];
  const takes = row.query !== undefined || row.body !== undefined;
  const all: Record<string, ReplySchema> = {
    ...(takes ? { 400: errorBodySchema } : {}),
    403: errorBodySchema,
    ...(state === 'ready' ? { 503: errorBodySchema } : {}),
    ...replies,
  };
  const responses = Object.entries(all).map(([status, reply]) => {
    // A route fails with its own body or with the general one.
    const others = Number(status) < 400 ? [] : [...(status === '503' ? booting : []), errorBodySchema];
    const content = contentOf(reply, others);
    return [
      status,
      {
        description: STATUSES[Number(status)] ?? STATUS_CODES[status] ?? status,
        ...(content === null ? {} : { content }),
      },
    ];
  });
  return {
    ...Object.fromEntries(responses),
    default: { description: 'A refusal or a fault', content: json(errorBodySchema) },
  };
}

function contentOf(reply: ReplySchema, others: z.ZodType[]): ZodOpenApiContentObject | null {
  if (reply === 'empty') return null;
  if (reply === 'text') return { ...TEXT, ...json(...others) };
  if (reply === 'content') return { '*/*': { schema: BINARY }, ...json(...others) };
  if ('text_or' in reply) return { ...TEXT, ...json(reply.text_or) };
  return json(...new Set([reply, ...others]));
}

/** A JSON body of one of the schemas; nothing for none. */
function json(...schemas: z.ZodType[]): ZodOpenApiContentObject {
  if (schemas.length === 0) return {};
  return { 'application/json': { schema: schemas.length === 1 ? schemas[0]! : z.union(schemas) } };
}
