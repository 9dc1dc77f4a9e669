import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SURFACES as NAMES } from '../../src/contract/fiber.ts';
import { SURFACES } from '../../src/dispatch/surfaces/surfaces.ts';
import { SURFACE_RULES } from '../../src/lifecycle/surfaces.ts';

const ROOT = fileURLToPath(new URL('../../src/', import.meta.url));
const COMPARED = new RegExp(String.raw`surface\b\)?\s*(===|!==|\?\?)\s*'(${NAMES.join('|')})'`);
/** The folder of each surface, and the two tables of them. */
const ALLOWED = /^(dispatch\/surfaces\/|lifecycle\/surfaces\.ts$)/;

it('every surface has its rules and its object', () => {
  expect(Object.keys(SURFACE_RULES).sort()).toEqual([...NAMES].sort());
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

it.each(["if (surface === 'app') run();", "document.svc?.surface !== 'cli'", "surface ?? 'cli'"])(
  'the rule finds %s',
  (text) => {
    expect(text).toMatch(COMPARED);
  },
);
