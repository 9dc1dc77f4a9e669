import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HoldFiles } from '../../../src/config/hold-files.ts';
import { Quarantine } from '../../../src/dispatch/holds/quarantine.ts';

const logger = pino({ level: 'silent' });
let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-quarantine-'));
  folder = join(root, 'state', 'holds');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function boot(now = 0): Quarantine {
  return new Quarantine({ files: new HoldFiles({ folder, logger }), logger, now });
}

const killed = (at = 1) => ({ reason: 'killed' as const, at, launch_id: 'l1', store: null });

describe('boot quarantine', () => {
  it('holds every candidate that was not seen running since the start', () => {
    const quarantine = boot();
    quarantine.sawRunning('seen', 'l');
    expect(quarantine.holdOf('unseen')).toBe('boot_quarantine');
    expect(quarantine.holdOf('seen')).toBeNull();
  });

  it('holds nothing that never ran where no daemon has started anything yet', () => {
    const files = new HoldFiles({ folder, logger });
    const quarantine = new Quarantine({ files, logger, now: 0, first_start: true });
    expect([quarantine.holdOf('new', false), quarantine.holdOf('ran', true)]).toEqual([
      null,
      'boot_quarantine',
    ]);
    quarantine.hold('stopped', killed());
    expect(quarantine.holdOf('stopped', false)).toBe('killed');
    quarantine.release(5);
    expect(quarantine.holdOf('ran', true)).toBeNull();
  });

  it('[WPL-25] released, holds nothing any more, and lifts no hold on one fiber', () => {
    const quarantine = boot();
    quarantine.hold('stopped', killed());
    quarantine.release(5);
    expect([quarantine.active, quarantine.released_at]).toEqual([false, 5]);
    expect(quarantine.holdOf('stopped')).toBe('killed');
    expect(quarantine.holdOf('unseen')).toBeNull();
  });

  it('is lifted from one fiber alone by a start of it, or by a person who lets it go', () => {
    const quarantine = boot();
    quarantine.sawRunning('forced', 'l');
    quarantine.allow('resumed');
    expect(quarantine.active).toBe(true);
    expect(['forced', 'resumed', 'other'].map((key) => quarantine.holdOf(key))).toEqual([
      null,
      null,
      'boot_quarantine',
    ]);
  });

  it('reports since when a fiber is held, unchanged from tick to tick', () => {
    const quarantine = boot();
    expect(quarantine.since('a', 10)).toBe(10);
    expect(quarantine.since('a', 20)).toBe(10);
  });
});

describe('a hold on one fiber', () => {
  it('outlasts restarts with its reason, its time and the word of the person', () => {
    boot().hold('a', { ...killed(7), note: 'wrong branch' });
    const later = boot(1_000);
    later.release(1_001);
    expect(later.holdOf('a')).toBe('killed');
    expect(later.since('a', 2_000)).toBe(7);
    expect(later.namedHoldOf('a')?.note).toBe('wrong branch');
  });

  it('ends when the fiber is let go, closed, or restarted, and is not back after a restart', () => {
    const quarantine = boot();
    for (const key of ['a', 'b', 'c', 'd']) quarantine.hold(key, killed());
    quarantine.allow('a');
    quarantine.forget('b');
    quarantine.sawRunning('c', 'l2');
    const held = ['a', 'b', 'c', 'd'];
    const later = boot();
    later.release(0);
    for (const one of [quarantine, later]) {
      one.release(0);
      expect(held.map((key) => one.holdOf(key))).toEqual([null, null, null, 'killed']);
    }
  });

  it.each([
    ['killed', 'killed'],
    ['server_lost', null],
    ['clean_exit', null],
  ] as const)('for the reason %s is %s once the very same worker is seen to live on', (reason, expected) => {
    const quarantine = boot();
    quarantine.release(0);
    quarantine.hold('a', { reason, at: 1, launch_id: 'l1', store: null });
    quarantine.sawRunning('a', 'l1');
    expect(quarantine.holdOf('a')).toBe(expected);
  });

  it('whose file is damaged counts as a kill, and concerns no other fiber', () => {
    const before = boot();
    before.hold('whole', { reason: 'server_lost', at: 3, launch_id: null, store: null });
    before.hold('torn', killed());
    writeFileSync(join(folder, 'torn.json'), '{"version":1,"rea');
    writeFileSync(join(folder, '.torn.json.tmp-1-abc'), 'left by a crash');
    const later = boot(50);
    later.release(50);
    expect(later.holdOf('torn')).toBe('killed');
    expect(later.since('torn', 60)).toBe(50);
    expect(later.holdOf('whole')).toBe('server_lost');
    expect(later.holdOf('other')).toBeNull();
  });

  it('releases nothing while the holds of earlier daemons cannot be read, and says why', () => {
    mkdirSync(join(root, 'state'));
    writeFileSync(folder, 'not a folder');
    const quarantine = boot();
    expect(() => quarantine.release(1)).toThrow(/nothing is released: .*holds cannot be read/);
    expect(quarantine.holdOf('a')).toBe('boot_quarantine');
    rmSync(folder);
    quarantine.release(2);
    expect(quarantine.holdOf('a')).toBeNull();
  });

  it('that cannot be written says so, stands, and is written once that is possible', () => {
    mkdirSync(join(root, 'state'));
    const quarantine = boot();
    writeFileSync(folder, 'in the way');
    expect(quarantine.hold('a', killed())).toMatch(/only until the daemon ends.*written with the next tick/);
    expect(quarantine.holdOf('a')).toBe('killed');
    rmSync(folder);
    quarantine.writeAgain();
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('has a file name of its own for any key', () => {
    const keys = ['../../etc/passwd', 'a/b', 'a%2Fb', '.', '..', 'ü x', 'A'];
    const quarantine = boot();
    for (const key of keys) quarantine.hold(key, killed());
    const later = boot();
    expect(keys.map((key) => later.holdOf(key))).toEqual(keys.map(() => 'killed'));
    expect(readdirSync(folder)).toHaveLength(keys.length);
  });

  it('is the same on disk and in memory after any history', () => {
    const key = fc.constantFrom('a', 'b');
    const step = fc.oneof(
      fc.record({ do: fc.constant('hold' as const), key, reason: fc.constantFrom('killed', 'server_lost') }),
      fc.record({ do: fc.constantFrom('allow' as const, 'forget' as const), key }),
      fc.record({ do: fc.constant('saw' as const), key, launch: fc.constantFrom('l1', 'l2') }),
      fc.constant({ do: 'restart' as const }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        rmSync(folder, { recursive: true, force: true });
        let quarantine = boot();
        const expected = new Map<string, string>();
        for (const one of steps) {
          if (one.do === 'restart') quarantine = boot();
          else if (one.do === 'hold') {
            quarantine.hold(one.key, { reason: one.reason, at: 1, launch_id: 'l1', store: null });
            expected.set(one.key, one.reason);
          } else if (one.do === 'saw') {
            quarantine.sawRunning(one.key, one.launch);
            if (expected.get(one.key) !== 'killed' || one.launch !== 'l1') expected.delete(one.key);
          } else {
            quarantine[one.do](one.key);
            expected.delete(one.key);
          }
          quarantine.release(0);
          for (const each of ['a', 'b']) expect(quarantine.holdOf(each)).toBe(expected.get(each) ?? null);
        }
      }),
      { numRuns: 60 },
    );
  });
});
