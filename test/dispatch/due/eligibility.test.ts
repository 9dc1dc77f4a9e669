import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import { GATES, type Gate } from '../../../src/contract/gates.ts';
import {
  type EligibilityFacts,
  isArmedOn,
  isPendingStart,
  judgeEligibility,
} from '../../../src/dispatch/due/eligibility.ts';

const document: FiberDocument = {
  id: 'work/loader',
  uid: '01K00000000000000000000000',
  leaf: 'loader',
  store: '/srv/notes',
  path: '/srv/notes/.fibers/work/loader/loader.md',
  name: 'Loader',
  status: 'active',
  tags: [],
  digest: 'd',
  svc: { kind: 'oneshot', host: 'host-a', project_dir: '/srv/dev' },
  project_dir: '/srv/dev',
};
const facts: EligibilityFacts = {
  host: 'host-a',
  now: 1_000,
  occupied: false,
  due: null,
  paused_until: null,
  limited_until: null,
  held: null,
  cooldown_until: null,
  mux_answers: true,
  stopped_all: false,
  data_dir_fault: null,
  leased: true,
  elsewhere: null,
  workers: { count: 0, resting: 0, most: null },
  resources: null,
};
const SHORT = { what: 'memory', free: 1e9, floor: 2e9, young: 0 } as const;
const ELSEWHERE = { daemon: 'machine-b/1', since: 500, until: 2_000 };
const standing: FiberDocument = { ...document, svc: { ...document.svc, kind: 'standing' } };

/** Each gate with one pair of arguments that shuts it and nothing before it. */
const shut: Record<Gate, [FiberDocument, EligibilityFacts]> = {
  svc_block: [{ ...document, svc: undefined }, facts],
  host: [{ ...document, svc: { ...document.svc, host: 'host-b' } }, facts],
  document: [{ ...document, error: 'bad yaml' }, facts],
  status: [{ ...document, status: 'closed' }, facts],
  running: [document, { ...facts, occupied: true }],
  due: [standing, { ...facts, due: { kind: 'later', next: 2_000 } }],
  mux: [document, { ...facts, mux_answers: false }],
  stopped_all: [document, { ...facts, stopped_all: true }],
  data_dir: [document, { ...facts, data_dir_fault: 'it was deleted' }],
  store_lease: [document, { ...facts, leased: false }],
  run_elsewhere: [document, { ...facts, elsewhere: ELSEWHERE }],
  breaker: [document, { ...facts, paused_until: 1_001 }],
  usage_limit: [document, { ...facts, limited_until: 1_001 }],
  held: [document, { ...facts, held: 'boot_quarantine' }],
  cooldown: [document, { ...facts, cooldown_until: 1_001 }],
  max_concurrent: [document, { ...facts, workers: { count: 2, resting: 0, most: 2 } }],
  resources: [document, { ...facts, resources: SHORT }],
};

