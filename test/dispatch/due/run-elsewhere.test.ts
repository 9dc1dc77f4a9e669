import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runElsewhere } from '../../../src/dispatch/due/run-elsewhere.ts';
import { fiberDocument } from '../../fixtures/fibers/fiber-document.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const OWN = { daemon_id: 'machine-a/aaaa', now: NOW };
const at = (ms: number) => new Date(ms).toISOString();
const marked = (runtime: Record<string, string>) => fiberDocument({ svc: { kind: 'oneshot', runtime } });

describe('a run that another daemon may still have', () => {
  it.each([
    ['another daemon’s, an hour old', { daemon: 'machine-b/bbbb', dispatched_at: at(NOW - HOUR) }, true],
    ['ours', { daemon: 'machine-a/aaaa', dispatched_at: at(NOW - HOUR) }, false],
    ['ours, while the machine had another name', { daemon: 'old-name/aaaa', dispatched_at: at(NOW) }, false],
    [
      'one that was handed off',
      { daemon: 'machine-b/bbbb', dispatched_at: at(NOW - HOUR), handed_off_at: at(NOW) },
      false,
    ],
    [
      'one begun after the handoff of another',
      { daemon: 'machine-b/bbbb', dispatched_at: at(NOW), handed_off_at: at(NOW - HOUR) },
      true,
    ],
    ['a day old', { daemon: 'machine-b/bbbb', dispatched_at: at(NOW - 24 * HOUR) }, false],
    ['an hour ahead of our clock', { daemon: 'machine-b/bbbb', dispatched_at: at(NOW + HOUR) }, true],
    [
      '400 days ahead of our clock',
      { daemon: 'machine-b/bbbb', dispatched_at: at(NOW + 9_600 * HOUR) },
      false,
    ],
    ['of nobody known', { dispatched_at: at(NOW) }, false],
    ['without a moment', { daemon: 'machine-b/bbbb' }, false],
  ])('%s', (_what, runtime, expected) => {
    expect(runElsewhere(marked(runtime), OWN) !== null).toBe(expected);
  });

  it('ends at the moment that it tells', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 48 * HOUR }), (age) => {
        const run = runElsewhere(marked({ daemon: 'b/b', dispatched_at: at(NOW - age) }), OWN);
        if (run === null) return;
        const then = { ...OWN, now: run.until };
        expect(runElsewhere(marked({ daemon: 'b/b', dispatched_at: at(run.since) }), then)).toBeNull();
        expect(run.until).toBeGreaterThan(NOW);
      }),
    );
  });
});
