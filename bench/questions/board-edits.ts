import { readFileSync, writeFileSync } from 'node:fs';
import { wait } from '../daemon.ts';
import { CARDS, holds, LIVE, withDesk } from '../desk.ts';
import { type Bench, judged, median, percentile } from '../frame.ts';

const EDITS = 200;

export const bench: Bench = {
  name: 'board-edits',
  question: 'how soon does a board of 5,000 cards paint what was edited on disk?',
  run: (log) =>
    withDesk(async ({ documents, open }) => {
      const page = await open();
      await holds(page, CARDS);
      await holds(page, LIVE);
      const id = await page.learn<string>("document.querySelector('article[data-fiber]').dataset.fiber");
      const path = documents.find((one) => one.includes(`/.fibers/${id}/`)) ?? '';
      const text = readFileSync(path, 'utf8');
      await page.learn(`{
        window.painted = {};
        const look = () => {
          const found = /Edit (\\d+) of/.exec(document.querySelector('article[data-fiber=${JSON.stringify(id)}]')?.innerText ?? '');
          if (found !== null && !(found[1] in window.painted)) {
            const edit = found[1];
            window.painted[edit] = null;
            // Two frames later it is on the screen.
            requestAnimationFrame(() => requestAnimationFrame(() => { window.painted[edit] = Date.now(); }));
          }
        };
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
      }`);
      const took: number[] = [];
      const end = (edit: number) => `window.painted[${edit}] != null`;
      for (let edit = 1; edit <= EDITS; edit += 1) {
        // At every place of the daemon’s own rhythm.
        await wait(100 + ((edit * 37) % 200));
        const at = Date.now();
        writeFileSync(path, text.replace(/^outcome: .*$/m, `outcome: Edit ${edit} of ${EDITS}.`));
        await holds(page, end(edit));
        took.push((await page.learn<number>(`window.painted[${edit}]`)) - at);
      }
      log(`${EDITS} edits of ${id}`);
      const against = [
        { name: 'median', value: median(took), unit: 'ms' },
        { name: 'longest', value: Math.max(...took), unit: 'ms' },
      ];
      return [
        judged(
          {
            name: 'from the edit to the painted card, p99',
            value: percentile(took, 99),
            unit: 'ms',
            against,
          },
          { most: 300 },
        ),
      ];
    }),
};
