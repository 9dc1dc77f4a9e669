import type { Meeting } from '../contract/http/meeting.ts';
import type { MeetingMode } from '../contract/recorder.ts';

const SOURCES: Readonly<Record<MeetingMode, string>> = {
  call: 'the microphone and the sound of this machine',
  room: 'the microphone of this machine',
  phone: 'the microphone of a phone in the room',
};

/** What a scribe is told of its meeting (CAP-3, MTG-2): its facts, then the user's note. */
export function meetingFacts(
  {
    meeting,
    host,
    scribe_transcript,
    joined,
  }: {
    meeting: Pick<Meeting, 'title' | 'mode' | 'transcript' | 'launch'>;
    /** The host that records. */
    host: string;
    /** The transcript where the scribe runs; null where it cannot read one. */
    scribe_transcript: string | null;
    joined: boolean;
  },
  note: string,
): string {
  const where =
    scribe_transcript === null
      ? `Transcript: ${meeting.transcript} on ${host}, which is not mirrored to this host, since no SSH alias of it is configured there.`
      : `Transcript: ${scribe_transcript} (a line is added for each thing that is said; it may appear some seconds after the start)`;
  return [
    `A meeting is being recorded now: "${meeting.title}".`,
    ...(joined ? ['It joins the fiber that you work on.'] : []),
    `Mode: ${meeting.mode}, ${SOURCES[meeting.mode]}, recorded by ${host}.`,
    where,
    `Recording: ${meeting.launch}`,
    'How to follow it and what to write: references/meeting.md of the skill fiber-service. Read that first.',
    ...(note.trim() === '' ? [] : ['', note.trim()]),
  ].join('\n');
}
