import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rowsOf } from '../../src/cli/command-line/verb-table.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { agentEntrySchema, agentsFileSchema } from '../../src/contract/agent.ts';
import { GATES, LAUNCH_CHECKS } from '../../src/contract/gates.ts';
import { sessionLineSchema } from '../../src/contract/ledger.ts';
import {
  hostFileSchema,
  type OperatorFileId,
  projectsFileSchema,
  remoteSchema,
  remotesFileSchema,
  storesFileSchema,
} from '../../src/contract/operator-files.ts';
import { HOLD_REASONS } from '../../src/dispatch/holds/quarantine.ts';

const FILE_SCHEMAS: Record<OperatorFileId, z.ZodType> = {
  stores: storesFileSchema,
  projects: projectsFileSchema,
  agents: agentsFileSchema,
  remotes: remotesFileSchema,
  host: hostFileSchema,
};
const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'ops'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('ops', path)),
];

/** Rows of every table of a page, as trimmed cells. */
function tableRows(page: string): string[][] {
  return read(page)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** What the first column of a table names, in order; `header`: the first cell of the table. */
function namesIn(page: string, header: string): string[] {
  const rows = tableRows(page);
  const from = rows.findIndex(([first]) => first === header);
  expect(from, `${page} has a table of: ${header}`).toBeGreaterThanOrEqual(0);
  const after = rows.slice(from + 2).map(([first]) => first!);
  const end = after.findIndex((first) => !first.startsWith('`'));
  return after
    .slice(0, end === -1 ? undefined : end)
    .flatMap((first) => first.split(', ').map((name) => name.replaceAll('`', '')));
}

function shown(fallback: unknown): string {
  if (fallback === null || fallback === false) return '-';
  if (Array.isArray(fallback) && fallback.length === 0) return '-';
  return `\`${String(fallback).replace(homedir(), '~')}\``;
}

/** Keys of the objects that a schema takes, whatever stands around them. */
function keysOf(schema: z.ZodType): string[] {
  const { properties = {}, anyOf = [] } = z.toJSONSchema(schema, { io: 'input' }) as {
    properties?: object;
    anyOf?: { properties?: object }[];
  };
  return [properties, ...anyOf.map((branch) => branch.properties ?? {})].flatMap(Object.keys);
}

describe('the pages for operators', () => {
  it.each(Object.entries({ ...FILE_SCHEMAS, agent: agentEntrySchema, remote: remoteSchema }))(
    'operator-files.md has a row for each key of %s',
    (_name, schema) => {
      const rows = tableRows('ops/operator-files.md').map(([key]) => key);
      for (const key of keysOf(schema).filter((one) => one !== 'version'))
        expect(rows).toContain(`\`${key}\``);
    },
  );

  it.each(pages)('%s links only to existing targets', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^(https?:|#)/.test(link));
    for (const link of links) {
      const [path] = link.split('#');
      expect(existsSync(resolve(ROOT, dirname(page), path!)), `${page} links to ${link}`).toBe(true);
    }
  });

  it('README.md and ops/README.md lead to every page', () => {
    const index = read('ops/README.md');
    for (const page of pages.filter((path) => /^ops\/[^/]+\.md$/.test(path) && path !== 'ops/README.md'))
      expect(index).toContain(`(${page.slice('ops/'.length)})`);
    expect(read('README.md')).toContain('(ops/cli.md)');
  });

  it('ops/cli.md describes every verb', () => {
    const text = read('ops/cli.md');
    for (const { name } of rowsOf(VERBS)) expect(text).toMatch(new RegExp(`\`svc ${name}[ \`]`));
  });

  it('every page names only verbs that exist', () => {
    const names = [...rowsOf(VERBS).map((row) => row.name), 'help'];
    for (const page of pages)
      for (const match of read(page).matchAll(/(?:`|^ *)svc ([a-z][a-z-]*)/gm))
        expect(names, `${page}: ${match[0]}`).toContain(match[1]);
  });

  it('ops/daemon.md lists every setting with its default and its meaning, in order', () => {
    const rows = tableRows('ops/daemon.md').filter(([name]) => /^`SVC_/.test(name!));
    expect(rows).toEqual(
      Object.values(SETTINGS).map((row) => [`\`${row.env}\``, shown(row.fallback), row.meaning]),
    );
  });

  it('ops/why.md lists every gate and check of a start, in the order in which they are checked', () => {
    expect(namesIn('ops/why.md', 'gate')).toEqual([...GATES, ...LAUNCH_CHECKS]);
  });

  it('ops/why.md lists every reason for which a fiber is held', () => {
    expect(namesIn('ops/why.md', 'reason')).toEqual(HOLD_REASONS);
  });

  it('ops/ledgers.md lists every kind of line of the sessions', () => {
    expect(namesIn('ops/ledgers.md', 'kind')).toEqual(sessionLineSchema.shape.kind.options);
  });

  it('ops/layout.md describes every room of src', () => {
    const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `\`${entry.name}/\``);
    const described = tableRows('ops/layout.md').map(([first]) => first);
    for (const room of rooms) expect(described).toContain(room);
  });

  it('pages name only npm scripts and source files that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    for (const page of pages) {
      for (const match of read(page).matchAll(/`npm run ([\w:-]+)/g))
        expect(Object.keys(scripts), page).toContain(match[1]);
      for (const match of read(page).matchAll(/`((?:src|workers|ops)\/[\w./-]+\.(?:ts|mjs|md))`/g))
        expect(existsSync(join(ROOT, match[1]!)), `${page}: ${match[1]}`).toBe(true);
    }
  });

  it('every decision record is in the index, with its title and its status', () => {
    const index = tableRows('ops/decisions/README.md');
    const records = pages.filter((path) => /^ops\/decisions\/\d{4}-/.test(path));
    expect(records.length).toBeGreaterThan(9);
    for (const record of records) {
      const file = record.slice('ops/decisions/'.length);
      const title = /^# \d{4} (.+)$/m.exec(read(record))?.[1];
      const status = /^Status: (accepted|superseded by \d{4})/m.exec(read(record))?.[1];
      expect(index).toContainEqual([`[${file.slice(0, 4)}](${file})`, title, status]);
    }
  });

  it('every decision record has its parts in order', () => {
    for (const record of pages.filter((path) => /^ops\/decisions\/\d{4}-/.test(path))) {
      const parts = [...read(record).matchAll(/^## (.+)$/gm)].map(([, part]) => part);
      const required = ['Situation', 'Decision', 'What follows'];
      expect(
        parts.filter((part) => part !== undefined && required.includes(part)),
        record,
      ).toEqual(required);
    }
  });
});
