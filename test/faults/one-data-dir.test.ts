import { afterEach, expect, it } from 'vitest';
import { Bed } from './bed.ts';

const ROUNDS = 20;
let bed: Bed;

afterEach(() => bed.dispose());

it(`keeps exactly one of two daemons that start on one data dir at the same time, ${ROUNDS} times`, async () => {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  for (let round = 0; round < ROUNDS; round += 1) {
    const pair = [bed.daemon(), bed.daemon()];
    const first = await Promise.race(pair.map((one) => one.ended.then((end) => ({ one, end }))));
    expect(first.end).toEqual({ code: 1, signal: null });
    const winner = pair.find((one) => one !== first.one)!;
    await winner.ready();
    expect(bed.log()).toContain('already runs on');
    // What a kill leaves behind, the next pair finds.
    if (round % 2 === 0) await winner.kill('SIGKILL');
    else expect(await winner.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  }
}, 240_000);
