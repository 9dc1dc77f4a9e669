import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { wait } from '../daemon.ts';
import { CARDS, holds, LIVE, withDesk } from '../desk.ts';
import { type Bench, judged, shown } from '../frame.ts';

/** An hour with a change each second, 20 times as fast. */
const CHANGES = 3_600;
const EVERY_MS = 50;
/** After these the page has loaded and warmed up what it uses. */
const WARM = 300;

export const bench: Bench = {
  name: 'board-memory',
  question: 'does the memory of an open board grow over an hour with a change each second?',
  run: (log) =>
    withDesk(async ({ documents, open }) => {
      const page = await open();
      await holds(page, CARDS);
      await holds(page, LIVE);
      const change = async (from: number, to: number) => {
        for (let round = from; round < to; round += 1) {
          const path = documents[(round * 97) % documents.length]!;
          if (round % 2 === 0) appendFileSync(path, '\nOne more line.\n');
          else
            writeFileSync(
              path,
              readFileSync(path, 'utf8').replace(/^outcome: .*$/m, `outcome: Round ${round}.`),
            );
          await wait(EVERY_MS);
        }
        await wait(1_000);
      };
      await change(0, WARM);
      const before = await page.weigh();
      await change(WARM, WARM + CHANGES / 2);
      const half = await page.weigh();
      log(`${CHANGES / 2} changes`);
      await change(WARM + CHANGES / 2, WARM + CHANGES);
      const after = await page.weigh();
      return [
        judged(
          {
            name: 'heap grown over the hour',
            value: (after.heap - before.heap) / 1e6,
            unit: 'MB',
            against: [
              { name: 'before', value: before.heap / 1e6, unit: 'MB' },
              { name: 'half way', value: half.heap / 1e6, unit: 'MB' },
              { name: 'after', value: after.heap / 1e6, unit: 'MB' },
            ],
          },
          { most: 1 },
        ),
        shown('elements', after.elements, ''),
      ];
    }),
};
