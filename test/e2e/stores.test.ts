import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readProjects } from '../../src/config/path-lists.ts';
import { readSettings } from '../../src/config/settings.ts';
import type { StoreHealth } from '../../src/contract/http/state.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

function emptyStore(path: string): string {
  mkdirSync(join(path, '.fibers'), { recursive: true });
  return path;
}

async function polledStores(of: TestDaemon): Promise<string[]> {
  return (await of.state()).poll_health.stores.map((one) => one.store);
}

describe('the stores that are polled', () => {
  it('[DSP-7] are those of SVC_STORES, else those of stores.json, else none', async () => {
    let listed = '';
    daemon = await startTestDaemon({
      prepare(home) {
        listed = emptyStore(home.path('listed'));
        home.write('config/stores.json', { version: 1, stores: [listed] });
        home.fiber('in-the-environment', { front: { status: 'open' } });
        home.fiber('in-the-file', { store: listed, front: { status: 'open' } });
      },
    });
    const rows = async () => (await daemon!.fibers()).map((row) => [row.id, row.store]);
    await until('the listing', async () => (await rows()).length > 0);
    expect(await rows()).toEqual([['in-the-environment', daemon.home.store]]);
    expect(await polledStores(daemon)).toEqual([daemon.home.store]);

    daemon.home.env.SVC_STORES = undefined;
    await daemon.restart();
    await until('the listing', async () => (await rows()).length > 0);
    expect(await rows()).toEqual([['in-the-file', listed]]);

    renameSync(daemon.home.path('config/stores.json'), daemon.home.path('config/elsewhere.json'));
    await daemon.restart();
    await daemon.ticks();
    expect(await polledStores(daemon)).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it('[DSP-1] keep their last-known rows while they cannot be listed, and are reported as stale', async () => {
    daemon = await startTestDaemon({
      prepare(home) {
        emptyStore(home.path('second'));
        home.env.SVC_STORES = `${home.store},${home.path('second')}`;
        home.fiber('kept', { front: { status: 'open', outcome: 'still here' } });
        home.fiber('beside', { store: home.path('second'), front: { status: 'open' } });
      },
    });
    const health = async (store: string): Promise<StoreHealth> =>
      (await daemon!.state()).poll_health.stores.find((one) => one.store === store)!;
    const { home } = daemon;
    await until('both listings', async () => (await daemon!.fibers()).length === 2);
    expect(await health(home.store)).toMatchObject({ state: 'ok', error: null, fibers: 1 });

    renameSync(join(home.store, '.fibers'), join(home.store, 'hidden'));
    const stale = await until('the failure', async () => {
      const one = await health(home.store);
      return one.state === 'stale' ? one : null;
    });
    expect(stale.error).toContain(home.store);
    expect(stale.fibers).toBe(1);
    home.fiber('new-beside', { store: home.path('second'), front: { status: 'open' } });
    await daemon.rowWhen('new-beside', 'listed', () => true);
    await daemon.ticks();
    const feed = await daemon.http.get<{ state: string; fibers: { id: string; outcome?: string }[] }>(
      '/fibers',
    );
    expect(feed.body.state).toBe('partial');
    expect(feed.body.fibers.map((row) => row.id)).toEqual(['beside', 'kept', 'new-beside']);
    expect(feed.body.fibers.find((row) => row.id === 'kept')?.outcome).toBe('still here');
    expect(await health(home.path('second'))).toMatchObject({ state: 'ok' });

    renameSync(join(home.store, 'hidden'), join(home.store, '.fibers'));
    await until('the store being back', async () => (await health(home.store)).state === 'ok');
    await until('the fresh feed', async () => (await daemon!.http.get('/fibers')).body.state === 'fresh');
  });
});

describe('a daemon with a store that was never made and a project that is one', () => {
  let shared: TestDaemon;
  let project = '';
  beforeAll(async () => {
    shared = await startTestDaemon({
      prepare(home) {
        project = emptyStore(home.path('a-project'));
        home.write('config/projects.json', { version: 1, projects: [project] });
        home.env.SVC_STORES = `${home.store},${home.path('never-made')}`;
        home.fiber('filed-into', { store: project });
        home.fiber('here');
      },
    });
  });
  afterAll(() => shared.dispose());

  it('[DSP-8] does not poll the projects of the pickers, which are a separate list', async () => {
    await shared.running('here');
    await shared.ticks();
    expect((await shared.fibers()).map((row) => row.id)).toEqual(['here']);
    expect((await shared.home.sessions()).some((name) => name.startsWith('filed-into'))).toBe(false);
    expect(readProjects(readSettings(shared.home.env))).toMatchObject({ paths: [project], source: 'file' });
    const other = shared.home.project('another');
    const overridden = readSettings({ ...shared.home.env, SVC_PROJECTS: ` ${other} , ` });
    expect(readProjects(overridden)).toMatchObject({ paths: [other], source: 'environment' });
  });

  it('[DSP-1] distinguishes a store that it cannot list from an empty one', async () => {
    const [, missing] = (await shared.state()).poll_health.stores;
    expect(missing).toMatchObject({ state: 'cold', last_ok_at: null });
    expect(missing?.error).toContain('never-made');
    expect((await shared.http.get('/fibers')).body.state).toBe('partial');
  });

  it('[DSP-1] lists an unreadable document with its error, and the others as usual', async () => {
    const text = '---\nid: [unclosed\nstatus: active\n---\n';
    shared.home.write('store/.fibers/broken/broken.md', text);
    shared.home.fiber('sound');
    await shared.running('sound');
    const row = await shared.rowWhen('broken', 'listed with its error', (one) => one.error !== undefined);
    expect(row.runtime).toBeUndefined();
    expect(shared.home.document('broken')).toBe(text);
  });
});
