import { readdirSync, readFileSync } from 'node:fs';
import { SETTINGS } from '../../src/config/settings.ts';
import { pollerCalls } from '../../src/contract/threads/poller.ts';
import { poolJobs } from '../../src/contract/threads/pool.ts';
import { apiPath, describeApi } from '../../src/routes/api-description.ts';
import { describedRows } from '../../src/routes/described-rows.ts';
import { LIMITS } from './limits-table.mjs';

const SOURCE = new URL('../../src/', import.meta.url);
/** Names of constants that bound something: `MOST_KEPT`, `BODY_LIMIT`, `LINE_BYTES`, `LOOK_TIMEOUT_MS`. */
const BOUNDS =
  /^(?:(?:MAX|MOST|LIMIT|LONGEST|LARGEST|DEEPEST)(?:_[A-Z0-9_]+)?|[A-Z0-9_]+_(?:MAX|MOST|LIMIT|BYTES|CHARS|ENTRIES|DEPTH|DEADLINE_MS|TIMEOUT_MS|LIMIT_MS))$/;
const NAME = /[A-Z][A-Z0-9_]*/;
const INTRO = `# Limits

<!-- Generated from the code by \`npm run docs\`; edit the constants, or ops/scripts/limits-table.mjs, instead. -->

What grows with input, and what happens one above. The tables name where each limit is declared, below \`src/\`, and how
it is reached: by a file that a person or a program writes, by the API, by a hook of an agent, or by a verb of \`svc\` that
works without the daemon.

`;

/**
 * Every constant of \`src/\` that bounds something, with its value: by its name, and the members of an object whose name
 * ends in \`_LIMITS\` as \`NAME.member\`.
 *
 * @returns {{ file: string; name: string; value: number | null }[]}
 */
export function findBounds() {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|cjs|mjs)$/.test(path))
    .sort();
  return files.flatMap((file) => {
    const text = readFileSync(new URL(file, SOURCE), 'utf8');
    const constants = [...text.matchAll(/^(?:export )?const ([A-Z][A-Z0-9_]*)(?:: number)? =\s*([^;{]*);/gm)]
      .filter(([, name]) => BOUNDS.test(name ?? ''))
      .map(([, name = '', value = '']) => ({ file, name, value: evaluate(value, text) }));
    const groups = [...text.matchAll(/^(?:export )?const ([A-Z0-9_]*_LIMITS) = \{(.*?)^\}/gms)];
    const members = groups.flatMap(([, name, body = '']) =>
      [...body.matchAll(/^ {2}(\w+): ([^,{]+),$/gm)].map(([, member, value = '']) => ({
        file,
        name: `${name}.${member}`,
        value: evaluate(value, text),
      })),
    );
    return [...constants, ...members];
  });
}

/** The text of `ops/limits.md`. */
export async function renderLimitsPage() {
  const values = new Map(findBounds().map(({ file, name, value }) => [`${file} ${name}`, value]));
  const tables = LIMITS.map(
    ({ title, rows }) =>
      `## ${title}\n\n${table(
        ['what', 'at most', 'one above', 'reached by', 'declared in'],
        rows.map(([file, name, what, unit, above, ways]) => [
          what,
          shown(values.get(`${file} ${name}`) ?? null, unit),
          above,
          ways === '' ? 'the daemon' : ways.replaceAll(' ', ', '),
          `\`${file}\` \`${name}\``,
        ]),
      )}`,
  );
  const rows = describedRows();
  const { paths } = describeApi(rows, '');
  const operationOf = (row) => paths[apiPath(row.path)][row.method.toLowerCase()];
  const bodies = rows
    .filter((row) => row.body !== undefined || row.body_limit > 0)
    .map((row) => [
      `${row.method} ${row.path}`,
      shown(row.body_limit, 'bytes'),
      shown(row.body_timeout_ms ?? 30_000, 'milliseconds'),
    ]);
  const fields = rows.flatMap((row) =>
    fieldsOf(operationOf(row)).map((field) => [`${row.method} ${row.path}`, ...field]),
  );
  const calls = [...Object.entries(pollerCalls), ...Object.entries(poolJobs)];
  return [
    INTRO,
    `${tables.join('\n')}\n`,
    `## Bodies of requests\n\nA body above its limit is answered 413 \`body_too_large\`, one that comes too slowly 408 \`request_timeout\`.\n\n`,
    table(['endpoint', 'body', 'must have come within'], bodies),
    '\n## Fields of requests\n\nA field above its limit is answered 400 `invalid_request`, which names the field.\n\n',
    table(['endpoint', 'field', 'at most'], fields),
    '\n## Calls between threads\n\nA call that is not answered in time is answered 504 `deadline_exceeded`; a job of the pool also loses its thread.\n\n',
    table(
      ['call', 'answered within'],
      calls.map(([name, { deadline_ms }]) => [`\`${name}\``, shown(deadline_ms, 'milliseconds')]),
    ),
    '\n## Times and sizes that are settings\n\nSee [daemon.md](daemon.md) for all settings.\n\n',
    table(
      ['setting', 'unless set', 'is'],
      Object.values(SETTINGS)
        .filter(({ fallback }) => typeof fallback === 'number')
        .map(({ env, fallback, meaning }) => [
          `\`${env}\``,
          shown(fallback, env.endsWith('_MS') ? 'milliseconds' : ''),
          meaning,
        ]),
    ),
  ].join('');
}

