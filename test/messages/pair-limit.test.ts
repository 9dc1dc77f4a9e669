import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageLine } from '../../src/contract/ledger.ts';
import { HOUR_MS, PairLimit } from '../../src/messages/pair-limit.ts';
import { FakeSession, message } from './fake-world.ts';

const A = 'svc://here/claude/a';
const B = 'svc://here/claude/b';
const C = 'svc://here/claude/c';

describe('messages between two sessions', () => {
  it('are refused after the limit, in either direction, and go on after an hour', () => {
    const limit = new PairLimit(2);
    limit.take(A, B, 0);
    limit.take(A, B, 1);
    expect(() => limit.take(A, B, 2)).toThrow(
      /2 messages to each other within an hour.*SVC_MESSAGE_PAIR_LIMIT/,
    );
    expect(() => limit.take(B, A, 2)).toThrow(/looks like a loop/);
    limit.take(A, C, 2);
    limit.take(A, B, HOUR_MS);
    expect(() => limit.take(B, A, HOUR_MS)).toThrow(/looks like a loop/);
  });

  it('count how often one answered the other, until an hour’s pause', () => {
    const limit = new PairLimit(20);
    expect(limit.take(A, B, 0)).toBe(0);
    expect(limit.take(B, A, 10)).toBe(1);
    expect(limit.take(B, A, 20)).toBe(1);
    expect(limit.take('svc://here/claude-code/a', B, 30)).toBe(2);
    expect(limit.take(C, B, 30)).toBe(0);
    expect(limit.take(B, A, 30 + HOUR_MS)).toBe(0);
  });

  it('are refused when they go on slowly, with what to do', () => {
    const limit = new PairLimit(3);
    for (const [nth, [from, to]] of [[A, B] as const, [B, A] as const, [A, B] as const].entries())
      limit.take(from, to, nth * 0.9 * HOUR_MS);
    expect(() => limit.take(B, A, 2.7 * HOUR_MS)).toThrow(/answered each other 3 times.*wait for an hour/);
    expect(limit.take(B, A, 2.9 * HOUR_MS)).toBe(0);
  });

  it('are not counted where they were sent before the clock was set back', () => {
    const limit = new PairLimit(2);
    limit.take(A, B, 5 * HOUR_MS);
    limit.take(B, A, 5 * HOUR_MS);
    expect(limit.take(A, B, HOUR_MS)).toBe(0);
  });

  it('are not counted by a check, which refuses one too many', () => {
    const limit = new PairLimit(1);
    expect(limit.check(A, B, 0)).toBe(0);
    expect(limit.take(A, B, 0)).toBe(0);
    expect(() => limit.check(A, B, 1)).toThrow(/looks like a loop/);
    expect(() => limit.check(B, A, 1)).toThrow(/looks like a loop/);
    expect(limit.check(A, B, HOUR_MS)).toBe(0);
  });

  it('are not counted when they are given back, whatever the spelling of the sender', () => {
    const limit = new PairLimit(2);
    limit.take(A, B, 0);
    limit.take('svc://here/claude-code/a', B, 1);
    limit.giveBack('svc://here/claude-code/a', B, 1);
    limit.giveBack(A, B, 1);
    limit.giveBack(C, B, 1);
    expect(limit.take(B, A, 2)).toBe(1);
    expect(() => limit.check(A, B, 2)).toThrow(/looks like a loop/);
  });

  it('of a name are refused after five times the limit, over a restart too, and no other sender with it', () => {
    const limit = new PairLimit(
      1,
      [0, 1, 2].map((at) => lineOf('ada', B, at, 0)),
    );
    for (const at of [3, 4]) expect(limit.take('ada', B, at)).toBe(0);
    expect(() => limit.check('ada', B, 5)).toThrow(
      /^ada wrote 5 messages to this session within an hour, which looks like a loop; wait, or raise SVC/,
    );
    expect(limit.take('ada', C, 5)).toBe(0);
    expect(limit.take('bea', B, 5)).toBe(0);
    expect(limit.take(A, B, 5)).toBe(0);
    expect(limit.take('ada', B, HOUR_MS)).toBe(0);
  });
});

function lineOf(from: string, to: string, sent_at: number, hops: number): MessageLine {
  return {
    ...{ at: sent_at, id: `m-${sent_at}`, sent_at, from, to, fiber: null, uid: null, status: 'queued' },
    ...{ transport: 'held', bytes: 1, wake: true, hops },
  };
}

describe('two agents that answer each other for ever', () => {
  it('are stopped within the limit of a name where they sign with names, whatever the names and the times', () => {
    const name = fc.constantFrom('ada', 'bea', 'svc', 'work/loader', A, B);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ from: name, gap: fc.integer({ min: 0, max: HOUR_MS / 10 }) }), {
          maxLength: 80,
        }),
        (most, sends) => {
          const limit = new PairLimit(most);
          const taken: { from: string; at: number }[] = [];
          let now = 0;
          for (const { from, gap } of sends) {
            now += gap;
            const in_hour = taken.filter((one) => one.from === from && one.at > now - HOUR_MS).length;
            const is_over = in_hour >= (from.startsWith('svc://') ? most : 5 * most);
            const refused = (() => {
              try {
                limit.take(from, C, now);
                taken.push({ from, at: now });
                return false;
              } catch {
                return true;
              }
            })();
            expect(refused).toBe(is_over);
          }
        },
      ),
    );
  });

  it('are stopped within the limit, however fast they are and however often the daemon restarts', () => {
    const step = fc.record({ gap: fc.integer({ min: 0, max: HOUR_MS - 1 }), restarts: fc.boolean() });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(step, { minLength: 21, maxLength: 21 }),
        fc.integer({ min: 1, max: 2 }),
        (most, steps, stages) => {
          let limit = new PairLimit(most);
          const lines: MessageLine[] = [];
          let now = 0;
          let taken = 0;
          for (const [nth, { gap, restarts }] of steps.entries()) {
            now += gap;
            if (restarts)
              limit = new PairLimit(
                most,
                lines.filter(({ at }) => at >= now - HOUR_MS),
              );
            const [from, to] = nth % 2 === 0 ? [A, B] : [B, A];
            try {
              const hops = limit.take(from, to, now);
              taken += 1;
              for (let stage = 0; stage < stages; stage += 1)
                lines.push({ ...lineOf(from, to, now, hops), id: `m-${nth}` });
            } catch {
              break;
            }
          }
          expect(taken).toBe(most);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are stopped over restarts of the service, by what its ledger kept', async () => {
    const session = new FakeSession();
    try {
      const sent: string[] = [];
      const talk = async () => {
        for (let nth = 0; ; nth += 1) {
          const service = session.service({ pair: 6 });
          service.start();
          const [from, address] = nth % 2 === 0 ? [A, B] : [B, A];
          try {
            await service.send({ ...message(`m-${nth}`), from, address });
          } finally {
            service.stop();
          }
          sent.push(`m-${nth}`);
        }
      };
      await expect(talk()).rejects.toMatchObject({ code: 'preflight_failed' });
      expect(sent).toHaveLength(6);
      expect(session.store().read('m-5')).toMatchObject({ hops: 5 });
      expect(session.store().read('m-6')).toBeNull();
    } finally {
      session.remove();
    }
  });
});
