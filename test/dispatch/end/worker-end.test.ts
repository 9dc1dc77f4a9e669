import { describe, expect, it } from 'vitest';
import type { FiberDocument, SvcBlock } from '../../../src/contract/fiber.ts';
import { type EndFacts, planWorkerEnd } from '../../../src/dispatch/end/worker-end.ts';
import { nextRunState, type RunState } from '../../../src/dispatch/run/run-state.ts';

const started_at = Date.parse('2026-01-05T09:00:00Z');
const NONE = { kind: 'none' } as const;
const dispatched_at = '2026-01-05T09:00:00.000Z';

function document(svc: Partial<SvcBlock>, status: FiberDocument['status'] = 'active'): FiberDocument {
  return {
    id: 'a',
    uid: '01K00000000000000000000000',
    leaf: 'a',
    store: '/s',
    path: '/s/.fibers/a/a.md',
    name: 'A',
    status,
    tags: [],
    digest: 'd',
    svc: { host: 'host-a', ...svc },
  };
}

const RUNNING: RunState = { kind: 'running', answers: true };

function killedAt(at: number): RunState {
  return nextRunState(RUNNING, { kind: 'ending', end: { reason: 'kill', at } });
}

function facts(change: Partial<EndFacts>): EndFacts {
  return {
    run: { started_at, run_id: 'run-1', fiber_id: 'a', state: RUNNING, agent: 'a', project_dir: '/p' },
    document: document({ runtime: { dispatched_at } }),
    recorded: {
      exit: { kind: 'found', value: { code: 1, signal: null, at: started_at + 5_000 } },
      end: NONE,
    },
    server_absent: false,
    rebooted: false,
    resumed_in_vain: false,
    screen: 'Error: it broke',
    memory: null,
    others: 0,
    now: started_at + 60_000,
    ...change,
  };
}

