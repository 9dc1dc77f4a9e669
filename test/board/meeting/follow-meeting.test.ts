import { expect, it } from 'vitest';
import { MeetingFollower } from '../../../board/src/meeting/follow-meeting.ts';
import type { Meeting, MeetingAnswer } from '../../../board/src/model/wire.ts';

const MEETING: Meeting = {
  ...{ state: 'live', mode: 'phone', title: 'Gauges', started_at: 0, tail: [], transcript: '/t' },
  ...{
    mirror_host: null,
    fiber: null,
    joined: false,
    phone: true,
    launch: 'l',
    mux_session: 'm',
    error: null,
  },
};
const answerWith = (meeting: Meeting | null): MeetingAnswer => ({
  ...{ available: true, unavailable: null, modes: ['phone'], meeting, audio: null },
});

/** A daemon and a clock that do what the test says; a question waits for its answer. */
class World {
  now = 0;
  asked = 0;
  #timers: { at: number; run: () => void }[] = [];
  #answer: ((answer: MeetingAnswer | string) => void) | null = null;
  readonly follower = new MeetingFollower(
    {
      ask: () => {
        this.asked += 1;
        return new Promise((resolve) => {
          this.#answer = resolve;
        });
      },
      now: () => this.now,
      after: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
    },
    () => undefined,
  );

  get waits(): number[] {
    return this.#timers.map(({ at }) => at - this.now);
  }

  async answer(answer: MeetingAnswer | string): Promise<void> {
    this.#answer?.(answer);
    this.#answer = null;
    await Promise.resolve();
    await Promise.resolve();
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.now);
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
  }
}

it('asks as often as it is wanted, at once when it is wanted more often, and not at all when it is not', async () => {
  const world = new World();
  world.follower.follow(15_000);
  expect(world.asked).toBe(1);
  await world.answer(answerWith(null));
  expect(world.waits).toEqual([15_000]);
  world.follower.follow(1_000);
  expect(world.asked).toBe(2);
  await world.answer(answerWith(MEETING));
  expect(world.waits).toEqual([1_000]);
  world.pass(1_000);
  expect(world.asked).toBe(3);
  world.follower.follow(15_000);
  await world.answer(answerWith(MEETING));
  expect(world.waits).toEqual([15_000]);
  world.follower.follow(null);
  expect(world.waits).toEqual([]);
});

it('keeps what was answered last, as of then, while nothing is answered', async () => {
  const world = new World();
  world.follower.follow(1_000);
  await world.answer(answerWith(MEETING));
  world.pass(1_000);
  await world.answer('The daemon did not answer.');
  expect(world.follower.known).toEqual({
    answer: answerWith(MEETING),
    heard_at: 0,
    refusal: 'The daemon did not answer.',
  });
  world.pass(1_000);
  await world.answer(answerWith(null));
  expect(world.follower.known).toEqual({ answer: answerWith(null), heard_at: 2_000, refusal: null });
});

it('knows what a write was answered at once, and asks again even where a question is under way', async () => {
  const world = new World();
  world.follower.follow(1_000);
  await world.answer(answerWith(null));
  world.pass(1_000);
  world.follower.tell(MEETING);
  expect(world.follower.known.answer?.meeting).toEqual(MEETING);
  await world.answer(answerWith(null));
  expect(world.asked).toBe(3);
  await world.answer(answerWith(MEETING));
  expect(world.follower.known.answer?.meeting).toEqual(MEETING);
});
