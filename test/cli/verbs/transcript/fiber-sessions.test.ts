import { describe, expect, it } from 'vitest';
import { chooseConversation, linesOfHost } from '../../../../src/cli/verbs/transcript/fiber-sessions.ts';
import type { SessionLine } from '../../../../src/contract/ledger.ts';
import { fiberAnswer, runningRow } from '../../answers.ts';

const line = (session: string | null): SessionLine => ({
  ...{ fiber: 'work/loader', uid: 'u', session, thread_id: null, harness: 'claude', host: 'host-a' },
  ...{ mux: null, at: 1, kind: 'dispatch' as const },
});
const LINES = [line('aaaa-1'), line('aabb-2'), line(null), line('cccc-3'), line('cccc-3')];
const runtime = runningRow();

describe('the conversation that is shown', () => {
  it.each([
    ['that of the running worker', { runtime: { ...runtime, session_uuid: 'run' } }, undefined, 'run'],
    [
      'the transcript of a running app conversation',
      { runtime: { ...runtime, session_uuid: 'thread', transcript_session_uuid: 'own' } },
      undefined,
      'own',
    ],
    ['the last one', {}, undefined, 'cccc-3'],
    ['the last one, while a worker has not spoken', { runtime }, undefined, 'cccc-3'],
    ['the one that begins so', {}, 'aab', 'aabb-2'],
    ['one that the ledger does not know', {}, 'dddd-4', 'dddd-4'],
  ])('is %s', (_, over, wanted, session) => {
    expect(chooseConversation(fiberAnswer(over), LINES, wanted)).toBe(session);
  });

  it('is that of the document where the ledger knows none', () => {
    const fiber = fiberAnswer({ svc: { runtime: { session_uuid: 'marked' } } });
    expect(chooseConversation(fiber, [], undefined)).toBe('marked');
  });

  it('is not guessed', () => {
    expect(() => chooseConversation(fiberAnswer(), LINES, 'a')).toThrow(
      '2 sessions of work/loader begin with a;',
    );
    expect(() => chooseConversation(fiberAnswer(), [], undefined)).toThrow('svc why work/loader');
    // The sessions of a ULID that another document has too may be the other's.
    const copied = fiberAnswer({ twins: ['/store/other.md'] });
    expect(() => chooseConversation(copied, LINES, undefined)).toThrow(
      /other\.md have one ULID.*svc fiber new-id/,
    );
    expect(() => chooseConversation(fiberAnswer({ runtime }), [], undefined)).toThrow(
      'svc attach work/loader',
    );
  });

  it('is of the host that has the fiber', () => {
    const origin = (sessions: SessionLine[]) => ({
      ...{ state: 'fresh' as const, last_ok_at: null, error: null, build: null },
      read: { host: 'x', sessions },
    });
    const composite = {
      host: 'host-a',
      origins: { 'host-a': origin([line('here')]), 'host-b': origin([line('there')]) },
    };
    expect(linesOfHost(composite, null)).toMatchObject([{ session: 'here' }]);
    expect(linesOfHost(composite, 'host-b')).toMatchObject([{ session: 'there' }]);
    expect(linesOfHost(composite, 'host-c')).toEqual([]);
  });
});
