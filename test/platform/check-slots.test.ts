import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHECK_LIMITS, CheckSlots, type CheckTarget, type Place } from '../../src/platform/check-slots.ts';

const at = (mount: string, path = `${mount}/p`, local = false): CheckTarget => ({ mount, path, local });
const DEAD: Place = { kind: 'mount', name: '/dead' };

/** A check of `/dead` that timed out at time 0. */
function oneDead(): CheckSlots {
  const slots = new CheckSlots();
  slots.late(at('/dead'), slots.begin(at('/dead')), false, 0);
  return slots;
}

describe('a check of a disk', () => {
  it('runs alone on a mount that has not answered, and beside others once it has', () => {
    const slots = new CheckSlots();
    expect(slots.ask(at('/a'), 0)).toEqual({ kind: 'run' });
    const first = slots.begin(at('/a'));
    expect(slots.ask(at('/a', '/a/q'), 0)).toEqual({ kind: 'wait' });
    expect(slots.ask(at('/b'), 0)).toEqual({ kind: 'run' });
    slots.proven('/a', 0);
    expect(slots.ask(at('/a', '/a/q'), 0)).toEqual({ kind: 'run' });
    slots.end(at('/a'), first, 0);
    expect(slots.load).toEqual({ running: 0, stuck: 0 });
  });

  it('gets a slot even if every mount that never answered has a hanging check', () => {
    const slots = new CheckSlots();
    for (let nth = 0; nth < CHECK_LIMITS.unknown; nth += 1) slots.begin(at(`/dead${nth}`));
    expect(slots.ask(at('/another'), 0)).toEqual({ kind: 'wait' });
    expect(slots.ask(at('/', '/srv', true), 0)).toEqual({ kind: 'run' });
  });

  it('is answered at once if the mount is silent, whatever the path', () => {
    const slots = oneDead();
    expect(slots.ask(at('/dead', '/dead/other'), 10)).toEqual({ kind: 'silent', place: DEAD });
    expect(slots.ask(at('/well'), 10)).toEqual({ kind: 'run' });
  });

  it('reports only the path as silent if its mount answered during the check', () => {
    const slots = new CheckSlots();
    const slot = slots.begin(at('/a'));
    slots.proven('/a', 0);
    expect(slots.late(at('/a'), slot, true, 10)).toEqual({ kind: 'path', name: '/a/p' });
    expect(slots.ask(at('/a'), 10)).toEqual({ kind: 'silent', place: { kind: 'path', name: '/a/p' } });
    expect(slots.ask(at('/a', '/a/q'), 10)).toEqual({ kind: 'run' });
  });

  it('learns nothing from a check whose process exited early', () => {
    const slots = new CheckSlots();
    slots.lost(at('/a'), slots.begin(at('/a')));
    expect(slots.ask(at('/a'), 0)).toEqual({ kind: 'run' });
    expect(slots.nextProbe()).toBeNull();
  });
});

