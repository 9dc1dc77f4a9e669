import { useEffect, useSyncExternalStore } from 'react';
import { type Answer, get, post } from '../lib/api.ts';
import { type KnownMeeting, refusedMeeting } from '../model/meeting.ts';
import type { Meeting, MeetingAnswer, MeetingMarked, MeetingStopped } from '../model/wire.ts';
import { MeetingFollower } from './follow-meeting.ts';

/** What is known is shown as old by then. */
const ANSWER_MS = 8_000;
/** A recorder is watched for some seconds, and the worker of a capture is started after that. */
const START_MS = 90_000;

const watching = new Set<() => void>();
const wanted = new Map<object, number>();

const follower = new MeetingFollower(
  {
    async ask() {
      const answer = await get<MeetingAnswer>('/meeting', { timeout_ms: ANSWER_MS });
      return answer.ok ? answer.value : answer.message;
    },
    now: Date.now,
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  () => {
    for (const run of watching) run();
  },
);

/** A page that nobody looks at asks nothing. */
function follow(): void {
  follower.follow(document.hidden || wanted.size === 0 ? null : Math.min(...wanted.values()));
}
document.addEventListener('visibilitychange', follow);

/** The meeting of this host, asked for so often while the caller is shown. */
export function useMeeting(every_ms: number): KnownMeeting {
  useEffect(() => {
    const who = {};
    wanted.set(who, every_ms);
    follow();
    return () => {
      wanted.delete(who);
      follow();
    };
  }, [every_ms]);
  return useSyncExternalStore(
    (run) => {
      watching.add(run);
      return () => watching.delete(run);
    },
    () => follower.known,
  );
}

/** What came of a start. A recording may go on although something after it failed. */
export type Started<T> =
  | { ok: true; value: T; meeting: Meeting | null }
  | { ok: false; code: string; message: string; meeting: Meeting | null; recording: boolean };

/** Starts a meeting by `POST /capture` or `/meeting/join`. */
export async function startMeeting<T extends { meeting?: Meeting | null }>(
  path: '/capture' | '/meeting/join',
  body: object,
): Promise<Started<T>> {
  const answer = await post<T>(path, body, { timeout_ms: START_MS });
  if (answer.ok) {
    const meeting = answer.value.meeting ?? null;
    follower.tell(meeting);
    return { ok: true, value: answer.value, meeting };
  }
  void follower.ask();
  return { ok: false, code: answer.code, message: answer.message, ...refusedMeeting(answer.body) };
}

/** Stops the recording, or puts a failed one away. */
export async function stopMeeting(): Promise<Answer<MeetingStopped>> {
  return told(await post<MeetingStopped>('/meeting/stop', {}));
}

/** Writes a mark into the transcript; an empty text marks the moment alone. */
export async function markMeeting(text: string): Promise<Answer<MeetingMarked>> {
  return told(await post<MeetingMarked>('/meeting/mark', text.trim() === '' ? {} : { text: text.trim() }));
}

function told<T extends { meeting: Meeting | null }>(answer: Answer<T>): Answer<T> {
  if (answer.ok) follower.tell(answer.value.meeting);
  else void follower.ask();
  return answer;
}
