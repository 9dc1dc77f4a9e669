import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { Page } from '../../test/browser/chromium.ts';
import { wait } from '../daemon.ts';
import { CARDS, type DeskBench, holds, LIVE, withDesk } from '../desk.ts';
import { type Bench, type Figure, judged, median, percentile, shown } from '../frame.ts';

const ROUNDS = 3;
/** Slower processors, and at most how many milliseconds until cards and until something is painted. */
const PAINTED = [
  { rate: 1, cards: 600, first: 400 },
  { rate: 4, cards: 1_400, first: 1_000 },
  { rate: 6, cards: 2_200, first: null },
] as const;
/** At most how many milliseconds between two frames (p95), and for applying a feed. */
const MOVED = [
  { rate: 1, frame: 34, apply: 10 },
  { rate: 4, frame: 50, apply: 40 },
] as const;

export const bench: Bench = {
  name: 'board-desk',
  question:
    'how soon does a board show 5,000 cards of 100 hosts, how smoothly does it scroll and drag, what does it keep, and what do 10,000 fibers cost it beside 40, when it begins and when it is used?',
  run: async (log) => [...(await smooth(log)), ...grown(await begun(SMALL), await begun(LARGE))],
};

function smooth(log: (line: string) => void): Promise<Figure[]> {
  return withDesk(async (desk) => {
    const figures: Figure[] = [];
    await desk.open();
    for (const step of PAINTED) figures.push(...(await painted(desk, step)));
    log('painted');
    const feed = await appliedFeed();
    for (const { rate, frame, apply } of MOVED) {
      const page = await desk.open(rate);
      await holds(page, CARDS);
      await holds(page, LIVE);
      await wait(1_000);
      const idle = await frames(page, () => wait(1_000));
      const scrolled = await frames(page, () => scroll(page));
      const dragged = await frames(page, () => drag(page));
      const against = [{ name: 'of a page at rest', value: percentile(idle, 95), unit: 'ms' }];
      figures.push(
        judged(
          { name: `scrolling, frame p95, ${rate} ×`, value: percentile(scrolled, 95), unit: 'ms', against },
          { most: frame },
        ),
        judged(
          { name: `dragging, frame p95, ${rate} ×`, value: percentile(dragged, 95), unit: 'ms', against },
          { most: frame },
        ),
        judged(
          {
            name: `dragging, frames a second, ${rate} ×`,
            value: (1_000 * dragged.length) / dragged.reduce((sum, one) => sum + one, 0),
            unit: '',
          },
          { least: 55 },
        ),
        judged(
          {
            name: `applying a feed with 1 % changed, ${rate} ×`,
            value: await page.learn<number>(`(() => { ${feed}; return applied.measure(); })()`),
            unit: 'ms',
          },
          { most: apply },
        ),
      );
      if (rate !== 1) continue;
      const { heap, elements } = await page.weigh();
      figures.push(
        judged({ name: 'heap', value: heap / 1e6, unit: 'MB' }, { most: 25 }),
        judged({ name: 'elements', value: elements, unit: '' }, { most: 1_500 }),
      );
    }
    return figures;
  });
}

const SMALL = 40;
const LARGE = 10_000;

type Begun = { card: number; task: number; parsed: number; used: number };

/**
 * Of a board of so many fibers, in milliseconds (median): its first card, its longest task until it is live, its feed read
 * as JSON alone, and the longest task while the large one is used.
 */
function begun(fibers: number): Promise<Begun> {
  return withDesk(
    async (desk) => {
      const rounds: Begun[] = [];
      await desk.open();
      const begin = async () => {
        const page = await desk.open(1, WATCH);
        await holds(page, CARDS);
        await holds(page, LIVE);
        await wait(1_000);
        return page;
      };
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push({ ...(await (await begin()).learn<Omit<Begun, 'used'>>(BEGUN)), used: 0 });
      // After all first loads: a changed store is a feed that the daemon has to prepare anew.
      for (let round = 0; fibers === LARGE && round < ROUNDS; round += 1) {
        const page = await begin();
        await use(page, desk, round);
        rounds[round]!.used = await page.learn<number>('window.begun.task');
      }
      const of = (key: keyof Begun) => median(rounds.map((one) => one[key]));
      return { card: of('card'), task: of('task'), parsed: of('parsed'), used: of('used') };
    },
    { fibers, owners: 1 },
  );
}

/** Edits a document, scrolls, types into the finder, and accepts a card. */
async function use(page: Page, { documents }: DeskBench, round: number): Promise<void> {
  await page.learn('window.begun.task = 0');
  const first = 'document.querySelector(\'[data-column="Drafts"] article\')';
  const id = await page.learn<string>(`${first}.dataset.fiber`);
  const path = documents.find((one) => one.includes(`/${id}/`)) ?? '';
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^outcome: .*$/m, `outcome: Round ${round}.`));
  await holds(page, `${first}.innerText.includes('Round ${round}.')`);
  await scroll(page);
  await page.press('/');
  await holds(page, "document.activeElement.getAttribute('role') === 'combobox'");
  await page.typeAt('merge ab', () => 120);
  await holds(page, 'document.querySelector(\'[role="listbox"] mark\') !== null');
  await page.press('Escape');
  await holds(page, "document.querySelector('dialog') === null");
  await wait(1_000);
  await page.learn(`{
    const card = document.querySelector('[data-column="Awaiting review"] article');
    card.focus();
    window.accepted = card;
    // An element cannot be answered.
    null;
  }`);
  await page.press('a');
  await holds(page, '!window.accepted.isConnected');
  await wait(500);
}

