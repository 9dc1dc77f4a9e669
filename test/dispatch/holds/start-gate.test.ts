import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainResources } from '../../../src/dispatch/holds/resource-words.ts';
import {
  type FreeResources,
  judgeStart,
  RESOURCES,
  type StartPolicy,
  type StartRecord,
  withoutStart,
  withStart,
} from '../../../src/dispatch/holds/start-gate.ts';

const policy: StartPolicy = {
  floors: { memory: 2e9, workers_memory: 1e9, processes: 200, descriptors: 100, terminals: 16 },
  each: { memory: 300e6, workers_memory: 300e6, processes: 30, descriptors: 4, terminals: 1 },
  young_ms: 30_000,
  burst: 3,
  spacing_ms: 1_000,
  busy_load: 4,
  busy_spacing_ms: 20_000,
};
const plenty: FreeResources = {
  memory: 20e9,
  workers_memory: 20e9,
  processes: 30_000,
  descriptors: 1_000,
  terminals: 4_000,
};
const untold: FreeResources = {
  memory: null,
  workers_memory: null,
  processes: null,
  descriptors: null,
  terminals: null,
};
const PRESSURE = { load: 0, cores: 2, waiting: 0, memory: 0 };
const quiet = (free: FreeResources) => ({ free, pressure: PRESSURE });
const none: StartRecord = { recent: [], paced_until: 0 };
const NOW = 1_000_000;

