import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SURFACES as NAMES } from '../../src/contract/surface.ts';
import { SURFACES } from '../../src/dispatch/surfaces/surfaces.ts';

const ROOT = fileURLToPath(new URL('../../src/', import.meta.url));
const NAME = `'(${NAMES.join('|')})'`;
const COMPARED = new RegExp(String.raw`surface\b\)?\s*(===|!==|\?\?)\s*${NAME}|\?\s*${NAME}\s*:\s*${NAME}`);
/** The folder of each surface with the table of their objects, and the table of their rules. */
const ALLOWED = /^(dispatch\/surfaces\/|contract\/surface\.ts$)/;

it('every surface has its object', () => {
  expect(Object.keys(SURFACES).sort()).toEqual([...NAMES].sort());
});

it('no code outside the folder of a surface asks which one it has before it', () => {
  const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const asking = sources.filter(
    (path) => !ALLOWED.test(path) && COMPARED.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(asking).toEqual([]);
});

it.each([
  "if (surface === 'app') run();",
  "document.svc?.surface !== 'cli'",
  "surface ?? 'cli'",
  "const surface = record.app === undefined ? 'cli' : 'app';",
])('the rule finds %s', (text) => {
  expect(text).toMatch(COMPARED);
});
