import { expect, it } from 'vitest';
import type { CliContext } from '../../../../src/cli/command-line/verb.ts';
import type { DaemonClient } from '../../../../src/cli/daemon-client/client.ts';
import { untilPolled } from '../../../../src/cli/verbs/run/ready-daemon.ts';
import { stateAnswer } from '../../answers.ts';

const ROOT = '/srv/notes';
const { poll_health } = stateAnswer();
const [listed] = poll_health.stores;
const unlisted = {
  ...listed,
  last_ok_at: null,
  lease: { state: 'unknown', holder: null, detail: 'the store was not listed yet' },
};

/** How many answers of a daemon are read until the store counts as taken up; the clock moves with each wait. */
async function looksFor(stores: readonly unknown[][]): Promise<number> {
  let now = 0;
  let looks = 0;
  const clock = {
    now: () => now,
    after(ms: number, run: () => void) {
      now += ms;
      queueMicrotask(run);
      return () => {};
    },
  };
  const get = async () => {
    const at = stores[Math.min(looks, stores.length - 1)];
    looks += 1;
    return { poll_health: { ...poll_health, stores: at } };
  };
  await untilPolled({ clock } as unknown as CliContext, { get } as unknown as DaemonClient, ROOT);
  return looks;
}

it('waits for the first listing of a store, since a start before it is refused', async () => {
  expect(await looksFor([[], [unlisted], [unlisted], [listed]])).toBe(4);
});

it('waits no longer for a store that cannot be read, and not for ever for one that is not listed', async () => {
  expect(await looksFor([[{ ...unlisted, error: 'EACCES' }]])).toBe(1);
  expect(await looksFor([[unlisted]])).toBe(101);
});

it('refuses a store that the daemon does not work on', async () => {
  await expect(looksFor([[]])).rejects.toMatchObject({ code: 'store_unavailable' });
});
