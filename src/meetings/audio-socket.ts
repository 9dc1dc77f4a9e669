import type { AudioMessage } from '../contract/http/meeting.ts';
import type { RelayedMeeting } from './meeting-service.ts';

/** What follows for a phone's socket from the meeting as it is now. */
export type AudioPlace = { kind: 'recorder'; socket: string } | { kind: 'told'; message: AudioMessage };

/**
 * Whether a socket may open (AUD-4 to AUD-7): `launch` is the recording that it asks for, null for whichever phone meeting
 * there is.
 */
export function placeOfNew(launch: string | null, meeting: RelayedMeeting | null): AudioPlace {
  const refused = (reason: string): AudioPlace => ({ kind: 'told', message: { state: 'refused', reason } });
  if (meeting === null)
    return refused('No meeting is recorded on this host; start one before the phone connects.');
  if (launch !== null && launch !== meeting.launch)
    return refused('Another meeting is recorded on this host; open the page again to join it.');
  if (meeting.mode !== 'phone')
    return refused('The meeting records the microphone of this host, and takes no audio of a phone.');
  return placeOfOpen(meeting.launch, meeting);
}

/** What becomes of a socket that is bound to a launch. */
export function placeOfOpen(launch: string, meeting: RelayedMeeting | null): AudioPlace {
  const told = (message: AudioMessage): AudioPlace => ({ kind: 'told', message });
  if (meeting === null || meeting.launch !== launch)
    return told({ state: 'ended', reason: 'The meeting is over.' });
  if (meeting.state === 'stopping') return told({ state: 'ended', reason: 'The meeting is being stopped.' });
  if (meeting.state === 'failed')
    return told({ state: 'ended', reason: meeting.error ?? 'The recorder failed.' });
  if (meeting.state === 'live' && meeting.socket !== null)
    return { kind: 'recorder', socket: meeting.socket };
  return told({ state: 'waiting', reason: 'The recorder is getting ready; audio is not recorded yet.' });
}

/** True for the last message of a socket. */
export function isLast(message: AudioMessage): boolean {
  return message.state !== 'waiting' && message.state !== 'connected';
}
