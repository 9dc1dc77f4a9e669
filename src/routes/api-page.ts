import { markdownTable } from '../base/markdown-table.ts';
import type { Row } from '../http/row.ts';
import { type ApiOperation, apiPath, describeApi, type JsonSchema } from './api-description.ts';
import { ANSWERED_BY, routingName } from './api-words.ts';

const INTRO = `# The HTTP API

<!-- Generated from the route table by \`npm run docs\`; edit src/routes instead. -->

The daemon listens on \`127.0.0.1:4000\` unless \`SVC_LISTEN\` says otherwise; \`svc daemon status\` tells where. The commands
here use \`SVC=http://127.0.0.1:4000\`. The same as a document for programs: \`/api/v1/openapi.json\` (OpenAPI 3.1).

- Whoever runs programs as the daemon's user may call; nobody else. There are no tokens. See [daemon.md](daemon.md).
- Bodies are JSON (\`Content-Type: application/json\`) unless an endpoint says otherwise. Unknown fields are
  ignored, except by \`/lifecycle\`, \`/meeting/mark\` and \`/meeting/stop\`, which refuse them.
- An error is \`{"error": "<code>", "message": "<sentence>"}\`, sometimes with more fields; the status says whose turn it is:
  400 and 422 correct the request, 404 nothing there, 409 read again and decide, 413 too large, 5xx ask again.
- While the daemon boots, most endpoints answer 503 with \`"error": "booting"\`; \`/api/v1/version\` says when it is ready.
- Every answer has an \`X-Request-Id\`, which the log has too.
- \`origin\` names the host that is meant: in the query of a GET, in the body otherwise. In the query of a write it is
  refused with 400. The routing of an endpoint says what follows. A request for a host of \`remotes.json\` is passed on to
  its daemon, whose answer comes back as it is, with the header \`Svc-Host\`; see [other-hosts.md](other-hosts.md).
${routings()}
- \`"dry_run": true\` answers what a write would do and does nothing; see [why.md](why.md#rehearse). Times are milliseconds
  since the Unix epoch. This is no stability contract: an endpoint may change with the next build.
`;

/** What makes a WebSocket of a request, for clients that know of none. */
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The text of `ops/api.md`. */
export function renderApiPage(rows: readonly Row[]): string {
  const { paths } = describeApi(rows, '');
  const parts = rows.map((row) => {
    const operation = paths[apiPath(row.path)]![row.method.toLowerCase()]!;
    return endpointText(row, operation);
  });
  return `${INTRO}${parts.join('')}`;
}

/** The command that asks an endpoint; `$SVC` stands for the daemon. */
export function curlOf(row: Pick<Row, 'method' | 'path' | 'socket' | 'example'>): string {
  const { params = {}, query, body } = row.example ?? {};
  const path = row.path.replaceAll(/[:*](\w+)/g, (_, name: string) => params[name] ?? name);
  const url = `"$SVC${path}${query === undefined ? '' : `?${query}`}"`;
  if (row.socket !== undefined)
    return `curl -sN ${url}${HANDSHAKE.map((line) => ` \\\n  -H '${line}'`).join('')}`;
  if (row.method === 'GET') return `curl -s ${url}`;
  const data = JSON.stringify(body ?? {}).replaceAll("'", "'\\''");
  return `curl -s ${url} -H 'Content-Type: application/json' -d '${data}'`;
}

function endpointText(row: Row, operation: ApiOperation): string {
  const more = row.page === undefined ? '' : ` See [${row.page}](${row.page}).`;
  const body = operation.requestBody?.content['application/json']?.schema;
  const messages = operation['x-websocket'];
  return [
    `\n## ${row.method} ${row.path}\n\n${row.summary}.${more} Routing: \`${routingName(row.routing)}\`.\n`,
    `\n\`\`\`sh\n${curlOf(row)}\n\`\`\`\n`,
    markdownTable(
      ['parameter', 'in', 'is', 'means'],
      operation.parameters.map((one) => [
        `\`${one.name}\`${one.required ? '' : '?'}`,
        one.in,
        typeOf(one.schema),
        one.description,
      ]),
    ),
    body === undefined ? '' : markdownTable(['body', 'is'], fieldsOf(body)),
    messages === undefined ? `\nAnswers ${answersOf(row, operation)}.\n` : `\n${socketText(messages)}\n`,
  ].join('');
}