describe('eligibility', () => {
  it('[DSP-2] launches an active fiber of this host that is neither running nor claimed', () => {
    expect(judgeEligibility(document, facts)).toEqual({ eligible: true });
  });

  it.each(GATES.map((gate) => [gate]))(
    '[DSP-2] refuses at the %s gate when it is the one that is shut',
    (gate) => {
      const [doc, known] = shut[gate];
      expect(judgeEligibility(doc, known)).toEqual({ eligible: false, gate });
    },
  );

  it.each([['open'], ['closed']] as const)('[FIB-4] leaves a fiber with status %s alone', (status) => {
    expect(judgeEligibility({ ...document, status }, facts)).toEqual({ eligible: false, gate: 'status' });
  });

  it('[FIB-5] [DSP-2] leaves a block without a host alone', () => {
    const unowned = { ...document, svc: { ...document.svc, host: undefined } };
    expect(judgeEligibility(unowned, facts)).toEqual({ eligible: false, gate: 'host' });
  });

  it('opens the time gates at the very moment they end', () => {
    expect(judgeEligibility(document, { ...facts, paused_until: 1_000, cooldown_until: 1_000 })).toEqual({
      eligible: true,
    });
  });

  it('does not run a standing role that a person has judged', () => {
    const due = { ...facts, due: { kind: 'due', occurrence: 1 } as const };
    expect(judgeEligibility(standing, due)).toEqual({ eligible: true });
    expect(judgeEligibility({ ...standing, tempered: true }, due)).toEqual({ eligible: false, gate: 'due' });
  });

  it('[DSP-2] says yes only when no single fact forbids it', () => {
    const anyFacts = fc.record({
      host: fc.constantFrom('host-a', 'host-b'),
      now: fc.integer({ min: 0, max: 10 }),
      occupied: fc.boolean(),
      due: fc.constantFrom(
        null,
        { kind: 'due', occurrence: 1 } as const,
        { kind: 'later', next: 5 } as const,
      ),
      paused_until: fc.option(fc.integer({ min: 0, max: 10 })),
      limited_until: fc.option(fc.integer({ min: 0, max: 10 })),
      held: fc.constantFrom(null, 'boot_quarantine'),
      cooldown_until: fc.option(fc.integer({ min: 0, max: 10 })),
      mux_answers: fc.boolean(),
      stopped_all: fc.boolean(),
      data_dir_fault: fc.constantFrom(null, 'it was deleted'),
      leased: fc.boolean(),
      elsewhere: fc.constantFrom(null, ELSEWHERE),
      workers: fc.record({
        count: fc.integer({ min: 2, max: 6 }),
        resting: fc.integer({ min: 0, max: 2 }),
        most: fc.option(fc.integer({ min: 1, max: 4 })),
      }),
      resources: fc.constantFrom(null, SHORT),
    });
    fc.assert(
      fc.property(anyFacts, fc.constantFrom('open', 'active', 'closed'), (known, status) => {
        const expected =
          known.host === 'host-a' &&
          status === 'active' &&
          !known.occupied &&
          (known.paused_until === null || known.paused_until <= known.now) &&
          (known.limited_until === null || known.limited_until <= known.now) &&
          known.held === null &&
          known.mux_answers &&
          !known.stopped_all &&
          known.resources === null &&
          known.data_dir_fault === null &&
          known.leased &&
          known.elsewhere === null &&
          (known.workers.most === null || known.workers.count - known.workers.resting < known.workers.most) &&
          (known.cooldown_until === null || known.cooldown_until <= known.now);
        const verdict = judgeEligibility({ ...document, status } as FiberDocument, known);
        expect(verdict.eligible).toBe(expected);
      }),
    );
  });

  it.each([
    ['as it should be', {}, true],
    ['without a svc block', { svc: undefined }, false],
    ['of another host', { svc: { kind: 'oneshot', host: 'host-b' } }, false],
    ['that is not active', { status: 'open' }, false],
    ['with an error', { error: 'line 3: it is broken' }, false],
  ])('is settled by the document alone: one %s', (_which, change, armed) => {
    const changed = { ...document, ...change } as FiberDocument;
    expect(isArmedOn('host-a', changed)).toBe(armed);
    // No facts open a gate that the document shuts.
    expect(judgeEligibility(changed, facts).eligible).toBe(armed);
  });
});

describe('pending launch', () => {
  it('is a fiber that only a hold keeps back', () => {
    const held = { ...facts, held: 'boot_quarantine' as const };
    expect(isPendingStart(document, held)).toBe(true);
    expect(isPendingStart({ ...document, status: 'open' }, held)).toBe(false);
    expect(isPendingStart(document, facts)).toBe(false);
  });

  it('is told whatever keeps back the whole daemon, so that a person sees what a release would free', () => {
    const stopped = { ...facts, held: 'killed' as const, stopped_all: true, mux_answers: false };
    expect(isPendingStart(document, { ...stopped, workers: { count: 3, resting: 0, most: 3 } })).toBe(true);
  });
});
