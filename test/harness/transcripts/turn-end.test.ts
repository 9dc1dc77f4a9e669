import { describe, expect, it } from 'vitest';
import { HARNESSES } from '../../../src/harness/harnesses.ts';

const AT = Date.UTC(2026, 2, 7, 12);
const timestamp = new Date(AT).toISOString();
const codex = (payload: object, type = 'event_msg') => ({ timestamp, type, payload });
const claude = (type: string, content: unknown, more: object = {}) => ({
  timestamp,
  type,
  message: { content },
  ...more,
});

describe('the end of a turn that no hook reports', () => {
  it('[P16] of Codex is one that failed or was interrupted, and none while the next one runs', () => {
    const error = { message: '400 not like this', codex_error_info: 'other' };
    const failed = codex({ type: 'task_complete', last_agent_message: null, error });
    expect(HARNESSES.codex.records.turnEnd([codex({ type: 'token_count' }), failed])).toEqual({
      at: AT,
      failed: '400 not like this',
    });
    const aborted = codex({ type: 'turn_aborted', reason: 'interrupted' });
    expect(HARNESSES.codex.records.turnEnd([aborted, failed])).toEqual({ at: AT, failed: null });
    const well = codex({ type: 'task_complete', last_agent_message: 'done' });
    expect(HARNESSES.codex.records.turnEnd([well])).toEqual({ at: AT, failed: null });
    expect(HARNESSES.codex.records.turnEnd([codex({ type: 'task_started' }), failed])).toBeNull();
    expect(HARNESSES.codex.records.turnEnd([codex({ type: 'task_complete' }, 'response_item')])).toBeNull();
    expect(HARNESSES.codex.records.turnEnd([{ ...failed, timestamp: 'soon' }])).toBeNull();
  });

  it('[P16] of Claude Code is one that a person interrupted, with nothing after it', () => {
    const words = '[Request interrupted by user for tool use]';
    const cut = claude('user', [{ type: 'text', text: words }]);
    const foreign = claude('assistant', [], { isSidechain: true });
    expect(HARNESSES.claude.records.turnEnd([claude('system', ''), foreign, cut])).toEqual({
      at: AT,
      failed: null,
    });
    expect(HARNESSES.claude.records.turnEnd([claude('user', words)])).toEqual({ at: AT, failed: null });
    expect(HARNESSES.claude.records.turnEnd([claude('assistant', []), cut])).toBeNull();
    expect(HARNESSES.claude.records.turnEnd([claude('user', 'Go on.'), cut])).toBeNull();
    expect(HARNESSES.claude.records.turnEnd([])).toBeNull();
  });

  it('of Pi is none, since its hooks report each', () => {
    expect(HARNESSES.pi.records.turnEnd([codex({ type: 'turn_aborted' })])).toBeNull();
  });
});