/** Indented: it is a part of the list of the introduction. */
function routings(): string {
  const rows = Object.entries(ANSWERED_BY).map(([routing, who]) => [`\`${routing}\``, who]);
  return markdownTable(['routing', 'who answers'], rows).replaceAll(/^(?=\|)/gm, '  ');
}

function socketText({ sends, takes }: NonNullable<ApiOperation['x-websocket']>): string {
  const taken = takes === null ? 'takes no messages' : `takes ${messageOf(takes)}`;
  return `A WebSocket: sends ${messageOf(sends)}; ${taken}. A request that is no upgrade is answered 426.`;
}

function messageOf(schema: JsonSchema): string {
  return schema.format === 'binary' ? 'binary messages' : jsonOf(schema);
}

/** The answers of this endpoint alone; what every one may answer is told in the introduction. */
function answersOf({ replies }: Row, operation: ApiOperation): string {
  return Object.entries(operation.responses)
    .filter(([status]) => status in replies && status !== '503')
    .map(([status, { content }]) => {
      const kinds = Object.entries(content ?? {}).map(([media, { schema }]) =>
        media === 'application/json' ? jsonOf(schema) : media === '*/*' ? 'the bytes' : 'text',
      );
      return kinds.length === 0
        ? `${status} without a body`
        : `${status} ${[...new Set(kinds)].join(' or ')}`;
    })
    .join('; ');
}

/** The names of what a body of JSON holds. */
function jsonOf(schema: JsonSchema): string {
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined) return [...new Set(branches.map(jsonOf))].join(' or ');
  if (typeof schema.$ref === 'string') return named(schema.$ref);
  const { properties } = schema as { properties?: Record<string, unknown> };
  const names = Object.keys(properties ?? {}).map((name) => `\`${name}\``);
  return names.length === 0 ? 'JSON' : `{${names.join(', ')}}`;
}

function fieldsOf(schema: JsonSchema): string[][] {
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined) return mergedFields(branches.map(fieldsOf));
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, of]) => [
    `\`${name}\`${required.includes(name) ? '' : '?'}`,
    typeOf(of),
  ]);
}

/** The fields of several shapes of one body: each once, and needed only where every shape needs it. */
function mergedFields(shapes: readonly string[][][]): string[][] {
  const merged = new Map<string, { kinds: Set<string>; needed: number }>();
  for (const [field = '', kind = ''] of shapes.flat()) {
    const name = field.replace(/\?$/, '');
    const known = merged.get(name) ?? { kinds: new Set(), needed: 0 };
    for (const one of kind.split(' or ')) known.kinds.add(one);
    known.needed += name === field ? 1 : 0;
    merged.set(name, known);
  }
  return [...merged].map(([name, { kinds, needed }]) => [
    needed === shapes.length ? name : `${name}?`,
    [...kinds].join(', '),
  ]);
}

/** A schema in a few words. */
function typeOf(schema: JsonSchema): string {
  const branches = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined) return [...new Set(branches.map(typeOf))].join(' or ');
  if (typeof schema.$ref === 'string') return named(schema.$ref);
  if ('const' in schema) return `\`${schema.const}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeOf((schema.items ?? {}) as JsonSchema)}`;
  return typeof schema.type === 'string' ? schema.type : 'any value';
}

function named(ref: string): string {
  const name = ref.split('/').at(-1)!;
  return /^Value\d+$/.test(name) ? 'any value' : name;
}
