import { describe, expect, it } from 'vitest';
import { agentPolicy } from '../../../src/harness/app-server/agent-policy.ts';
import { conversationOf, desktopLink, phaseOf } from '../../../src/harness/app-server/conversation.ts';
import { readTurn } from '../../../src/harness/app-server/turn.ts';

const THREAD = '01a1fc99-8421-7e73-88ed-bb1c297c6f02';
const TRANSCRIPT = '01a1fc99-8e2e-7372-925b-8d2d92c1fae1';

describe('an app conversation', () => {
  it.each([
    [{ type: 'active', activeFlags: [] }, 'working'],
    [{ type: 'active', activeFlags: ['waitingOnApproval'] }, 'attention'],
    [{ type: 'active', activeFlags: ['waitingOnUserInput'] }, 'attention'],
    [{ type: 'systemError' }, 'attention'],
    [{ type: 'idle' }, 'waiting'],
    [{ type: 'notLoaded' }, 'waiting'],
  ] as const)('[APP-1] that the server tells as %j is %s', (status, phase) => {
    expect(
      phaseOf({
        ...status,
        ...('activeFlags' in status ? { activeFlags: [...status.activeFlags] } : {}),
      } as never),
    ).toBe(phase);
  });

  it('[WRK-4] [WRK-5] [WRK-6] has the identity of its transcript, and a project', () => {
    const thread = { id: THREAD, status: { type: 'idle' as const }, cwd: '/srv/dev', updatedAt: 1 };
    const path = `/h/sessions/2026/11/21/rollout-2026-11-21T05-34-44-${TRANSCRIPT}.jsonl`;
    expect(conversationOf({ ...thread, path, projectId: 'p1' })).toMatchObject({
      thread_id: THREAD,
      transcript_session_uuid: TRANSCRIPT,
      project_id: 'p1',
    });
    expect(conversationOf({ ...thread, sessionId: TRANSCRIPT })).toMatchObject({
      transcript_session_uuid: TRANSCRIPT,
      project_id: '/srv/dev',
    });
  });

  it('[WRK-7] has a desktop link only if scheme and id make a valid one', () => {
    expect(desktopLink('codex', THREAD)).toBe(`codex://threads/${THREAD}`);
    expect(desktopLink('java script', THREAD)).toBeNull();
    expect(desktopLink('codex', '../x')).toBeNull();
  });

  it('runs with the approval policy and the sandbox of its agent', () => {
    expect(agentPolicy({ args: ['-a', 'never', '--sandbox=read-only'] })).toEqual({
      approval: 'never',
      sandbox: 'read-only',
    });
    expect(agentPolicy({ args: [] })).toEqual({ approval: null, sandbox: null });
  });

  it.each([
    ['completed', null, { failed: false, error: null, said: 'second' }],
    ['failed', { message: ' no capacity ' }, { failed: true, error: 'no capacity', said: 'second' }],
    ['failed', { message: '' }, { failed: true, error: null, said: 'second' }],
    ['interrupted', null, { failed: false, error: null, said: 'second' }],
  ])('reads of a %s turn what the agent said last and why it failed', (status, error, turn) => {
    const items = ['first', 'second', ' '].map((text) => ({ type: 'agentMessage', text }));
    expect(readTurn({ id: 't', status, error, items: [...items, { type: 'plan', text: 'x' }] })).toEqual(
      turn,
    );
    expect(readTurn({ id: 't', status, error, items: [] }).said).toBeNull();
  });
});
