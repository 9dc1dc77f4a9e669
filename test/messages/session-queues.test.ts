import { expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import type { MessageRecord } from '../../src/messages/message-record.ts';
import { heldPause } from '../../src/messages/messages-service.ts';
import { SessionQueues } from '../../src/messages/session-queues.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** How often all sessions together are looked at in a minute, where each holds a message. */
async function looksInAMinute(sessions: number): Promise<number> {
  const clock = new FakeClock();
  let looks = 0;
  const queues = new SessionQueues({
    clock,
    async attempt(record) {
      looks += 1;
      return record;
    },
    pause: (_, waiting) => heldPause(waiting),
  });
  for (let nth = 0; nth < sessions; nth += 1)
    queues.add({ address: `svc://host/claude/${nth}`, wake: true, state: 'waiting' } as MessageRecord);
  await turn();
  looks = 0;
  for (let second = 0; second < 60; second += 1) {
    clock.advance(1_000);
    await turn();
  }
  queues.stop();
  return looks;
}

it.each([
  { sessions: 1, most: 60, least: 60 },
  { sessions: 20, most: 1_200, least: 1_200 },
  { sessions: 300, most: 1_200, least: 900 },
])(
  'looks at held messages of $sessions sessions at most 20 times a second',
  async ({ sessions, most, least }) => {
    const looks = await looksInAMinute(sessions);
    expect(looks).toBeLessThanOrEqual(most);
    expect(looks).toBeGreaterThanOrEqual(least);
  },
);
