import { describe, expect, it } from 'vitest';
import { Quarantine } from '../../../src/dispatch/holds/quarantine.ts';

describe('boot quarantine', () => {
  it('holds every candidate that was not seen running since the start', () => {
    const quarantine = new Quarantine();
    quarantine.sawRunning('seen');
    expect(quarantine.holdOf('unseen')).toBe('boot_quarantine');
    expect(quarantine.holdOf('seen')).toBeNull();
  });

  it('holds nothing once released', () => {
    const quarantine = new Quarantine();
    quarantine.hold('stopped', 'killed');
    quarantine.release(5);
    expect(quarantine.active).toBe(false);
    expect(quarantine.released_at).toBe(5);
    expect(quarantine.holdOf('stopped')).toBeNull();
    expect(quarantine.holdOf('unseen')).toBeNull();
  });

  it('is not lifted by a forced dispatch of one fiber', () => {
    const quarantine = new Quarantine();
    quarantine.sawRunning('forced');
    expect(quarantine.active).toBe(true);
    expect(quarantine.holdOf('other')).toBe('boot_quarantine');
  });

  it('keeps a killed fiber down after the release, until it is armed anew or runs again', () => {
    const quarantine = new Quarantine();
    quarantine.release(0);
    quarantine.hold('a', 'killed');
    quarantine.hold('b', 'killed');
    quarantine.hold('c', 'server_lost');
    expect(['a', 'b', 'c'].map((key) => quarantine.holdOf(key))).toEqual(['killed', 'killed', 'server_lost']);
    quarantine.forget('a');
    quarantine.sawRunning('b');
    expect(['a', 'b', 'c'].map((key) => quarantine.holdOf(key))).toEqual([null, null, 'server_lost']);
  });

  it('reports since when a fiber is held, unchanged from tick to tick', () => {
    const quarantine = new Quarantine();
    expect(quarantine.since('a', 10)).toBe(10);
    expect(quarantine.since('a', 20)).toBe(10);
  });
});
