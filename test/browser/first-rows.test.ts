import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FibersComposite, FibersWhole } from '../../src/contract/http/fibers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER } from './chromium.ts';
import { read } from './controls.ts';
import { cardWhen, DESKTOP, faults } from './desk-page.ts';

const TITLE = `the board of a host with many fibers${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;
/** More than a board reads as a whole at once. */
const DRAFTS = 520;
const NEWEST = 'd519';

let daemon: TestDaemon;
let browser: Chromium;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      prepare: (home) => {
        for (let n = 0; n < DRAFTS; n += 1)
          home.fiber(`d${n}`, {
            front: { status: 'open', 'created-at': new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString() },
          });
      },
    });
    await daemon.rowWhen(NEWEST, 'listed', () => true);
  });

  afterAll(async () => {
    await browser?.close();
    await daemon?.dispose();
  });

  it('[RPL-2] shows its upper cards without numbers, and opens their fibers, before it has read all', async () => {
    let whole: (how: 'continue' | 'abort') => void = () => undefined;
    const page = await browser.open(`http://${daemon.address}/`, {
      async view(one) {
        await one.look(DESKTOP);
        whole = await one.keepBack('**/fibers/composite?since=');
      },
    });
    await cardWhen(page, NEWEST, 'shown');
    const heading = `[...document.querySelectorAll('h2')].find((one) => one.innerText.startsWith('Drafts')).querySelector('span')`;
    expect(await page.learn(`getComputedStyle(${heading}).visibility`)).toBe('hidden');
    await page.learn(`document.querySelector('[data-fiber="${NEWEST}"]').focus()`);
    await page.press('Enter');
    await until('its sheet', () => page.learn<boolean>("document.querySelector('dialog[open] h2') !== null"));
    await page.press('Escape');
    whole('continue');
    await until('the number of all', () =>
      page.learn<boolean>(
        `getComputedStyle(${heading}).visibility === 'visible' && ${heading}.innerText === '${DRAFTS}'`,
      ),
    );
    await read(page, 'live');
    expect(faults(page)).toEqual([]);
  });

  it('[RPL-2] tells what is read first as a part of all, and nothing but that', async () => {
    const response = await fetch(`http://${daemon.address}/api/v1/fibers/composite?since=&first=true`);
    const { tag, host, origins } = (await response.json()) as FibersComposite;
    const first = origins[host]!.read as FibersWhole & { of?: number };
    expect({ tag, of: first.of, own: first.tag }).toEqual({ tag: null, of: DRAFTS, own: null });
    expect(first.fibers.map(({ id }) => id)).toContain(NEWEST);
    expect(first.fibers).toHaveLength(100);
  });
});