function grown(small: Begun, large: Begun): Figure[] {
  const floor = { name: 'reading its feed as JSON', value: large.parsed, unit: 'ms' };
  return [
    shown('first card of 40 fibers', small.card, 'ms'),
    judged(
      {
        name: 'first card of 10,000 fibers',
        value: large.card,
        unit: 'ms',
        against: [{ name: 'of 40', value: small.card, unit: 'ms' }, floor],
      },
      { most: 1.5 * small.card },
    ),
    judged(
      {
        name: 'longest task of 10,000 fibers',
        value: large.task,
        unit: 'ms',
        against: [{ name: 'of 40', value: small.task, unit: 'ms' }, floor],
      },
      { most: 100 },
    ),
    judged(
      { name: 'longest task while 10,000 fibers are used', value: large.used, unit: 'ms' },
      { most: 100 },
    ),
  ];
}

/** Notes from the beginning of a page when its first card is there, and its longest task. */
const WATCH = `
  window.begun = { card: 0, task: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.begun.task = Math.max(window.begun.task, duration);
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    if (document.querySelector('article[data-fiber]') === null) requestAnimationFrame(look);
    else window.begun.card = performance.now();
  };
  requestAnimationFrame(look);`;
const BEGUN = `(async () => {
  const text = await (await fetch('/api/v1/fibers/composite?since=')).text();
  const from = performance.now();
  JSON.parse(text);
  return { ...window.begun, parsed: performance.now() - from };
})()`;

async function painted(desk: DeskBench, { rate, cards, first }: (typeof PAINTED)[number]): Promise<Figure[]> {
  const seen: number[] = [];
  const contents: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await desk.open(rate);
    await holds(page, CARDS);
    await wait(500);
    seen.push(await page.learn<number>(LARGEST));
    contents.push(await page.learn<number>(FIRST));
  }
  return [
    judged({ name: `cards painted, ${rate} ×`, value: median(seen), unit: 'ms' }, { most: cards }),
    ...(first === null
      ? []
      : [
          judged(
            { name: `first contentful paint, ${rate} ×`, value: median(contents), unit: 'ms' },
            { most: first },
          ),
        ]),
  ];
}

const FIRST = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
/** The largest paint is that of the cards, whose texts are in the middle of the page. */
const LARGEST = `new Promise((resolve) => new PerformanceObserver((list) =>
  resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true }))`;

/** Milliseconds between the frames that the page draws meanwhile. */
async function frames(page: Page, work: () => Promise<void>): Promise<number[]> {
  await page.learn(`{
    const drawn = (window.drawn = []);
    let last = performance.now();
    const next = (at) => {
      if (window.drawn !== drawn) return;
      drawn.push(at - last);
      last = at;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }`);
  await work();
  return page.learn<number[]>(
    '(() => { const found = window.drawn; window.drawn = null; return found.slice(1); })()',
  );
}

async function scroll(page: Page): Promise<void> {
  await page.learn(`new Promise((done) => {
    const list = [...document.querySelectorAll('[data-column] *')]
      .filter((one) => one.scrollHeight > one.clientHeight + 2_000)[0];
    if (list === undefined) throw new Error('no column scrolls');
    let left = 180;
    const step = () => {
      list.scrollTop += 60;
      left -= 1;
      if (left === 0) done();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

async function drag(page: Page): Promise<void> {
  const [x, y] = await page.learn<[number, number]>(`(() => {
    const places = [...document.querySelectorAll('[data-column="Drafts"] [draggable=true]')]
      .map((card) => card.getBoundingClientRect());
    // Cards above and below the visible ones are in the page too.
    const card = places.find(({ top, bottom }) => top > innerHeight / 3 && bottom < innerHeight - 100);
    return [card.x + card.width / 2, card.y + 20];
  })()`);
  const to = await page.learn<[number, number]>(`(() => {
    const column = document.querySelector('[data-column="Awaiting review"]').getBoundingClientRect();
    return [column.x + column.width / 2, column.y + 160];
  })()`);
  await page.mouse('move', x, y);
  await page.mouse('down', x, y);
  for (let step = 0; step <= 90; step += 1) {
    const part = step / 90;
    await page.mouse('move', x + (to[0] - x) * part, y + (to[1] - y) * part);
    await wait(14);
  }
  if (!(await page.learn<boolean>("document.querySelector('[data-tray]') !== null")))
    throw new Error('nothing is dragged');
  await page.press('Escape');
  await page.mouse('up', x, y);
}

/** The board's own code that applies a feed, as a script for the page. */
async function appliedFeed(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      lib: {
        entry: fileURLToPath(new URL('../board/applied-feed.ts', import.meta.url)),
        formats: ['iife'],
        name: 'applied',
      },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (chunk === undefined) throw new Error('the script was not built');
  return chunk.code;
}