/** Only numbers, products and sums of them, and such constants of the same file; null for anything else. */
function evaluate(expression, text) {
  let known = expression.trim().replace(/^'(\d+)'$/, '$1');
  for (let name = NAME.exec(known)?.[0]; name !== undefined; name = NAME.exec(known)?.[0]) {
    const [, value] = new RegExp(`^(?:export )?const ${name} = ([^;]*);`, 'm').exec(text) ?? [];
    if (value === undefined) return null;
    known = known.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `(${value})`);
  }
  return /^[\d_*+ ().]+$/.test(known) ? Number(new Function(`return ${known}`)()) : null;
}

function fieldsOf(operation) {
  const body = operation.requestBody?.content['application/json']?.schema;
  const parameters = operation.parameters.flatMap(({ name, schema }) => boundsOf(schema, name));
  return [
    ...new Map(
      [...parameters, ...(body === undefined ? [] : boundsOf(body, ''))].map((one) => [one.join(), one]),
    ).values(),
  ];
}

/** The limits inside a JSON schema, by the path of the field. */
function boundsOf(schema, path) {
  const own = [];
  const say = (bound, unit) =>
    typeof bound === 'number' &&
    bound < Number.MAX_SAFE_INTEGER &&
    own.push([`\`${path}\``, `${bound.toLocaleString('en')}${unit}`]);
  say(schema.maxLength, ' characters');
  say(schema.maxItems, ' items');
  say(schema.maxProperties, ' keys');
  say(schema.maximum, '');
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => schema[key] ?? []);
  return [
    ...own,
    ...branches.flatMap((branch) => boundsOf(branch, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, value]) =>
      boundsOf(value, path === '' ? name : `${path}.${name}`),
    ),
    ...(schema.items === undefined || typeof schema.items !== 'object'
      ? []
      : boundsOf(schema.items, `${path}[]`)),
  ];
}

function shown(value, unit) {
  if (value === null) return 'see there';
  if (unit === 'bytes' && value >= 1024 && value % 1024 === 0)
    return value % 1024 ** 2 === 0 ? `${value / 1024 ** 2} MiB` : `${value / 1024} KiB`;
  if (unit === 'milliseconds' && value >= 1_000 && value % 1_000 === 0) return `${value / 1_000} s`;
  return `${value.toLocaleString('en')} ${unit === 'milliseconds' ? 'ms' : unit}`.trim();
}

/** As the formatter of this project has it: every column as wide as its widest cell. */
function table(head, rows) {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((cells) => cells[column].length)),
  );
  const line = (cells, pad) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column], pad)).join(' | ')} |\n`;
  return [
    line(head, ' '),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((cells) => line(cells, ' ')),
  ].join('');
}
