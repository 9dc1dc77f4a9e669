import { describe, expect, it } from 'vitest';
import { firstTextForAgent, textForAgent } from '../../src/contract/message-text.ts';

describe('what an agent reads of a message', () => {
  it('ends with the command that answers a session', () => {
    const message = { message_id: 'm-1', from: 'svc://host-a/claude/s-1', text: 'Look.', files: [] };
    const answer = '[to answer, run: svc send svc://host-a/claude/s-1 -]';
    expect(textForAgent(message).endsWith(`\n${answer}`)).toBe(true);
    expect(firstTextForAgent(message).endsWith(`\n${answer}`)).toBe(true);
  });

  it.each(['svc://host-a/claude/x; touch y #', 'svc://host-a/claude; touch y/x', 'ada'])(
    'has no command for %s, which is no address',
    (from) => {
      const message = { message_id: 'm-1', from, text: 'Look.', files: [] };
      expect(textForAgent(message)).not.toContain('to answer, run');
      expect(firstTextForAgent(message)).not.toContain('to answer, run');
    },
  );
});
