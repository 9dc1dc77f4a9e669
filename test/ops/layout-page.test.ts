import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../src/cli/command-line/verb-table.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { WORKER_URLS } from '../../src/threads/worker-urls.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const page = read('ops/layout.md');
const section = page.split(/^## /m).find((one) => one.startsWith('To add something\n'))!;

/** The paths that the paragraph on one kind of thing names. */
function pathsOf(kind: string): string[] {
  const paragraph = section.split('\n\n').find((one) => one.startsWith(`**${kind}**`));
  return [...(paragraph ?? '').matchAll(/`((?:src|workers|test)\/[\w./-]*)`/g)].map(([, path]) => path!);
}

const files = (folder: string) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
const namesOfRows = (text: string) =>
  [...text.matchAll(/^import \{ (\w+Rows) \}/gm)].map(([, name]) => name!);

describe('the instructions of ops/layout.md', () => {
  it.each(['A verb', 'A route', 'A harness', 'A setting', 'A worker thread'])(
    '%s names files that exist',
    (kind) => {
      expect(pathsOf(kind).length).toBeGreaterThan(0);
      for (const path of pathsOf(kind)) expect(existsSync(join(ROOT, path)), path).toBe(true);
    },
  );

  it('a verb is declared in each file that it names, and listed in the table', () => {
    const [folder, table, lifecycle] = pathsOf('A verb');
    expect([folder, table]).toEqual(['src/cli/verbs/', 'src/cli/verbs.ts']);
    const listed = read(table!);
    for (const { name } of rowsOf(VERBS)) expect(listed).toMatch(new RegExp(`^ {4}'?${name}'?: `, 'm'));
    const declaring = files(folder!).filter(
      (name) => name.endsWith('.ts') && /\bdefineVerb\(/.test(read(join(folder!, name))),
    );
    for (const name of declaring) expect(listed).toContain(`'./verbs/${name}'`);
    expect(read(lifecycle!)).toContain('export const LIFECYCLE = {');
  });

  it('a family of routes is a line of the table that it names, and its rows are in the folder that it names', () => {
    const [, folder, table] = pathsOf('A route');
    expect([folder, table]).toEqual(['src/routes/', 'src/routes/table.ts']);
    const families = namesOfRows(read(table!));
    expect(families.length).toBeGreaterThan(10);
    for (const family of families)
      expect(read(table!)).toMatch(new RegExp(`^ {4}\\.\\.\\.inGroup\\('\\w+', ${family}\\(`, 'm'));
    const declared = files(folder!).flatMap((name) =>
      name.endsWith('.ts') ? [...read(join(folder!, name)).matchAll(/^export function (\w+Rows)\(/gm)] : [],
    );
    expect(declared.map(([, name]) => name)).toEqual(expect.arrayContaining(families));
  });

  it.each(HARNESS_NAMES)('the harness %s stands in every file that it names', (name) => {
    const [folder, ...lists] = pathsOf('A harness').filter((path) => path.startsWith('src/'));
    expect(lists).toEqual(['src/contract/harness-name.ts', 'src/harness/harnesses.ts']);
    expect(read(`${folder}${name}/harness.ts`)).toContain(`export const ${name}: Harness = {`);
    for (const path of lists) expect(read(path), path).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('a setting is a row of the file that it names', () => {
    const [table] = pathsOf('A setting');
    for (const { env } of Object.values(SETTINGS)) expect(read(table!)).toContain(`'${env}'`);
  });

  it('a worker thread stands in every file that it names', () => {
    const [calls, entries, urls, daemon] = pathsOf('A worker thread');
    for (const name of Object.keys(WORKER_URLS)) {
      expect(existsSync(join(ROOT, calls!, `${name}.ts`)), calls).toBe(true);
      expect(existsSync(join(ROOT, entries!, `${name}.ts`)), entries).toBe(true);
      expect(read(urls!)).toContain(`workerUrl('${name}')`);
      expect(read(daemon!)).toContain(`WORKER_URLS.${name}`);
    }
    expect(
      files(entries!)
        .map((name) => name.replace(/[.]ts$/, ''))
        .sort(),
    ).toEqual(Object.keys(WORKER_URLS).sort());
  });
});
