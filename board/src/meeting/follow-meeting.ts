import { type KnownMeeting, NOTHING_KNOWN } from '../model/meeting.ts';
import type { Meeting, MeetingAnswer } from '../model/wire.ts';

/** What following the meeting of a host needs of its surroundings. */
export type MeetingSurroundings = {
  /** Asks `GET /meeting`; a text is why it was not answered. */
  ask(): Promise<MeetingAnswer | string>;
  now(): number;
  /** Runs something later; answers how to call it off. */
  after(ms: number, run: () => void): () => void;
};

/** Keeps asking what meeting there is, as often as those who look want it. One question is under way at a time. */
export class MeetingFollower {
  readonly #in: MeetingSurroundings;
  readonly #changed: () => void;
  #known: KnownMeeting = NOTHING_KNOWN;
  #every_ms: number | null = null;
  #asking = false;
  #again = false;
  #callOff: () => void = () => undefined;

  constructor(surroundings: MeetingSurroundings, changed: () => void) {
    this.#in = surroundings;
    this.#changed = changed;
  }

  get known(): KnownMeeting {
    return this.#known;
  }

  /** Asks so often from now on, at once to begin with; null stops. */
  follow(every_ms: number | null): void {
    if (every_ms === this.#every_ms) return;
    const sooner = every_ms !== null && (this.#every_ms === null || every_ms < this.#every_ms);
    this.#every_ms = every_ms;
    if (sooner) void this.ask();
    else if (every_ms === null) this.#callOff();
  }

  /** Asks now, as after something that was done to the meeting. */
  async ask(): Promise<void> {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    this.#callOff();
    this.#asking = true;
    this.#again = false;
    const answer = await this.#in.ask();
    this.#asking = false;
    this.#become(
      typeof answer === 'string'
        ? { ...this.#known, refusal: answer }
        : { answer, heard_at: this.#in.now(), refusal: null },
    );
    if (this.#again) void this.ask();
    else if (this.#every_ms !== null) this.#callOff = this.#in.after(this.#every_ms, () => void this.ask());
  }

  /** What the answer of a write said of the meeting. */
  tell(meeting: Meeting | null): void {
    const { answer } = this.#known;
    if (answer !== null)
      this.#become({
        answer: {
          ...answer,
          meeting,
          audio: answer.meeting?.launch === meeting?.launch ? answer.audio : null,
        },
        heard_at: this.#in.now(),
        refusal: null,
      });
    void this.ask();
  }

  #become(known: KnownMeeting): void {
    this.#known = known;
    this.#changed();
  }
}
