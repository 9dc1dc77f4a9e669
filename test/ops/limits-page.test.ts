import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findBounds, renderLimitsPage } from '../../ops/scripts/limits.mjs';
import { LIMITS, NOT_LIMITS } from '../../ops/scripts/limits-table.mjs';

const bounds = findBounds();
const declared = bounds.map(({ file, name }) => `${file} ${name}`);
const listed = LIMITS.flatMap(({ rows }) => rows.map(([file, name]) => `${file} ${name}`));
const others = Object.values(NOT_LIMITS).flat();

describe('ops/limits.md', () => {
  it('is up to date with the code (npm run docs)', async () => {
    const page = readFileSync(new URL('../../ops/limits.md', import.meta.url), 'utf8');
    expect(page).toBe(await renderLimitsPage());
  });

  it('lists every constant of src that is a limit, or gives the reason why not', () => {
    const known = new Set([...listed, ...others]);
    expect(declared.filter((one) => !known.has(one))).toEqual([]);
  });

  it('lists no constant twice, and only existing ones', () => {
    const all = [...listed, ...others];
    expect(all.filter((one, index) => all.indexOf(one) !== index)).toEqual([]);
    expect(all.filter((one) => !declared.includes(one))).toEqual([]);
  });

  it('shows the value of every limit', () => {
    const values = new Map(bounds.map(({ file, name, value }) => [`${file} ${name}`, value]));
    expect(listed.filter((one) => values.get(one) === null)).toEqual([]);
  });
});
