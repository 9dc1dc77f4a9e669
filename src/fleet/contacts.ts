import type { Clock } from '../base/clock.ts';
import { isCoded, messageOf } from '../base/errors.ts';
import type { Reached } from '../contract/http/fleet.ts';

type Fault = NonNullable<Reached['error']>;

/** How each remote answered whoever asked it last, by its name. */
export class Contacts {
  readonly #clock: Clock;
  readonly #refuseChanged: (name: string) => void;
  readonly #known = new Map<string, Reached>();

  /** `refuseChanged` throws for a remote that is not of its pinned build. */
  constructor(clock: Clock, refuseChanged: (name: string) => void) {
    this.#clock = clock;
    this.#refuseChanged = refuseChanged;
  }

  /** Settles as the request to a remote does, and records the result; rejects for one that gets none now. */
  async ask<T>(name: string, question: () => Promise<T>): Promise<T> {
    try {
      this.#refuseChanged(name);
      const answer = await question();
      this.note(name, 'answers', null);
      return answer;
    } catch (error) {
      this.note(name, 'no_answer', faultOf(error));
      throw error;
    }
  }

  /** Records the state of a remote, and since when it has it. */
  note(name: string, state: Reached['state'], error: Fault | null): Reached {
    const now = this.#clock.now();
    const before = this.#known.get(name);
    const reached: Reached = {
      state,
      since: before?.state === state ? before.since : now,
      last_ok_at: state === 'answers' ? now : (before?.last_ok_at ?? null),
      error,
    };
    this.#known.set(name, reached);
    return reached;
  }

  /** Forgets all remotes but those of these names. */
  keepOnly(names: readonly string[]): void {
    const kept = new Set(names);
    for (const name of this.#known.keys()) if (!kept.has(name)) this.#known.delete(name);
  }
}

/** The part of a failed request's error that callers see. */
export function faultOf(error: unknown): Fault {
  return { code: isCoded(error) ? error.code : 'internal', message: messageOf(error) };
}
