import { describe, expect, it } from 'vitest';
import { audioStateSchema } from '../../src/contract/http/state.ts';
import { MeetingState } from '../../src/meetings/meeting-state.ts';

describe('the meeting state', () => {
  it('counts the connected phones, and each disconnect once', () => {
    const meeting = new MeetingState();
    expect(meeting.view()).toEqual({ meeting: null, sockets: 0 });
    const leave = meeting.socketOpened();
    const other = meeting.socketOpened();
    expect(meeting.view().sockets).toBe(2);
    leave();
    leave();
    expect(meeting.view().sockets).toBe(1);
    other();
    expect(audioStateSchema.parse(meeting.view())).toEqual({ meeting: null, sockets: 0 });
  });
});
