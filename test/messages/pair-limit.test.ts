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

  it('of a person are not counted after a restart', () => {
    const limit = new PairLimit(1, [lineOf('ada', B, 0, 0)]);
    expect(limit.take('ada', B, 1)).toBe(0);
  });
});

function lineOf(from: string, to: string, sent_at: number, hops: number): MessageLine {
  return {
    ...{ at: sent_at, id: `m-${sent_at}`, sent_at, from, to, fiber: null, uid: null, status: 'queued' },
    ...{ transport: 'held', bytes: 1, wake: true, hops },
  };
}

describe('two agents that answer each other for ever', () => {
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
