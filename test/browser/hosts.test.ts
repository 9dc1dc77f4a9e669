import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FibersComposite, FibersWhole } from '../../src/contract/http/fibers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';
import { Chromium, NO_BROWSER, type View } from './chromium.ts';
import { axeFaults, click, read, VIEWS, words } from './controls.ts';
import { cards, cardWhen, DESKTOP, faults, PHONE } from './desk-page.ts';
import { type FleetProxy, startFleetProxy } from './fleet-proxy.ts';

const AGO = 38 * 60_000;

let daemon: TestDaemon;
let fleet: FleetProxy;
let browser: Chromium;
/** The rows of the daemon as a page was told them first, which asks for all of them only once. */
let kept: FibersWhole['fibers'] = [];

/** Beside the daemon a host that is fresh, one whose answer is old, and one that never answered. */
function others({ host, origins }: FibersComposite): FibersComposite['origins'] {
  const own = origins[host]?.read;
  if (own != null && 'fibers' in own) kept = own.fibers;
  const worker: NonNullable<FibersWhole['fibers'][number]['runtime']> = {
    mux_session: 'far-svc',
    surface: 'cli',
    agent: 'atlas',
    harness: 'claude',
    session_uuid: null,
    state: 'running',
    phase: 'working',
    phase_since: 1,
    phase_source: 'hook',
    said: null,
    run_id: 'r',
    started_at: 1,
    last_activity_at: null,
  };
  const feedOf = (name: string): FibersWhole => ({
    ...{ host: name, state: 'fresh', generated_at: 1, tag: `${name}-1`, whole: true },
    fibers: kept.map((row) => ({
      ...row,
      name: `${row.name} of ${name}`,
      ...(row.id === 'sketch' ? { status: 'active' as const, runtime: worker } : {}),
      svc: { ...row.svc, host: name },
    })),
  });
  return {
    mesa: { state: 'fresh', last_ok_at: Date.now(), error: null, build: 'abc1234', read: feedOf('mesa') },
    tarn: {
      ...{ state: 'stale', last_ok_at: Date.now() - AGO, build: 'abc1234', read: feedOf('tarn') },
      error: { code: 'timeout', message: 'tarn did not answer within 5 s.' },
    },
    quarry: {
      ...{ state: 'no_answer', last_ok_at: null, build: null, read: null },
      error: { code: 'unreachable', message: 'ssh: Could not resolve hostname quarry.' },
    },
  };
}

const open = (view: View, address = '/') =>
  browser.open(`http://${fleet.address}${address}`, { view: (page) => page.look(view) });
const hosts = `[...document.querySelectorAll('dialog [data-host]')].map(({ dataset }) => [dataset.host, dataset.tick])`;

const TITLE = `the hosts of a board in a browser${NO_BROWSER === null ? '' : ` (${NO_BROWSER})`}`;

describe.skipIf(NO_BROWSER !== null)(TITLE, () => {
  beforeAll(async () => {
    browser = new Chromium();
    daemon = await startTestDaemon({
      settings: { SVC_HOST: 'harbor' },
      prepare(home) {
        home.fiber('sketch', { front: { status: 'open' } });
        home.fiber('plan', { front: { status: 'open' } });
      },
    });
    fleet = await startFleetProxy(daemon.address, others);
  });

  afterAll(async () => {
    await browser?.close();
    await fleet?.close();
    await daemon?.dispose();
  });

  it('[RPL-2] [TMP-8] shows the fibers of every host, and how old those of a host are that is not fresh', async () => {
    const page = await open(DESKTOP);
    await read(page, '2 of 4 hosts fresh');
    const shown = await until('the drafts of three hosts', async () => {
      const all = await cards(page);
      return all.filter(({ fiber }) => fiber === 'plan').length === 3 && all;
    });
    expect(shown.filter(({ fiber }) => fiber === 'plan').map(({ state }) => state)).toEqual([
      'draft',
      'draft',
      'draft',
    ]);
    const far = await cardWhen(page, 'sketch', 'of tarn', ({ text }) => text.includes('of tarn'));
    expect(far).toMatchObject({ column: 'In flight', state: 'unknown' });
    expect(far.text).toContain('tarn, 38 min old');
    expect(far.text).toContain('Working when tarn was last heard of.');
    const rail = await page.learn<string>(`document.querySelector('aside').innerText`);
    expect(rail.replaceAll(/\s+/g, ' ')).toContain('Hosts not fresh quarry no answer tarn 38 min old');
    expect(faults(page)).toEqual([]);
  });

  it('says of what is done to a fiber of such a host that it rests on its last known state', async () => {
    const page = await open(DESKTOP);
    await until('the card of tarn', () =>
      page.learn<boolean>(`(() => {
        const card = [...document.querySelectorAll('article[data-fiber=plan]')].find((one) => one.innerText.includes('of tarn'));
        card?.focus();
        return card !== undefined;
      })()`),
    );
    await page.press('.');
    await read(page, 'Asked of tarn, which owns it, on its last known state.');
  });

  it('opens the fiber of the host whose card is clicked, where others have the same id', async () => {
    const page = await open(DESKTOP);
    await until('the card of tarn', () =>
      page.learn<boolean>(`(() => {
        const card = [...document.querySelectorAll('article[data-fiber=plan]')].find((one) => one.innerText.includes('of tarn'));
        card?.click();
        return card !== undefined;
      })()`),
    );
    await until('the sheet of tarn', () =>
      page.learn<boolean>(
        `document.querySelector('[data-fiber-sheet] h2')?.innerText === 'Fiber plan of tarn'`,
      ),
    );
    expect(await page.learn('location.search')).toBe('?fiber=plan&origin=tarn');
  });

  it('lists the hosts with g and h, what is wrong first, and leads to their fibers', async () => {
    const page = await open(DESKTOP);
    await read(page, '2 of 4 hosts fresh');
    await page.press('g');
    await page.press('h');
    await read(page, 'ssh: Could not resolve hostname quarry.');
    expect(await page.learn(hosts)).toEqual([
      ['quarry', 'none'],
      ['tarn', 'stale'],
      ['harbor', 'fresh'],
      ['mesa', 'fresh'],
    ]);
    const said = (await words(page)).replaceAll(/\s+/g, ' ');
    for (const word of [
      'quarry no answer so far',
      'tarn stale: its last good answer is 38 min old',
      'this host, live',
      '2 fibers, 1 worker',
      'build abc1234, not that of this host',
    ])
      expect(said).toContain(word);
    await click(page, 'Its fibers: tarn');
    await read(page, 'Fiber plan of tarn');
    expect(await page.learn('location.search')).toBe('?sheet=find&q=tarn');
  });

  it('opens the list with a click in the top bar, and leads on to the health of its own host', async () => {
    const page = await open(PHONE);
    await read(page, '2 of 4 hosts fresh');
    await page.learn(`document.querySelector('header [title^="How fresh"]').click()`);
    await read(page, 'Health of this host');
    expect(await page.learn('location.search')).toBe('?sheet=hosts');
    await click(page, 'Health of this host');
    await read(page, 'All is well');
  });

  it.each(VIEWS)('has no serious fault with its list of hosts: %s', async (_, view) => {
    const page = await open(view, '/?sheet=hosts');
    await read(page, 'ssh: Could not resolve hostname quarry.');
    expect(await axeFaults(page)).toEqual([]);
  });
});
