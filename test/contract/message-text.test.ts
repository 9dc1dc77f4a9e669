import { describe, expect, it } from 'vitest';
import { firstTextForAgent, hasMessage, markerOf, textForAgent } from '../../src/contract/message-text.ts';

describe('what an agent reads of a message', () => {
  it('ends with the command that answers a session', () => {
    const message = { message_id: 'm-1', from: 'svc://host-a/claude/s-1', text: 'Look.', files: [] };
    const answer = 'run: svc send svc://host-a/claude/s-1 -]';
    expect(textForAgent(message).endsWith(`\n[to answer message m-1, ${answer}`)).toBe(true);
    expect(firstTextForAgent(message).endsWith(`\n[to answer, ${answer}`)).toBe(true);
  });

  it.each(['svc://host-a/claude/x; touch y #', 'svc://host-a/claude; touch y/x', 'ada'])(
    'has no command for %s, which is no address',
    (from) => {
      const message = { message_id: 'm-1', from, text: 'Look.', files: [] };
      expect(textForAgent(message)).not.toContain('run: svc send');
      expect(firstTextForAgent(message)).not.toContain('run: svc send');
    },
  );
});

describe('[MDS-1] a text has a message', () => {
  const lost = textForAgent({ message_id: 'm-1', from: 'ada', text: 'Look.', files: [] });
  const [session, person] = ['svc://host-a/claude/s-1', 'bea'];
  const other = (from: string, text: string) => textForAgent({ message_id: 'm-2', from, text, files: [] });
  const ofSession = textForAgent({ message_id: 'm-1', from: session, text: 'Look.', files: [] });
  const earlier = textForAgent({ message_id: 'm-0', from: session, text: 'Hello.', files: [] });
  const has = (text: string) => hasMessage(text, markerOf('m-1'));

  it.each([
    ['alone', lost],
    ['after what a person had typed', `well${lost}`],
    ['after another one', `${other(person, 'Look.')}\n${lost}`],
    ['after one of a session', `${other(session, 'Look.')}\n${lost}`],
    ['after one whose end was cut', `${other(person, 'Look.').slice(0, -5)}\n${lost}`],
    ['after one of its own sender whose end was cut', `${earlier.slice(0, -5)}\n${ofSession}`],
    ['after one that quotes it', `${other(person, lost)}\n${lost}`],
    ['as far as a cut left it', lost.slice(0, 20)],
    ['after more messages without an end than are looked at', `${'[message x from y] '.repeat(100)}${lost}`],
    ['after many brackets that begin nothing', `${'[message from '.repeat(100_000)}\n${lost}`],
  ])('%s', (_where, text) => {
    expect(has(text)).toBe(true);
  });

  it.each([
    ['of a person', other(person, `What became of this?\n${lost}`)],
    ['of a session', other(session, `What became of this?\n${lost}`)],
    ['that starts a worker', firstTextForAgent({ from: person, text: `What became of this?\n${lost}` })],
    ['of its own sender, behind another one,', other(session, `I wrote:\n${earlier}\nand:\n${ofSession}`)],
    ['after another message', `${other(session, 'Look.')}\n${other(session, lost)}`],
  ])('not where a message %s quotes it', (_whose, text) => {
    expect(has(text)).toBe(false);
  });
});
