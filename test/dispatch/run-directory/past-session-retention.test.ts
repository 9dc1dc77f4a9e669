import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prunePastSessions } from '../../../src/dispatch/run-directory/past-session-retention.ts';
import type { MuxSession } from '../../../src/mux/mux.ts';

const DAY = 24 * 60 * 60_000;
const NOW = 1_800_000_000_000;
const OPEN: MuxSession = {
  id: '$1',
  name: 'resume-open',
  created_at: 0,
  panes: [{ id: '%1', pid: 2, dead: false, launch_id: 'open' }],
  attached: 0,
};
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-resumed-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function started(session: string, days_ago: number): void {
  const folder = join(dir, 'resumed', session);
  mkdirSync(folder, { recursive: true });
  utimesSync(folder, new Date(NOW), new Date(NOW - days_ago * DAY));
}

it('[WPL-22] what started the terminal of a past session is removed when it is old and the terminal is gone', () => {
  expect(prunePastSessions(dir, { kind: 'absent' }, NOW)).toBe(0);
  started('open', 30);
  started('old', 30);
  started('named', 30);
  started('new', 3);
  expect(prunePastSessions(dir, { kind: 'unknown', detail: '' }, NOW)).toBe(0);
  const named = {
    ...OPEN,
    name: 'resume-named',
    panes: [{ id: '%2', pid: 3, dead: false, launch_id: null }],
  };
  expect(prunePastSessions(dir, { kind: 'alive', sessions: [OPEN, named] }, NOW)).toBe(2);
  expect(readdirSync(join(dir, 'resumed')).sort()).toEqual(['new', 'open']);
  expect(prunePastSessions(dir, { kind: 'absent' }, NOW)).toBe(1);
});
