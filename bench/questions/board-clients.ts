import { appendFileSync } from 'node:fs';
import { followAsBoard } from '../board-follower.ts';
import { wait } from '../daemon.ts';
import { withDesk } from '../desk.ts';
import { type Bench, judged } from '../frame.ts';
import { cpuSeconds } from '../process-cost.ts';

const BOARDS = 50;
const SETTLE_MS = 10_000;
const WATCHED_S = 40;

export const bench: Bench = {
  name: 'board-clients',
  question: 'what do 50 open boards cost the daemon at one change a second among 5,000 fibers?',
  run: (log) =>
    withDesk(async ({ daemon, documents }) => {
      let round = 0;
      const share = async () => {
        const before = cpuSeconds(daemon.pid);
        const from = performance.now();
        for (let second = 0; second < WATCHED_S; second += 1) {
          round += 1;
          appendFileSync(documents[(round * 97) % documents.length]!, '\nOne more line.\n');
          await wait(1_000);
        }
        return (100 * (cpuSeconds(daemon.pid) - before)) / ((performance.now() - from) / 1_000);
      };
      await wait(SETTLE_MS);
      const alone = await share();
      log('without a board');
      const boards = Array.from({ length: BOARDS }, () => followAsBoard(daemon.port));
      try {
        await wait(SETTLE_MS);
        const beside = await share();
        const behind = boards.filter(({ followed }) => followed.contact.kind !== 'live').length;
        if (behind > 0) throw new Error(`${behind} boards follow no socket`);
        return [
          judged(
            {
              name: `share of a core for ${BOARDS} boards`,
              value: beside - alone,
              unit: '%',
              against: [
                { name: 'with boards', value: beside, unit: '%' },
                { name: 'without', value: alone, unit: '%' },
              ],
            },
            { most: 5 },
          ),
        ];
      } finally {
        for (const board of boards) board.stop();
      }
    }),
};