describe('the gate of the machine’s resources', () => {
  it.each([
    ['all there is', plenty, none, null],
    ['nothing the system tells', untold, none, null],
    ['memory at its floor', { ...plenty, memory: 2e9 }, none, null],
    [
      'memory below it',
      { ...plenty, memory: 1.1e9 },
      none,
      { what: 'memory', free: 1.1e9, floor: 2e9, young: 0 },
    ],
    [
      'too little for young workers',
      { ...plenty, memory: 2.5e9 },
      { recent: [NOW - 1, NOW], paced_until: 0 },
      { what: 'memory', free: 1.9e9, floor: 2e9, young: 2 },
    ],
    [
      'enough, for they are young no more',
      { ...plenty, memory: 2.5e9 },
      { recent: [NOW - 40_000, NOW - 30_000], paced_until: 0 },
      null,
    ],
    [
      'little of what all workers may use',
      { ...plenty, workers_memory: 0.9e9 },
      none,
      { what: 'workers_memory', free: 0.9e9, floor: 1e9, young: 0 },
    ],
    [
      'few processes',
      { ...plenty, processes: 199 },
      none,
      { what: 'processes', free: 199, floor: 200, young: 0 },
    ],
    [
      'few descriptors',
      { ...plenty, descriptors: 0 },
      none,
      { what: 'descriptors', free: 0, floor: 100, young: 0 },
    ],
    ['few terminals', { ...plenty, terminals: 3 }, none, { what: 'terminals', free: 3, floor: 16, young: 0 }],
    [
      'a burst that is used up',
      plenty,
      { recent: [], paced_until: NOW + 3_000 },
      { what: 'pace', burst: 3, next_at: NOW + 1_000 },
    ],
    [
      'a pace from before the clock was turned back',
      plenty,
      { recent: [NOW + 9e9], paced_until: NOW + 9e9 },
      null,
    ],
  ] as [string, FreeResources, StartRecord, unknown][])('sees %s', (_what, free, record, hold) => {
    expect(judgeStart(quiet(free), policy, record, NOW)).toEqual(hold);
  });

  it('lets a burst through at once, then one start each spacing, and the whole burst again after a rest', () => {
    let record = none;
    const startedAt: number[] = [];
    for (let now = NOW; now < NOW + 5_000; now += 250) {
      while (judgeStart(quiet(untold), policy, record, now) === null) {
        record = withStart(record, policy, now);
        startedAt.push(now - NOW);
      }
    }
    expect(startedAt).toEqual([0, 0, 0, 1_000, 2_000, 3_000, 4_000]);
    const rested = NOW + 20_000;
    for (let count = 0; count < 3; count += 1) {
      expect(judgeStart(quiet(untold), policy, record, rested)).toBeNull();
      record = withStart(record, policy, rested);
    }
    expect(judgeStart(quiet(untold), policy, record, rested)).toMatchObject({ what: 'pace' });
  });

  const BUSY = { load: 8.1, cores: 2, waiting: 0.9, memory: 0 };
  it.each([
    ['a load above the bound', {}, { load: 8.1, cores: 2, most: 8 }],
    [
      'such a load where the kernel tells no more',
      { waiting: null, memory: null },
      { load: 8.1, cores: 2, most: 8 },
    ],
    ['the bound', { load: 8 }, null],
    ['a load that is over by now', { waiting: 0.4 }, null],
    ['processes that wait for memory', { load: 1, memory: 0.34 }, { memory: 0.34 }],
    ['processes that seldom do', { load: 1, memory: 0.19 }, null],
  ])('spaces starts for %s', (_what, of, busy) => {
    const machine = { free: plenty, pressure: { ...BUSY, ...of } };
    const record = withStart(none, policy, NOW);
    const at = (later: number) => judgeStart(machine, policy, record, NOW + later);
    expect(judgeStart(machine, policy, none, NOW)).toBeNull();
    expect(at(19_999)).toEqual(busy && { what: 'busy', with: busy, next_at: NOW + 20_000 });
    expect(at(20_000)).toBeNull();
    expect(judgeStart(machine, { ...policy, busy_load: 0 }, record, NOW)).toBeNull();
  });

  it('takes back a start that came to nothing', () => {
    const once = withStart(none, policy, NOW);
    expect(withoutStart(withStart(once, policy, NOW + 5), policy, NOW + 5)).toEqual(once);
  });

  it('never starts more than memory allows, however many are due and however late the machine tells', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 60e9, noNaN: true }),
        fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 300 }),
        (memory, waits) => {
          const generous = { ...policy, burst: 1_000 };
          let record = none;
          let now = NOW;
          const starts: number[] = [];
          for (const wait of waits) {
            now += wait;
            if (judgeStart(quiet({ ...plenty, memory }), generous, record, now) !== null) continue;
            record = withStart(record, generous, now);
            starts.push(now);
          }
          for (const at of starts) {
            const together = starts.filter((one) => one <= at && at - one < policy.young_ms).length;
            expect((together - 1) * policy.each.memory).toBeLessThanOrEqual(
              Math.max(0, memory - policy.floors.memory),
            );
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it('holds for every resource exactly while less than its floor is free', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RESOURCES),
        fc.double({ min: 0, max: 2, noNaN: true }),
        (what, share) => {
          const free = { ...untold, [what]: share * policy.floors[what] };
          const hold = judgeStart(quiet(free), policy, none, NOW);
          expect(hold?.what).toBe(free[what]! < policy.floors[what] ? what : undefined);
        },
      ),
    );
  });

  it.each([
    [
      { what: 'memory', free: 1.1e9, floor: 2e9, young: 0 },
      '1.1 GB of memory is free, and new workers wait below 2.0 GB',
      'SVC_FLOOR_MEMORY',
    ],
    [
      { what: 'memory', free: 1.9e9, floor: 2e9, young: 1 },
      '1.9 GB of memory is free after what 1 worker that just started is expected to use, and new workers wait below 2.0 GB',
      'SVC_FLOOR_MEMORY',
    ],
    [
      { what: 'memory', free: 1.9e9, floor: 2e9, young: 4 },
      '1.9 GB of memory is free after what 4 workers that just started are expected to use, and new workers wait below 2.0 GB',
      'SVC_FLOOR_MEMORY',
    ],
    [
      { what: 'descriptors', free: 7, floor: 100, young: 0 },
      'the machine has room for 7 more open files, and new workers wait below 100',
      'raise the limit of open files (ulimit -n), or set SVC_FLOOR_DESCRIPTORS',
    ],
    [
      { what: 'pace', burst: 3, next_at: 0 },
      '3 workers were started in one go, and further ones are spaced; the next may start at 1970-01-01T00:00:00.000Z',
      'SVC_START_SPACING_MS',
    ],
    [
      { what: 'busy', with: { load: 21.34, cores: 2, most: 8 }, next_at: 0 },
      'this machine is busy (load 21.3 on 2 cores, above 8), and workers are started one by one; the next may start at 1970-01-01T00:00:00.000Z',
      'SVC_BUSY_LOAD',
    ],
    [
      { what: 'busy', with: { memory: 0.34 }, next_at: 0 },
      'this machine is busy (processes waited for memory in 34 % of the last 10 seconds), and workers are started one by one; the next may start at 1970-01-01T00:00:00.000Z',
      'SVC_BUSY_LOAD',
    ],
  ] as const)('is told with figure, floor and setting (%j)', (hold, message, setting) => {
    const told = explainResources(hold);
    expect(told.message).toBe(message);
    expect(told.mend).toContain(setting);
  });
});