describe('a silent disk', () => {
  it('is retried with backoff, one check at a time, and never while a process is blocked there', () => {
    const slots = oneDead();
    let now = 0;
    const waits = [];
    expect(slots.probes(3_600_000 / 6)).toEqual([]);
    for (let nth = 0; nth < 8; nth += 1) {
      // A process that could be ended at once tells nothing of the disk.
      slots.freed(at('/dead'), DEAD, 5, now);
      slots.isSilent(DEAD, now);
      const next = slots.nextProbe() ?? 0;
      waits.push(next - now);
      expect(slots.probes(next - 1)).toEqual([]);
      const [probe] = slots.probes(next);
      expect(probe).toEqual({ at: at('/dead', '/dead'), place: DEAD });
      expect(slots.probes(next)).toEqual([]);
      expect(slots.ask(probe!.at, next, true)).toEqual({ kind: 'run' });
      now = next;
      slots.late(probe!.at, slots.begin(probe!.at), false, now);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is checked at once when the process that it blocked exits', () => {
    const slots = oneDead();
    slots.freed(at('/dead'), DEAD, 20_000, 20_000);
    expect(slots.probes(20_000)).toHaveLength(1);
  });

  it('is no longer silent after its first answer', () => {
    const slots = oneDead();
    slots.freed(at('/dead'), DEAD, 20_000, 20_000);
    const [probe] = slots.probes(20_000);
    slots.end(probe!.at, slots.begin(probe!.at), 20_010);
    expect(slots.isSilent(DEAD, 20_010)).toBe(false);
    expect([slots.nextProbe(), slots.ask(at('/dead'), 20_010)]).toEqual([null, { kind: 'run' }]);
  });

  it('is forgotten when nobody requests it, and checked again by the next request', () => {
    const slots = oneDead();
    slots.freed(at('/dead'), DEAD, 0, 0);
    expect(slots.probes(CHECK_LIMITS.forget_ms + 1)).toEqual([]);
    expect(slots.nextProbe()).toBeNull();
    expect(slots.ask(at('/dead'), CHECK_LIMITS.forget_ms + 1)).toEqual({ kind: 'run' });
  });
});

type Step = {
  what: 'ask' | 'answer' | 'hang' | 'hang_path' | 'lose' | 'free' | 'probe';
  which: number;
  wait: number;
};
const MOUNTS = ['/', '/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h'];

it('respects every limit, releases every slot, and never refuses a healthy mount because of another one', () => {
  const steps = fc.array(
    fc.record<Step>({
      what: fc.constantFrom('ask', 'ask', 'ask', 'answer', 'hang', 'hang_path', 'lose', 'free', 'probe'),
      which: fc.nat(60),
      wait: fc.nat(4_000),
    }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(steps, (run) => {
      const slots = new CheckSlots();
      const running: { check: CheckTarget; slot: { known: boolean } }[] = [];
      const stuck: { check: CheckTarget; place: Place; since: number }[] = [];
      const hung = new Set<string>();
      let now = 0;
      const begin = (check: CheckTarget) => running.push({ check, slot: slots.begin(check) });
      for (const { what, which, wait } of run) {
        now += wait;
        const mount = MOUNTS[which % MOUNTS.length]!;
        if (what === 'ask') {
          const check = at(mount, `${mount}/${which}`, mount === '/');
          const slot = slots.ask(check, now);
          if (slot.kind === 'run') begin(check);
          if (slot.kind === 'silent') expect(hung).toContain(slot.place.name);
        } else if (what === 'probe') {
          for (const probe of slots.probes(now)) {
            if (slots.ask(probe.at, now, true).kind === 'run') begin(probe.at);
            else slots.probeLost(probe.place, now);
          }
        } else if (what === 'free') {
          const [gone] = stuck.splice(which % Math.max(1, stuck.length), 1);
          if (gone !== undefined) slots.freed(gone.check, gone.place, now - gone.since, now);
        } else {
          const [one] = running.splice(which % Math.max(1, running.length), 1);
          if (one === undefined) continue;
          const { check, slot } = one;
          if (what === 'answer') slots.end(check, slot, now);
          else if (what === 'lose') slots.lost(check, slot);
          else {
            const place = slots.late(check, slot, what === 'hang_path', now);
            hung.add(place.name);
            stuck.push({ check, place, since: now });
          }
        }
        expect(slots.load).toEqual({ running: running.length, stuck: stuck.length });
        expect(running.length).toBeLessThanOrEqual(CHECK_LIMITS.total);
        for (const name of MOUNTS) {
          const here = running.filter(({ check }) => check.mount === name).length;
          expect(here).toBeLessThanOrEqual(CHECK_LIMITS.per_mount);
        }
      }
      for (const { check, slot } of running) slots.end(check, slot, now);
      for (const { check, place, since } of stuck) slots.freed(check, place, now - since, now);
      expect(slots.load).toEqual({ running: 0, stuck: 0 });
    }),
  );
});
