import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decisions, renderResumePage, WAYS } from '../../ops/scripts/resume-table.mjs';
import { FRESH_REASONS } from '../../src/dispatch/plan/resume.ts';

type Decision = { kind: string; why?: string };
const read = (page: string) => readFileSync(new URL(`../../ops/${page}`, import.meta.url), 'utf8');
const table: { last: string; since: { since: string; ways: Record<string, Decision> }[] }[] = decisions();
const cells = table.flatMap(({ last, since }) => since.map((cell) => ({ last, ...cell })));

describe('ops/resume.md', () => {
  it('is up to date with the code (npm run docs)', () => {
    expect(read('resume.md')).toBe(renderResumePage());
  });

  it('has five ways to arm a fiber', () => {
    expect(Object.keys(WAYS)).toHaveLength(5);
  });

  it.each(cells.filter(({ ways }) => Object.keys(ways).length > 1))(
    '[RES-8] [FIB-4] is the same over every way to arm a fiber whose last worker $last $since',
    ({ ways }) => {
      const kinds = Object.values(ways).map(({ kind }) => kind);
      expect(new Set(kinds).size).toBe(1);
    },
  );

  it.each(cells.filter(({ since }) => since.includes('closed')))(
    '[RES-8] starts fresh after a close if the last worker $last',
    ({ ways }) => {
      for (const [way, decision] of Object.entries(ways))
        expect([way, decision.kind]).toEqual([way, 'fresh']);
    },
  );

  it('shows every reason for a fresh start that does not depend on the request', () => {
    const shown = new Set(cells.flatMap(({ ways }) => Object.values(ways).map(({ why }) => why)));
    const asked = ['first', 'asked', 'cut'];
    expect(FRESH_REASONS.filter((why) => !shown.has(why) && !asked.includes(why))).toEqual([]);
  });

  it('[RES-8] has the rule in the same words as ops/lifecycle.md', () => {
    const rule = /^Closing a fiber ends its conversation\..*?\n\n/ms;
    expect(rule.exec(read('resume.md'))?.[0]).toBe(rule.exec(read('lifecycle.md'))?.[0] ?? 'missing');
  });
});
