import { describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import type { SessionLine } from '../../../src/contract/ledger.ts';
import { changeBetween, recordChange } from '../../../src/dispatch/run/document-changes.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const TIME = (ms: number) => new Date(NOW + ms).toISOString();
const fiber = (over: Partial<FiberDocument>): FiberDocument =>
  ({
    ...{ id: 'a', uid: '01K2B3C4D5E6F7G8H9J0K1M2N3', status: 'active', updated_at: TIME(-60_000) },
    svc: { host: 'host-a', kind: 'oneshot' },
    ...over,
  }) as FiberDocument;
const role = (handed_off_at: string, over: Partial<FiberDocument> = {}) =>
  fiber({ svc: { host: 'host-a', kind: 'standing', runtime: { handed_off_at } }, ...over } as never);
const closed = fiber({ status: 'closed' });

describe('a change of a document', () => {
  it.each<[string, FiberDocument, FiberDocument, string | null]>([
    ['an open fiber that is closed', fiber({}), closed, 'closed'],
    ['an open fiber that is accepted at once', fiber({}), { ...closed, tempered: true }, 'accepted'],
    ['a closed fiber that is accepted', closed, { ...closed, tempered: true }, 'accepted'],
    ['a closed fiber that is set aside', closed, { ...closed, tempered: false }, 'composted'],
    ['an accepted fiber that awaits review again', { ...closed, tempered: true }, closed, 'closed'],
    ['a closed fiber that is armed', closed, fiber({}), 'reopened'],
    ['a closed fiber that becomes a draft', closed, fiber({ status: 'open' }), 'reopened'],
    ['a role that is armed with a new handoff', role('1', { status: 'closed' }), role('2'), 'accepted'],
    ['a role that is armed without one', role('1', { status: 'closed' }), role('1'), 'reopened'],
    ['a fiber that is parked', fiber({}), fiber({ status: 'open' }), null],
    ['a document that cannot be read', closed, fiber({ error: 'no YAML' }), null],
  ])('[TMP-2] of %s is told as it is', (_what, before, after, kind) => {
    expect(changeBetween(before, after)).toBe(kind);
  });

  it.each<[string | null, object]>([
    ['cli', { by: 'cli' }],
    ['board@tarn', { by: 'board', from: 'tarn' }],
    ['daemon', { by: 'daemon' }],
    ['something else', { by: 'http' }],
    [null, { by: 'document' }],
  ])('[TMP-2] written by %j names who made it, and no session', (written_by, who) => {
    const lines: SessionLine[] = [];
    const world = {
      host: 'host-a',
      clock: { now: () => NOW } as never,
      recordSession: (line: SessionLine) => void lines.push(line),
    };
    const after = fiber({ status: 'closed', closed_at: TIME(-500), updated_at: TIME(-500) });
    recordChange(world, { before: fiber({}), after, run: undefined, written_by });
    const told = { kind: 'closed', fiber: 'a', session: null, mux: null, at: NOW - 500, ...who };
    expect(lines).toEqual([expect.objectContaining(told)]);
    // A time from a wrong clock, or one that was there before, is not that of the change.
    recordChange(world, {
      before: fiber({}),
      after: { ...after, closed_at: TIME(9_000) },
      run: undefined,
      written_by,
    });
    recordChange(world, {
      before: fiber({}),
      after: { ...after, closed_at: TIME(-90_000) },
      run: undefined,
      written_by,
    });
    expect(lines.slice(1).map(({ at }) => at)).toEqual([NOW, NOW]);
  });
});
