import { describe, expect, it } from 'vitest';
import { meetingIn, readTranscript, writeNotes } from '../../../src/cli/verbs/demo/scribe.ts';
import { meetingFacts } from '../../../src/routes/meeting-facts.ts';

const MEETING = { title: 'Budget "2027"', transcript: '/srv/my data/meetings/b.txt' };

describe('the demo agent as a scribe', () => {
  it('finds its meeting in the facts that a worker is given', () => {
    const meeting = { ...MEETING, mode: 'phone' as const, launch: 'L' };
    const facts = { meeting, host: 'a', joined: false };
    const here = meetingFacts({ ...facts, scribe_transcript: MEETING.transcript }, 'note');
    expect(meetingIn(`You are a worker.\n${here}`)).toEqual(MEETING);
    expect(meetingIn(meetingFacts({ ...facts, scribe_transcript: null }, ''))).toBeNull();
    expect(meetingIn('Fiber: a')).toBeNull();
  });

  it('reads what was said and marked, without the line that is being written', () => {
    const text = '# vad\n10:00:01-10:00:02 S1 one\n# mark 10:00:03 agreed\n10:00:04-10:00:05 S1 tw';
    expect(readTranscript(text)).toEqual({
      ...{ spoken: ['10:00:01-10:00:02 S1 one'], marks: ['# mark 10:00:03 agreed'], ended: false },
    });
    expect(readTranscript('# ended 10:01:00\n').ended).toBe(true);
    expect(readTranscript('# recorder ended 10:01:00 without its last lines\n').ended).toBe(true);
    expect(readTranscript('')).toEqual({ spoken: [], marks: [], ended: false });
  });

  it('writes its notes again each time, and keeps the rest of the body', () => {
    const heard = { spoken: ['a', 'b'], marks: ['# mark 10:00:03 agreed'], ended: false };
    const once = writeNotes('The task.\n\n## Status\n\nnew\n', MEETING, { ...heard, spoken: ['a'] });
    const body = writeNotes(once, MEETING, heard);
    expect(body.match(/## Notes/g)).toHaveLength(1);
    expect(body).toContain('The task.\n\n## Status\n\nnew\n\n## Notes');
    expect(body).toContain('- 10:00:03 agreed\n');
    expect(body).toContain('> a\n> b\n');
    const long = writeNotes('', MEETING, { ...heard, spoken: Array(50).fill('x') });
    expect(long).toContain('(10 earlier lines are in the transcript)');
  });
});
