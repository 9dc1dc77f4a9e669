import { describe, expect, it } from 'vitest';
import { planClaim } from '../../src/lifecycle/claim-plan.ts';
import { fiberDocument } from '../fixtures/fibers/fiber-document.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const MARKERS = {
  session_uuid: 's',
  harness: 'claude',
  run_id: 'r',
  daemon: 'machine-a/1',
  agent: 'claude-opus',
  host: 'host-a',
  project_dir: '/srv/dev',
  meeting: undefined,
};

describe('the marks of a claim', () => {
  it('[WPL-5] make a plain document a oneshot of this host, and arm nothing', () => {
    const { set, unset } = planClaim(fiberDocument({}), MARKERS, NOW);
    expect(set).toEqual({
      'svc.kind': 'oneshot',
      'svc.host': 'host-a',
      'svc.agent': 'claude-opus',
      'svc.project_dir': '/srv/dev',
      'svc.runtime.dispatched_at': '2026-01-02T03:04:05.000Z',
      'svc.runtime.session_uuid': 's',
      'svc.runtime.harness': 'claude',
      'svc.runtime.run_id': 'r',
      'svc.runtime.daemon': 'machine-a/1',
    });
    expect(unset).toEqual(['svc.runtime.thread_id']);
  });

  it('[WPL-5] keep the configuration of the document, and remove the id of an earlier session', () => {
    const svc = { kind: 'standing', host: 'host-a', agent: 'pi', project_dir: '/p' } as const;
    const document = fiberDocument({ svc, project_dir: '/p' });
    const { set, unset } = planClaim(document, { ...MARKERS, session_uuid: null }, NOW);
    expect(Object.keys(set).filter((path) => !path.startsWith('svc.runtime.'))).toEqual([]);
    expect(unset).toContain('svc.runtime.session_uuid');
  });

  it('[FIB-11] name the recording only if the claim names one', () => {
    expect(planClaim(fiberDocument({}), MARKERS, NOW).set).not.toHaveProperty('svc.runtime.meeting');
    const { set } = planClaim(fiberDocument({}), { ...MARKERS, meeting: 'm' }, NOW);
    expect(set['svc.runtime.meeting']).toBe('m');
  });
});
