import { describe, expect, it } from 'vitest';
import type { FiberDocument } from '../../src/contract/fiber.ts';
import type { KnownAgents } from '../../src/lifecycle/agent-verbs.ts';
import { planReshape } from '../../src/lifecycle/shape-verb.ts';

const known = {
  agents: ['claude', 'codex', 'pi'].map((id) => ({ id, harness: id, effort_levels: [] })),
  names: { claude: 'claude', codex: 'codex', pi: 'pi' },
  default_id: 'claude',
  problem: null,
} as unknown as KnownAgents;
const facts = { running: false, this_host: 'host-a', this_zone: 'UTC', new_uid: 'u' } as never;
const document = (on_limit?: string[]) =>
  ({
    id: 'a',
    status: 'active',
    svc: { kind: 'oneshot', agent: 'claude', on_limit },
  }) as unknown as FiberDocument;
const reshape = (before: string[] | undefined, on_limit: string[]) =>
  planReshape(document(before), { on_limit }, facts, known, 0);

describe('the agents that take over at a limit', () => {
  it('are written in their order, and removed by an empty list', () => {
    expect(reshape(undefined, ['codex', 'pi'])).toEqual({
      set: { 'svc.on_limit': ['codex', 'pi'] },
      unset: [],
    });
    expect(reshape(['codex'], [])).toEqual({ set: {}, unset: ['svc.on_limit'] });
  });

  it('are not written again where they are the same', () => {
    expect(reshape(['codex', 'pi'], ['codex', 'pi'])).toBeNull();
    expect(reshape(undefined, [])).toBeNull();
  });

  it('leave what a worker does after a limit, which is written and removed by itself', () => {
    const edit = (svc: object, after_limit: 'go_on' | 'wait') =>
      planReshape(
        { ...document(), svc: { kind: 'oneshot', ...svc } } as FiberDocument,
        { after_limit },
        facts,
        known,
        0,
      );
    expect(edit({}, 'go_on')).toEqual({ set: { 'svc.after_limit': 'go_on' }, unset: [] });
    expect(edit({ after_limit: 'go_on' }, 'go_on')).toBeNull();
    expect(edit({ after_limit: 'go_on' }, 'wait')).toEqual({ set: {}, unset: ['svc.after_limit'] });
    expect(edit({}, 'wait')).toBeNull();
  });

  it('are agents that the host has', () => {
    expect(() => reshape(undefined, ['codex', 'nobody'])).toThrow(/nobody/);
  });
});
