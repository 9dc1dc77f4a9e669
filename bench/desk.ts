import { join } from 'node:path';
import { Chromium, NO_BROWSER, type Page } from '../test/browser/chromium.ts';
import { type BenchDaemon, startDaemon, wait } from './daemon.ts';
import { withScratch } from './scratch.ts';
import { generateStore } from './stores.ts';

const SIZE = { fibers: 5_000, owners: 100 };

export type DeskBench = {
  daemon: BenchDaemon;
  /** Absolute paths of the documents. */
  documents: string[];
  /**
   * The Desk in a new window with empty caches; `rate` makes its processor so many times slower, `first` is a script that
   * runs before any of its own.
   */
  open(rate?: number, first?: string): Promise<Page>;
};

/** Gives `work` a daemon with fibers of so many hosts, 5,000 of 100 unless it is told otherwise, and a browser. */
export function withDesk<T>(
  work: (desk: DeskBench) => Promise<T>,
  { fibers, owners }: typeof SIZE = SIZE,
): Promise<T> {
  if (NO_BROWSER !== null) throw new Error(NO_BROWSER);
  return withScratch(async (folder) => {
    const root = join(folder, 'store');
    const each = fibers / owners;
    const documents = Array.from({ length: owners }, (_, owner) =>
      generateStore(root, {
        fibers: each,
        host: `owner-${owner}`,
        project_dir: folder,
        served: 1,
        seed: owner + 1,
        first: owner * each,
      }),
    ).flatMap((store) => store.documents);
    const daemon = await startDaemon({ folder, stores: [root], measured: false });
    const browser = new Chromium();
    try {
      await daemon.fresh();
      const open = async (rate = 1, first = '') => {
        await browser.forget();
        return browser.open(`http://127.0.0.1:${daemon.port}/`, {
          async view(page) {
            await page.look({ width: 1400, height: 875 });
            await page.slow(rate);
            if (first !== '') await page.before(first);
          },
        });
      };
      return await work({ daemon, documents, open });
    } finally {
      await browser.close();
      await daemon.stop();
    }
  });
}

/** Resolves when an expression of the page is true. */
export async function holds(page: Page, expression: string): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await page.learn<boolean>(expression))) {
    if (Date.now() > end) throw new Error(`not within a minute: ${expression}`);
    await wait(20);
  }
}

export const CARDS = "document.querySelectorAll('article[data-fiber]').length > 0";
export const LIVE = "document.querySelector('header').innerText.includes('live')";
