import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
