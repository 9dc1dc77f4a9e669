import { describe, expect, it } from 'vitest';
import type { FiberDocument, SvcBlock } from '../../src/contract/fiber.ts';
import { standingDue } from '../../src/dispatch/standing.ts';

function role(svc: Partial<SvcBlock>, created_at = '2026-01-05T00:00:00Z'): FiberDocument {
  return {
    id: 'roles/digest',
    uid: '01K00000000000000000000000',
    leaf: 'digest',
    store: '/s',
    path: '/s/.fibers/roles/digest/digest.md',
    name: 'Digest',
    status: 'active',
    tags: [],
    digest: 'd',
    created_at,
    svc: { kind: 'standing', host: 'host-a', ...svc },
  };
}
const at = (text: string) => Date.parse(text);

describe('standing roles', () => {
  it('[STD-1] [FIB-7] is due once an occurrence has passed since its creation', () => {
    const digest = role({ schedule: '0 9 * * *', tz: 'UTC' });
    expect(standingDue(digest, at('2026-01-05T08:59:59Z'), 'UTC')).toEqual({
      kind: 'later',
      next: at('2026-01-05T09:00:00Z'),
    });
    expect(standingDue(digest, at('2026-01-05T09:00:00Z'), 'UTC')).toEqual({
      kind: 'due',
      occurrence: at('2026-01-05T09:00:00Z'),
    });
  });

  it.each(['dispatched_at', 'handed_off_at'] as const)(
    '[STD-1] [FIB-9] [FIB-10] counts from %s when that is the later moment',
    (marker) => {
      const digest = role({
        schedule: '0 9 * * *',
        tz: 'UTC',
        runtime: { [marker]: '2026-01-05T09:00:01Z' },
      });
      expect(standingDue(digest, at('2026-01-05T23:00:00Z'), 'UTC')).toEqual({
        kind: 'later',
        next: at('2026-01-06T09:00:00Z'),
      });
    },
  );

  it('[STD-1] makes one run of any number of missed occurrences', () => {
    const digest = role({ schedule: '*/5 * * * *', tz: 'UTC' });
    const due = standingDue(digest, at('2026-01-09T12:00:00Z'), 'UTC');
    expect(due.kind).toBe('due');
    const served = role({
      schedule: '*/5 * * * *',
      tz: 'UTC',
      runtime: { dispatched_at: '2026-01-09T12:00:00Z' },
    });
    expect(standingDue(served, at('2026-01-09T12:00:01Z'), 'UTC').kind).toBe('later');
  });

  it('[STD-1] reads the schedule in the role’s own zone', () => {
    const digest = role({ schedule: '0 9 * * *', tz: 'America/New_York' });
    expect(standingDue(digest, at('2026-01-05T09:30:00Z'), 'UTC')).toEqual({
      kind: 'later',
      next: at('2026-01-05T14:00:00Z'),
    });
  });

  it.each([[{}], [{ schedule: 'often' }], [{ schedule: '0 9 * * *', tz: 'Mars/Base' }]])(
    'says why a role with %j never runs',
    (svc) => {
      const due = standingDue(role(svc), at('2026-01-05T09:30:00Z'), 'UTC');
      expect(due.kind).toBe('never');
      expect(due.kind === 'never' && due.error).toContain('svc.schedule');
    },
  );
});
