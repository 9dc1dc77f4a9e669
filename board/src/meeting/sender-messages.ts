import type { LinkState } from '../model/audio-words.ts';

/** What the page tells the worker that sends its audio. */
export type ToSender =
  /** Frames come from this port. */
  | { kind: 'listen'; port: MessagePort }
  /** Connects to this address, also after the last connection was ended. */
  | { kind: 'connect'; url: string }
  | { kind: 'close' };

/** What the worker tells the page. */
export type FromSender =
  | { kind: 'state'; state: LinkState }
  /** The loudest sample of the last frames, and how many frames were dropped so far because the line was behind. */
  | { kind: 'level'; peak_db: number | null; behind: number };
