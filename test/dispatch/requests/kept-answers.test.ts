import { linkSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sha256Of } from '../../../src/base/digest.ts';
import { KeptAnswers } from '../../../src/dispatch/requests/kept-answers.ts';

const DAY_MS = 86_400_000;
let folder: string;
let now: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-answers-'));
  now = Date.parse('2026-11-29T12:00:00Z');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As each daemon over the same files makes them. */
const answers = () => new KeptAnswers(join(folder, 'answers'), () => now);

it('[MSG-3] tells a later daemon that a write was begun, and then its answer, for a week', () => {
  expect(answers().begin('/dispatch k-1', 'digest')).toBeNull();
  expect(answers().begin('/dispatch k-1', 'digest')).toEqual({ content: 'digest', answer: null });
  answers().end('/dispatch k-1', { status: 200, json: { n: 1 } });
  now += 6 * DAY_MS;
  expect(answers().begin('/dispatch k-1', 'other')).toEqual({
    content: 'digest',
    answer: { status: 200, json: { n: 1 } },
  });
  now += DAY_MS;
  expect(answers().begin('/dispatch k-1', 'other')).toBeNull();
  expect(readdirSync(join(folder, 'answers'))).toEqual(['2026-12-06']);
});

it('[MSG-3] lets the id of a write that was refused be used again', () => {
  const kept = answers();
  kept.begin('k', 'digest');
  kept.end('k', null);
  expect(kept.begin('k', 'other')).toBeNull();
  kept.end('never-begun', { status: 200 });
  expect(kept.begin('never-begun', 'digest')).toBeNull();
});

it('[MSG-3] keeps of an answer of more than 8 MiB only that its write was begun', () => {
  const kept = answers();
  kept.begin('k', 'digest');
  kept.end('k', { json: 'x'.repeat(8 * 1024 * 1024) });
  expect(kept.begin('k', 'digest')).toEqual({ content: 'digest', answer: null });
});

it('[MSG-3] keeps 10,000 answers, also over a restart: the oldest go first, and what has no answer stays', () => {
  const first = answers();
  const keep = (kept: KeptAnswers, id: string) => {
    kept.begin(id, 'digest');
    kept.end(id, { status: 200 });
  };
  for (const id of ['oldest', 'older']) keep(first, id);
  first.begin('begun', 'digest');
  const day = join(folder, 'answers', '2026-11-29');
  writeFileSync(join(day, '0.json'), '{"content":"digest","answer":{"status":200}}');
  for (let n = 1; n < 10_000 - 3; n += 1) linkSync(join(day, '0.json'), join(day, `${n}.json`));
  for (const [at, id] of ['begun', 'oldest', 'older'].entries())
    utimesSync(join(day, `${sha256Of(id)}.json`), at + 1, at + 1);
  const later = answers();
  keep(later, 'new');
  expect(readdirSync(day)).toHaveLength(10_001);
  keep(later, 'newer');
  expect(readdirSync(day)).toHaveLength(10_001);
  expect(later.begin('begun', 'other')).toEqual({ content: 'digest', answer: null });
  expect(later.begin('older', 'other')).toMatchObject({ answer: { status: 200 } });
  expect(later.begin('oldest', 'other')).toBeNull();
});
