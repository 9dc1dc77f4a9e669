import { describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../src/contract/fiber.ts';
import {
  planHandoff,
  planInstall,
  planPin,
  planRepeat,
  planUninstall,
} from '../../src/lifecycle/service-verbs.ts';
import { fiberDocument, NOW, STAMP, ULID } from '../fixtures/fibers/fiber-document.ts';

const FIELDS = { thisHost: 'host-a', newUid: ULID, known: null };
const installed: Partial<FiberDocument> = {
  uid: ULID,
  project_dir: '/srv/dev',
  svc: { kind: 'oneshot', host: 'host-b', project_dir: '/srv/dev' },
};

describe('planInstall', () => {
  it.each([
    [
      'a plain document',
      {},
      { ...FIELDS, project_dir: '/srv/x', agent: 'codex', effort: 'high', surface: 'app' as const },
      {
        'svc.kind': 'oneshot',
        'svc.host': 'host-a',
        'svc.project_dir': '/srv/x',
        'svc.agent': 'codex',
        'svc.effort': 'high',
        'svc.surface': 'app',
        id: ULID,
        status: 'active',
      },
    ],
    [
      'an installed one, whose host and directory stay',
      installed,
      FIELDS,
      { 'svc.kind': 'oneshot', 'svc.host': 'host-b', 'svc.project_dir': '/srv/dev', status: 'active' },
    ],
    [
      'one that is moved to another host',
      installed,
      { ...FIELDS, host: 'host-c' },
      { 'svc.kind': 'oneshot', 'svc.host': 'host-c', 'svc.project_dir': '/srv/dev', status: 'active' },
    ],
  ])('[FIB-5] [FIB-6] [FIB-12] arms %s', (_what, overrides, fields, set) => {
    expect(planInstall(fiberDocument(overrides), fields)).toEqual({
      set,
      unset: ['svc.schedule', 'svc.tz', 'svc.auto_accept', 'tempered'],
    });
  });

  it.each([
    [undefined, 'project_dir_missing'],
    ['relative/dir', 'invalid_request'],
  ])('[FIB-12] refuses the directory %j', (project_dir, code) => {
    expect(() => planInstall(fiberDocument(), { ...FIELDS, project_dir })).toThrow(
      expect.objectContaining({ code }),
    );
  });
});

describe('planRepeat', () => {
  const fields = { ...FIELDS, project_dir: '/srv/x', schedule: '0 9 * * 1-5', thisZone: 'Asia/Tokyo' };

  it('[STD-1] [FIB-7] arms a standing role with its zone, counting from now', () => {
    expect(planRepeat(fiberDocument({ uid: ULID }), { ...fields, tz: 'Europe/Paris' }, NOW)).toEqual({
      set: {
        'svc.kind': 'standing',
        'svc.host': 'host-a',
        'svc.project_dir': '/srv/x',
        'svc.schedule': '0 9 * * 1-5',
        'svc.tz': 'Europe/Paris',
        'svc.runtime.handed_off_at': STAMP,
        status: 'active',
      },
      unset: ['tempered'],
    });
  });

  it('[STD-1] keeps the start of the count when the schedule is unchanged', () => {
    const role = fiberDocument({
      uid: ULID,
      svc: { kind: 'standing', host: 'h', schedule: '0 9 * * 1-5', tz: 'UTC' },
    });
    const { set } = planRepeat(role, fields, NOW);
    expect(set).not.toHaveProperty(['svc.runtime.handed_off_at']);
    expect(set['svc.tz']).toBe('UTC');
  });
});

describe('planPin, planUninstall, planHandoff', () => {
  it('[FIB-6] makes a pinned role parked, without a schedule', () => {
    const role = fiberDocument({
      uid: ULID,
      status: 'active',
      svc: { kind: 'standing', host: 'host-b', schedule: '@daily' },
    });
    expect(planPin(role, { ...FIELDS, agent: 'pi' })).toEqual({
      set: { 'svc.kind': 'pinned', 'svc.host': 'host-b', 'svc.agent': 'pi', status: 'open' },
      unset: ['tempered', 'svc.schedule', 'svc.tz', 'svc.auto_accept'],
    });
  });

  it('removes the block, and changes nothing without one', () => {
    expect(planUninstall(fiberDocument(installed))).toEqual({
      set: { status: 'open' },
      unset: ['svc', 'tempered'],
    });
    expect(planUninstall(fiberDocument())).toBeNull();
  });

  it('[LIF-7] [FIB-10] stamps the handoff', () => {
    expect(planHandoff(fiberDocument(installed), NOW)).toEqual({
      set: { 'svc.runtime.handed_off_at': STAMP },
      unset: [],
    });
    expect(() => planHandoff(fiberDocument(), NOW)).toThrow('svc install');
  });
});