describe('the end of a worker', () => {
  it('is a death that counts the time it lived, as its run script recorded it', () => {
    expect(planWorkerEnd(facts({}))).toEqual({
      reason: 'exited',
      death: expect.objectContaining({ reason: 'exited', code: 1, screen: 'Error: it broke' }),
      told: { detail: 'exit code 1', mend: expect.any(String), screen: 'Error: it broke' },
      breaker: { kind: 'died', lived_ms: 5_000 },
      hold: null,
      refusal: null,
      conclude: false,
      owes_fresh_start: false,
    });
  });

  it('is a death of its own when it was killed for its memory, told by the sentence of it', () => {
    const exit = { kind: 'found', value: { code: null, signal: 'SIGKILL', at: started_at + 5_000 } } as const;
    const memory = { worker: { kills: 1, peak: 14e9, limit: 14e9 }, total: null };
    const killed = facts({ recorded: { exit, end: NONE }, memory, others: 19 });
    const detail = 'killed at 14.0 GB by its memory limit; 19 others unharmed';
    expect(planWorkerEnd(killed)).toEqual({
      reason: 'memory_limit',
      death: expect.objectContaining({ signal: 'SIGKILL', message: detail }),
      told: { detail, mend: expect.any(String), screen: 'Error: it broke' },
      breaker: { kind: 'died', lived_ms: 5_000 },
      hold: null,
      refusal: { reason: 'memory_limit', message: detail },
      conclude: false,
      owes_fresh_start: false,
    });
    const asked = { ...killed, run: { ...killed.run, state: killedAt(started_at) } };
    expect(planWorkerEnd(asked)).toMatchObject({ reason: 'kill', refusal: null });
  });

  it.each([
    ['a oneshot that goes on', { kind: 'oneshot' }, 'active', 'clean_exit', 'stopped', 'Error: it broke'],
    ['a oneshot that was closed', { kind: 'oneshot' }, 'closed', null, 'stopped', undefined],
    ['a role', { kind: 'standing' }, 'active', null, 'concluded', undefined],
  ] as const)(
    'is no death with exit code 0, and asks for no fix: %s',
    (_, svc, status, hold, breaker, screen) => {
      const exit = { kind: 'found', value: { code: 0, signal: null, at: started_at + 5_000 } } as const;
      const left = facts({
        document: document({ ...svc, runtime: { dispatched_at } }, status),
        recorded: { exit, end: NONE },
      });
      const plan = planWorkerEnd(left);
      expect([plan.reason, plan.death, plan.hold, plan.breaker.kind]).toEqual([
        'exited',
        null,
        hold,
        breaker,
      ]);
      expect(plan.told).toEqual({ detail: 'exit code 0, without a handoff', ...(screen && { screen }) });
      const in_vain = planWorkerEnd({ ...left, resumed_in_vain: true });
      expect(in_vain.death).toMatchObject({
        code: 0,
        mend: expect.stringContaining('the next start is fresh'),
      });
    },
  );

  it('[LIF-7] is a handoff when the document says so, whatever the exit code', () => {
    const handed = document({ runtime: { dispatched_at, handed_off_at: '2026-01-05T09:00:04Z' } });
    const plan = planWorkerEnd(facts({ document: handed }));
    expect([plan.reason, plan.breaker]).toEqual(['handoff', { kind: 'handed_off', lived_ms: 5_000 }]);
    const role = document({ kind: 'standing', runtime: handed.svc?.runtime });
    expect(planWorkerEnd(facts({ document: role })).breaker).toEqual({ kind: 'concluded' });
  });

  it('is not excused by the handoff of an earlier run', () => {
    const earlier = document({ runtime: { handed_off_at: '2026-01-05T08:00:00Z' } });
    expect(planWorkerEnd(facts({ document: earlier })).reason).toBe('exited');
  });

  it('holds a fiber whose worker a person killed, and does not blame it', () => {
    const plan = planWorkerEnd(
      facts({
        recorded: { exit: NONE, end: { kind: 'found', value: { reason: 'kill', at: started_at + 1 } } },
      }),
    );
    expect([plan.hold, plan.breaker]).toEqual(['killed', { kind: 'stopped' }]);
  });

  it('holds what went down with the multiplexer server, and does not blame it', () => {
    const plan = planWorkerEnd(facts({ recorded: { exit: NONE, end: NONE }, server_absent: true }));
    expect([plan.reason, plan.hold, plan.breaker]).toEqual([
      'server_lost',
      'server_lost',
      { kind: 'stopped' },
    ]);
  });

  it('is a plain death when the last worker of a server ended by itself and the server with it', () => {
    expect(planWorkerEnd(facts({ server_absent: true })).reason).toBe('exited');
  });

  it('is a death when the session vanished without a word', () => {
    const plan = planWorkerEnd(facts({ recorded: { exit: NONE, end: NONE } }));
    expect([plan.reason, plan.breaker]).toEqual(['session_gone', { kind: 'died', lived_ms: 60_000 }]);
  });

  it.each([
    ['closes a standing role that is still armed', 'standing', 'active', true],
    ['leaves a standing role that its worker closed', 'standing', 'closed', false],
    ['leaves a oneshot armed', 'oneshot', 'active', false],
    ['parks a pinned role', 'pinned', 'active', true],
  ] as const)('[LIF-5] [STD-1] %s', (_, kind, status, conclude) => {
    const ended = document({ kind, runtime: { dispatched_at } }, status);
    expect(planWorkerEnd(facts({ document: ended })).conclude).toBe(conclude);
  });

  it('[LIF-6] does not close a role that was accepted and dispatched again in the meantime', () => {
    const rearmed = document({ kind: 'standing', runtime: { dispatched_at, run_id: 'run-2' } });
    expect(planWorkerEnd(facts({ document: rearmed })).conclude).toBe(false);
  });

  it('[LIF-6] does not close a role that a person armed again after its worker had ended', () => {
    const accepted = document({
      kind: 'standing',
      runtime: { dispatched_at, run_id: 'run-1', handed_off_at: '2026-01-05T09:01:00Z' },
    });
    expect(planWorkerEnd(facts({ document: accepted })).conclude).toBe(false);
  });

  it('[LIF-5] closes a role whose markers were taken out of its document by hand', () => {
    expect(planWorkerEnd(facts({ document: document({ kind: 'standing' }) })).conclude).toBe(true);
  });

  it('[P8] blames no fiber for a restart of the machine', () => {
    const plan = planWorkerEnd(facts({ recorded: { exit: NONE, end: NONE }, rebooted: true }));
    expect([plan.reason, plan.breaker, plan.hold]).toEqual(['reboot', { kind: 'stopped' }, null]);
  });

  it('[P2] takes a hang-up for the loss of the server, which hangs up on every worker', () => {
    const exit = { kind: 'found', value: { code: null, signal: 'SIGHUP', at: started_at + 5_000 } } as const;
    const plan = planWorkerEnd(facts({ recorded: { exit, end: NONE }, server_absent: true }));
    expect([plan.reason, plan.hold]).toEqual(['server_lost', 'server_lost']);
  });

  it('is a refusal, and no death, when the agent’s program was not there to be started', () => {
    const exit = {
      kind: 'found',
      value: { code: null, signal: null, reason: 'agent_missing', at: started_at },
    } as const;
    const plan = planWorkerEnd(facts({ recorded: { exit, end: NONE } }));
    expect([plan.refusal?.reason, plan.breaker]).toEqual(['agent_unavailable', { kind: 'stopped' }]);
  });

  it('counts a kill although a handoff had been recorded', () => {
    const end = { kind: 'found', value: { reason: 'handoff', at: started_at } } as const;
    const run = { ...facts({}).run, state: killedAt(started_at + 1) };
    expect(planWorkerEnd(facts({ run, recorded: { exit: NONE, end } })).hold).toBe('killed');
  });

  it('survives a document that is gone', () => {
    expect(planWorkerEnd(facts({ document: undefined })).reason).toBe('exited');
  });
});
