import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOK_LIMITS, type LookAt, LookTurns, type Place } from '../../src/platform/look-turns.ts';

const at = (mount: string, path = `${mount}/p`, local = false): LookAt => ({ mount, path, local });
const DEAD: Place = { kind: 'mount', name: '/dead' };

/** A look at `/dead` that was given up at time 0. */
function oneDead(): LookTurns {
  const turns = new LookTurns();
  turns.late(at('/dead'), turns.begin(at('/dead')), false, 0);
  return turns;
}

describe('a look at a disk', () => {
  it('runs alone on a mount that has not answered, and beside others once it has', () => {
    const turns = new LookTurns();
    expect(turns.ask(at('/a'), 0)).toEqual({ kind: 'run' });
    const first = turns.begin(at('/a'));
    expect(turns.ask(at('/a', '/a/q'), 0)).toEqual({ kind: 'wait' });
    expect(turns.ask(at('/b'), 0)).toEqual({ kind: 'run' });
    turns.proven('/a', 0);
    expect(turns.ask(at('/a', '/a/q'), 0)).toEqual({ kind: 'run' });
    turns.end(at('/a'), first, 0);
    expect(turns.load).toEqual({ running: 0, stuck: 0 });
  });

  it('gets a slot even if every mount that never answered has a hanging look', () => {
    const turns = new LookTurns();
    for (let nth = 0; nth < LOOK_LIMITS.unknown; nth += 1) turns.begin(at(`/dead${nth}`));
    expect(turns.ask(at('/another'), 0)).toEqual({ kind: 'wait' });
    expect(turns.ask(at('/', '/srv', true), 0)).toEqual({ kind: 'run' });
  });

  it('is answered at once where the mount is silent, whatever the path', () => {
    const turns = oneDead();
    expect(turns.ask(at('/dead', '/dead/other'), 10)).toEqual({ kind: 'silent', place: DEAD });
    expect(turns.ask(at('/well'), 10)).toEqual({ kind: 'run' });
  });

  it('blames one path alone where its mount answered during the look', () => {
    const turns = new LookTurns();
    const turn = turns.begin(at('/a'));
    turns.proven('/a', 0);
    expect(turns.late(at('/a'), turn, true, 10)).toEqual({ kind: 'path', name: '/a/p' });
    expect(turns.ask(at('/a'), 10)).toEqual({ kind: 'silent', place: { kind: 'path', name: '/a/p' } });
    expect(turns.ask(at('/a', '/a/q'), 10)).toEqual({ kind: 'run' });
  });

  it('learns nothing from a look whose process exited early', () => {
    const turns = new LookTurns();
    turns.lost(at('/a'), turns.begin(at('/a')));
    expect(turns.ask(at('/a'), 0)).toEqual({ kind: 'run' });
    expect(turns.nextProbe()).toBeNull();
  });
});

describe('a silent disk', () => {
  it('is retried with backoff, one look at a time, and never while a process is blocked there', () => {
    const turns = oneDead();
    let now = 0;
    const waits = [];
    expect(turns.probes(3_600_000 / 6)).toEqual([]);
    for (let nth = 0; nth < 8; nth += 1) {
      // A process that could be ended at once tells nothing of the disk.
      turns.freed(at('/dead'), DEAD, 5, now);
      turns.isSilent(DEAD, now);
      const next = turns.nextProbe() ?? 0;
      waits.push(next - now);
      expect(turns.probes(next - 1)).toEqual([]);
      const [probe] = turns.probes(next);
      expect(probe).toEqual({ at: at('/dead', '/dead'), place: DEAD });
      expect(turns.probes(next)).toEqual([]);
      expect(turns.ask(probe!.at, next, true)).toEqual({ kind: 'run' });
      now = next;
      turns.late(probe!.at, turns.begin(probe!.at), false, now);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is checked at once when the process that it blocked exits', () => {
    const turns = oneDead();
    turns.freed(at('/dead'), DEAD, 20_000, 20_000);
    expect(turns.probes(20_000)).toHaveLength(1);
  });

  it('is no longer silent after its first answer', () => {
    const turns = oneDead();
    turns.freed(at('/dead'), DEAD, 20_000, 20_000);
    const [probe] = turns.probes(20_000);
    turns.end(probe!.at, turns.begin(probe!.at), 20_010);
    expect(turns.isSilent(DEAD, 20_010)).toBe(false);
    expect([turns.nextProbe(), turns.ask(at('/dead'), 20_010)]).toEqual([null, { kind: 'run' }]);
  });

  it('is forgotten when nobody requests it, and checked again by the next request', () => {
    const turns = oneDead();
    turns.freed(at('/dead'), DEAD, 0, 0);
    expect(turns.probes(LOOK_LIMITS.forget_ms + 1)).toEqual([]);
    expect(turns.nextProbe()).toBeNull();
    expect(turns.ask(at('/dead'), LOOK_LIMITS.forget_ms + 1)).toEqual({ kind: 'run' });
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
      const turns = new LookTurns();
      const running: { look: LookAt; turn: { known: boolean } }[] = [];
      const stuck: { look: LookAt; place: Place; since: number }[] = [];
      const hung = new Set<string>();
      let now = 0;
      const begin = (look: LookAt) => running.push({ look, turn: turns.begin(look) });
      for (const { what, which, wait } of run) {
        now += wait;
        const mount = MOUNTS[which % MOUNTS.length]!;
        if (what === 'ask') {
          const look = at(mount, `${mount}/${which}`, mount === '/');
          const turn = turns.ask(look, now);
          if (turn.kind === 'run') begin(look);
          if (turn.kind === 'silent') expect(hung).toContain(turn.place.name);
        } else if (what === 'probe') {
          for (const probe of turns.probes(now)) {
            if (turns.ask(probe.at, now, true).kind === 'run') begin(probe.at);
            else turns.probeLost(probe.place, now);
          }
        } else if (what === 'free') {
          const [gone] = stuck.splice(which % Math.max(1, stuck.length), 1);
          if (gone !== undefined) turns.freed(gone.look, gone.place, now - gone.since, now);
        } else {
          const [one] = running.splice(which % Math.max(1, running.length), 1);
          if (one === undefined) continue;
          const { look, turn } = one;
          if (what === 'answer') turns.end(look, turn, now);
          else if (what === 'lose') turns.lost(look, turn);
          else {
            const place = turns.late(look, turn, what === 'hang_path', now);
            hung.add(place.name);
            stuck.push({ look, place, since: now });
          }
        }
        expect(turns.load).toEqual({ running: running.length, stuck: stuck.length });
        expect(running.length).toBeLessThanOrEqual(LOOK_LIMITS.total);
        for (const name of MOUNTS) {
          const here = running.filter(({ look }) => look.mount === name).length;
          expect(here).toBeLessThanOrEqual(LOOK_LIMITS.per_mount);
        }
      }
      for (const { look, turn } of running) turns.end(look, turn, now);
      for (const { look, place, since } of stuck) turns.freed(look, place, now - since, now);
      expect(turns.load).toEqual({ running: 0, stuck: 0 });
    }),
  );
});
