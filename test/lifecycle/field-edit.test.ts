import { describe, expect, it } from 'vitest';
import type { FiberDocument, FiberKind } from '../../src/contract/fiber.ts';
import { planFieldEdit } from '../../src/lifecycle/field-edit.ts';

const NOW = Date.parse('2026-03-01T10:00:00.000Z');
const AT = new Date(NOW).toISOString();
const DISPATCHED = '2026-03-01T09:00:00.000Z';
const ARM = { set: { status: 'active' } };

function documentOf(kind: FiberKind, top: Partial<FiberDocument> = {}): FiberDocument {
  return {
    id: 'a',
    uid: '01K00000000000000000000000',
    leaf: 'a',
    store: '/s',
    path: '/s/.fibers/a/a.md',
    name: 'A',
    status: 'closed',
    tags: [],
    digest: 'd',
    svc: { kind, host: 'host-a', runtime: { dispatched_at: DISPATCHED } },
    ...top,
  };
}
const plan = (document: FiberDocument, edit: Parameters<typeof planFieldEdit>[1], running = false) =>
  planFieldEdit(document, edit, { running }, NOW);

describe('an edit of fields', () => {
  it.each(['oneshot', 'standing'] as const)(
    '[RES-8] [LIF-6] [FIB-4] that arms a closed %s leaves the mark of a verb',
    (kind) => {
      expect(plan(documentOf(kind), ARM)).toEqual({
        set: { status: 'active', 'svc.runtime.handed_off_at': AT },
      });
    },
  );

  it('[RES-8] that arms a oneshot whose worker runs gives it back to that worker', () => {
    expect(plan(documentOf('oneshot'), ARM, true)).toEqual(ARM);
  });

  it('[FIB-4] changes nothing else in any other edit', () => {
    const { svc: _svc, ...plain } = documentOf('oneshot');
    const others: [FiberDocument, Parameters<typeof planFieldEdit>[1]][] = [
      [documentOf('oneshot', { status: 'open' }), ARM],
      [documentOf('standing', { status: 'active' }), ARM],
      [plain, ARM],
      [documentOf('oneshot'), { set: { outcome: 'x' }, unset: ['due'], body: 'b' }],
      [documentOf('oneshot'), { set: { status: 'open' } }],
      [documentOf('oneshot', { svc: { kind: 'oneshot', host: 'host-a' } }), ARM],
    ];
    for (const [document, edit] of others) expect(plan(document, edit)).toEqual(edit);
  });
});
