import { describe, expect, it } from 'vitest';
import { FIBER_KINDS, FIBER_STATUSES } from '../../src/contract/fiber.ts';
import {
  planArm,
  planConclude,
  planDispatch,
  planLearnedSession,
} from '../../src/lifecycle/run-transitions.ts';
import { fiberDocument, NOW, STAMP } from '../fixtures/fibers/fiber-document.ts';

const svc = { kind: 'oneshot', host: 'host-a', project_dir: '/srv/dev' } as const;

describe('planArm', () => {
  const verdicts = [undefined, true, false];
  const rows = FIBER_STATUSES.flatMap((status) => verdicts.map((tempered) => ({ status, tempered })));

  it.each(rows)('[LIF-3] [LIF-4] arms a document that is %j in one write', ({ status, tempered }) => {
    const document = fiberDocument({ svc, status, ...(tempered === undefined ? {} : { tempered }) });
    const expected =
      status === 'active' && tempered === undefined
        ? null
        : { set: { status: 'active' }, unset: ['tempered', 'closed-at'] };
    expect(planArm(document)).toEqual(expected);
  });

  it('[WPL-1] saves a confirmed directory in the same write, even if it was armed', () => {
    const armed = fiberDocument({ svc, status: 'active' });
    expect(planArm(armed, { project_dir: '/srv/other' })?.set).toEqual({
      'svc.project_dir': '/srv/other',
      status: 'active',
    });
    expect(planArm(armed, { project_dir: '/srv/dev' })).toBeNull();
  });

  it('refuses a fiber that is not a service', () => {
    expect(() => planArm(fiberDocument())).toThrow(expect.objectContaining({ code: 'arm_refused' }));
  });
});

describe('planDispatch and planLearnedSession', () => {
  it('[LIF-1] [FIB-9] marks the launch and removes an older session id until the new one is known', () => {
    const markers = { session_uuid: null, harness: 'codex', run_id: 'r2', daemon: 'machine-a/1' };
    expect(planDispatch(fiberDocument({ svc }), markers, NOW)).toEqual({
      set: {
        'svc.runtime.dispatched_at': STAMP,
        'svc.runtime.harness': 'codex',
        'svc.runtime.run_id': 'r2',
        'svc.runtime.daemon': 'machine-a/1',
      },
      unset: ['svc.runtime.session_uuid', 'svc.runtime.thread_id'],
    });
    expect(
      planDispatch(fiberDocument({ svc }), { ...markers, session_uuid: 's', thread_id: 't' }, NOW),
    ).toMatchObject({
      set: { 'svc.runtime.session_uuid': 's', 'svc.runtime.thread_id': 't' },
      unset: [],
    });
  });

  it.each([
    ['the same run', { run_id: 'r1' }, { set: { 'svc.runtime.session_uuid': 's' }, unset: [] }],
    ['a later run', { run_id: 'r2' }, null],
    ['a session that is known already', { run_id: 'r1', session_uuid: 's' }, null],
    ['no run', undefined, null],
  ])('records a learned session for %s', (_what, runtime, expected) => {
    const document = fiberDocument({ svc: { ...svc, ...(runtime === undefined ? {} : { runtime }) } });
    expect(planLearnedSession(document, { run_id: 'r1', session_uuid: 's' })).toEqual(expected);
  });
});

describe('planConclude', () => {
  const rows = FIBER_KINDS.flatMap((kind) => FIBER_STATUSES.map((status) => ({ kind, status })));

  it.each(rows)(
    '[LIF-5] when the worker of %j exits, an armed standing role closes and an armed pinned one is parked',
    ({ kind, status }) => {
      const concluded = {
        oneshot: null,
        standing: { set: { status: 'closed', 'closed-at': STAMP }, unset: ['tempered'] },
        pinned: { set: { status: 'open' }, unset: ['tempered'] },
      };
      const expected = status === 'active' ? concluded[kind] : null;
      for (const faultless of [true, false])
        expect(planConclude(fiberDocument({ svc: { kind }, status }), { faultless }, NOW)).toEqual(expected);
    },
  );
});
