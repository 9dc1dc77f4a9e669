/** What was said in one go. Times in seconds of the audio that was given to `push`. */
export type EngineSegment = {
  start: number;
  end: number;
  text: string;
  /** `S1`, `S2`, …; absent where the engine tells no speakers apart. */
  speaker?: string;
};

/**
 * What turns audio into text. It is started once, gets audio at any pace, and is finished once. It takes signed 16-bit
 * samples, 16 kHz, one channel.
 */
export type Engine = {
  /** Name and version: `pocketsphinx 0.8`. */
  readonly name: string;
  /** Whether it tells speakers apart. */
  readonly diarizes: boolean;
  /** What it cannot do, besides telling speakers apart; null if there is nothing to say. */
  readonly caveat: string | null;
  /** Resolves when it is ready for audio; rejects with a `CodedError` whose sentence names the fix. */
  start(): Promise<void>;
  /** Takes audio without ever blocking; false: it is behind, and took it nevertheless. */
  push(pcm: Int16Array): boolean;
  /** Audio that it was given and has not looked at yet. */
  readonly backlog_seconds: number;
  /**
   * Says all that is still open, and ends; what takes longer than this many milliseconds is cut off. Answers whether it said
   * all of it. Never rejects.
   */
  finish(deadline_ms: number): Promise<boolean>;
  onSegment(listener: (segment: EngineSegment) => void): void;
  /** Called once if it ends by itself; `why` is a sentence without a full stop. */
  onExit(listener: (why: string) => void): void;
};

/** The engine as the first line of a transcript and the lifecycle file name it. */
export function engineLine({ name, diarizes, caveat }: Pick<Engine, 'name' | 'diarizes' | 'caveat'>): string {
  return [name, ...(diarizes ? [] : ['not diarized']), ...(caveat === null ? [] : [caveat])].join(', ');
}
