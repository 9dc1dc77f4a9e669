import { describe, expect, it } from 'vitest';
import { readTurnEnd } from '../../../src/harness/transcripts/turn-end.ts';

const AT = Date.UTC(2026, 2, 7, 12);
const timestamp = new Date(AT).toISOString();
const codex = (payload: object, type = 'event_msg') => ({ timestamp, type, payload });
const claude = (type: string, content: unknown, more: object = {}) => ({
  timestamp,
  type,
  message: { content },
  ...more,
});

describe('the end of a turn that no hook tells of', () => {
  it('[P16] of Codex is one that failed or was cut short, and none while the next goes on', () => {
    const error = { message: '400 not like this', codex_error_info: 'other' };
    const failed = codex({ type: 'task_complete', last_agent_message: null, error });
    expect(readTurnEnd('codex', [codex({ type: 'token_count' }), failed])).toEqual({
      at: AT,
      failed: '400 not like this',
    });
    const aborted = codex({ type: 'turn_aborted', reason: 'interrupted' });
    expect(readTurnEnd('codex', [aborted, failed])).toEqual({ at: AT, failed: null });
    const well = codex({ type: 'task_complete', last_agent_message: 'done' });
    expect(readTurnEnd('codex', [well])).toEqual({ at: AT, failed: null });
    expect(readTurnEnd('codex', [codex({ type: 'task_started' }), failed])).toBeNull();
    expect(readTurnEnd('codex', [codex({ type: 'task_complete' }, 'response_item')])).toBeNull();
    expect(readTurnEnd('codex', [{ ...failed, timestamp: 'soon' }])).toBeNull();
  });

  it('[P16] of Claude Code is one that a person cut short, and that nothing follows', () => {
    const words = '[Request interrupted by user for tool use]';
    const cut = claude('user', [{ type: 'text', text: words }]);
    const foreign = claude('assistant', [], { isSidechain: true });
    expect(readTurnEnd('claude', [claude('system', ''), foreign, cut])).toEqual({ at: AT, failed: null });
    expect(readTurnEnd('claude', [claude('user', words)])).toEqual({ at: AT, failed: null });
    expect(readTurnEnd('claude', [claude('assistant', []), cut])).toBeNull();
    expect(readTurnEnd('claude', [claude('user', 'Go on.'), cut])).toBeNull();
    expect(readTurnEnd('claude', [])).toBeNull();
  });

  it('of Pi is none, since its hooks tell each', () => {
    expect(readTurnEnd('pi', [codex({ type: 'turn_aborted' })])).toBeNull();
  });
});
