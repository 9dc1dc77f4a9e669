import type { AudioMessage } from './wire.ts';

/** How a microphone stands with the meeting that it records. */
export type LinkState =
  | { kind: 'connecting' }
  /** The daemon was reached, and the recorder takes no audio yet. */
  | { kind: 'waiting'; reason: string }
  | { kind: 'connected' }
  /** The connection is lost, and tried again. */
  | { kind: 'lost' }
  /** Nothing is tried any more. */
  | { kind: 'over'; why: OverBy; reason: string };
export type OverBy = Exclude<AudioMessage['state'], 'waiting' | 'connected'>;

/** How the audio of a page stands, whatever it is that carries it. */
export type AudioState =
  /** The page is not the microphone. */
  | { kind: 'off' }
  | { kind: 'opening' }
  /** It is open, and the meeting that it is for is being started. */
  | { kind: 'open' }
  /** The browser gives no microphone. */
  | { kind: 'no_microphone'; name: string; message: string }
  /** The system took the microphone away. */
  | { kind: 'taken_away' }
  | LinkState;

export type AudioSays = {
  tone: 'live' | 'waiting' | 'fault' | 'plain';
  text: string;
  /** What a tap can do about it. */
  offer: 'use' | 'again' | 'take_over' | null;
};

const NO_MICROPHONE: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The browser was not allowed to use the microphone. Allow it for this address, in the settings of the site, and tap again.',
  NotFoundError: 'This device has no microphone. Plug one in, or open this page on a phone, and tap again.',
  NotReadableError: 'Another program holds the microphone. End it, such as a call, and tap again.',
};

/** A page over plain HTTP from elsewhere has no microphone at all. */
export const NEEDS_HTTPS =
  'A browser gives its microphone only to a page that came over HTTPS, or from this machine itself. This page came over plain HTTP.';

/** Why audio is lost although it is sent: the line is slower than speech. */
export const SLOW_LINE =
  'The line is too slow: what is said now is lost in part. Go where the network is better.';

/**
 * How the audio stands in a sentence or two, and what a tap can do about it. `muted`: the system gives the page no sound for
 * now. `other`: another phone sends.
 */
export function audioSays(state: AudioState, muted: boolean, other: boolean): AudioSays {
  if (state.kind === 'off')
    return {
      tone: 'plain',
      text: other
        ? 'Another phone is the microphone of this meeting. If you use this one, it takes over.'
        : 'No phone is the microphone of this meeting now, so nothing is recorded.',
      offer: 'use',
    };
  if (state.kind === 'opening')
    return { tone: 'waiting', text: 'The browser opens the microphone. It may ask you first.', offer: null };
  if (state.kind === 'open')
    return {
      tone: 'waiting',
      text: 'The microphone is open. Nothing is recorded until the start is complete: the worker of the meeting is told of it.',
      offer: null,
    };
  if (state.kind === 'no_microphone') {
    const text = NO_MICROPHONE[state.name] ?? `The microphone cannot be used: ${state.message}`;
    return { tone: 'fault', text, offer: 'use' };
  }
  if (state.kind === 'taken_away')
    return {
      tone: 'fault',
      text: 'The microphone was taken away from this page, and nothing is recorded.',
      offer: 'use',
    };
  if (state.kind === 'over') return overSays(state);
  if (muted)
    return {
      tone: 'fault',
      text: 'This device silences its microphone now, such as for a call. If it does not go on by itself after that, use it again.',
      offer: 'use',
    };
  if (state.kind === 'connecting') return { tone: 'waiting', text: 'Connecting to the daemon.', offer: null };
  if (state.kind === 'waiting') return { tone: 'waiting', text: waitingText(state.reason), offer: null };
  if (state.kind === 'lost')
    return {
      tone: 'fault',
      text: 'The connection to the daemon is lost, and nothing is recorded. It is tried again every few seconds.',
      offer: null,
    };
  return { tone: 'live', text: 'This phone is the microphone.', offer: null };
}

function waitingText(reason: string): string {
  const why = 'The recorder takes no audio yet, so nothing is recorded.';
  return reason === '' ? why : `${why} ${reason}`;
}

function overSays({ why, reason }: LinkState & { kind: 'over' }): AudioSays {
  if (why === 'replaced')
    return {
      tone: 'fault',
      text: 'Another phone has taken over as the microphone. This one sends nothing any more.',
      offer: 'take_over',
    };
  if (why === 'ended') return { tone: 'plain', text: `The meeting has ended. ${reason}`.trim(), offer: null };
  return { tone: 'fault', text: `The daemon takes no audio of this page. ${reason}`.trim(), offer: 'again' };
}
