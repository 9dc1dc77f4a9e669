import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConfigFile, ConfigWritten, StoreOrigin } from '../../src/contract/http/config.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { findProgram } from '../kit/find-program.ts';
import { TEST_HOST } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      home.env.SVC_STORES = undefined;
      home.env.DISPLAY = ':nowhere';
      home.env.PATH = `${home.path('bin')}:${home.env.PATH}`;
      home.write('config/stores.json', { version: 1, stores: [home.store], mine: true });
      home.fiber('first', { front: { status: 'open' } });
    },
  });
});
afterAll(() => daemon.dispose());

const lists = async () =>
  (await daemon.http.get<{ origins: Record<string, StoreOrigin> }>('/fiber-stores')).body.origins[TEST_HOST]!;
const read = async (id: string) => (await daemon.http.get<ConfigFile>(`/config/${id}`)).body;
const ids = async () => (await daemon.fibers()).map((row) => row.id);

function storeWith(name: string, fiber: string): string {
  const store = daemon.home.path(name);
  mkdirSync(join(store, '.fibers'), { recursive: true });
  daemon.home.fiber(fiber, { store, front: { status: 'open' } });
  return store;
}

describe('the operator files of a daemon', () => {
  it('[RPL-7] [RTE-3] are listed only for this host', async () => {
    const { body } = await daemon.http.get<{ host: string; files: ConfigFile[] }>('/config');
    expect(body).toMatchObject({ host: TEST_HOST });
    expect(body.files.map((file) => file.id)).toEqual(['stores', 'projects', 'agents', 'remotes', 'host']);
    for (const path of ['/config', '/config/stores', '/agents'])
      expect(await daemon.http.get(`${path}?origin=elsewhere`)).toMatchObject({
        status: 404,
        body: { error: 'unknown_host', origin: 'elsewhere' },
      });
    for (const [path, rest] of [
      ['/config/stores', { text: '' }],
      ['/fiber-stores', { stores: [] }],
      ['/projects', { projects: [] }],
      ['/choose-folder', {}],
    ] as const)
      expect((await daemon.http.post(path, { ...rest, origin: 'elsewhere' })).body.error).toBe(
        'unknown_host',
      );
    expect((await daemon.http.get('/config/passwd')).status).toBe(404);
    expect(await ids()).toEqual(['first']);
  });

  it('[WPL-14] [RPL-6] [REC-8] a new list of stores is polled at once, and the fibers of a removed store disappear', async () => {
    const second = storeWith('second', 'second');
    const before = await lists();
    expect(before).toMatchObject({ stores: [daemon.home.store], projects: [], browser_capable: false });
    const list = { stores: [daemon.home.store, second], expected_digest: before.stores_digest };
    const rehearsed = await daemon.http.post('/fiber-stores', { ...list, dry_run: true });
    expect(rehearsed.body).toMatchObject({
      dry_run: true,
      documents: [{ diff: expect.stringContaining(second) }],
    });
    expect((await lists()).stores).toEqual([daemon.home.store]);

    const written = await daemon.http.post('/fiber-stores', list);
    expect(written).toMatchObject({ status: 200, body: { changed: true, in_force: true, note: null } });
    await until('both stores', async () => (await ids()).join() === 'first,second');
    expect(JSON.parse(readFileSync(daemon.home.path('config/stores.json'), 'utf8'))).toMatchObject({
      mine: true,
    });

    const late = await daemon.http.post('/fiber-stores', list);
    expect(late).toMatchObject({
      status: 409,
      body: { error: 'conflict', conflict: true, digest: written.body.digest },
    });
    const { digest } = (await daemon.http.post('/fiber-stores', { stores: [daemon.home.store] })).body;
    expect(await ids()).toEqual(['first']);
    expect((await lists()).stores_digest).toBe(digest);
    expect((await daemon.http.post('/fiber-stores', { stores: ['notes'] })).status).toBe(400);
  });

  it('[OPF-6] [WPL-16] an empty text removes the stores, and a text restores them', async () => {
    const { text } = await read('stores');
    const gone = await daemon.http.post<ConfigWritten>('/config/stores', { text: '' });
    expect(gone.body).toMatchObject({ removed: true, in_force: true });
    expect(existsSync(daemon.home.path('config/stores.json'))).toBe(false);
    expect(await ids()).toEqual([]);
    const back = await daemon.http.post<ConfigWritten>('/config/stores', {
      text,
      expected_digest: gone.body.digest,
    });
    expect(back.body).toMatchObject({ removed: false, changed: true, in_force: true });
    await until('the store', async () => (await ids()).length === 1);
    expect((await read('stores')).text).toBe(text);
  });

  it('a list edited by hand takes effect with a later tick, and an invalid one does not', async () => {
    const third = storeWith('third', 'third');
    daemon.home.write('config/stores.json', '["/broken"');
    await daemon.ticks();
    expect(await ids()).toEqual(['first']);
    daemon.home.write('config/stores.json', [daemon.home.store, third]);
    await until('the third store', async () => (await ids()).join() === 'first,third');
    await daemon.http.post('/fiber-stores', { stores: [daemon.home.store] });
  });

  it('[ERR-4] [OPF-3] [RPL-5] agents are validated, and valid ones are available at once', async () => {
    const { text, digest } = await read('agents');
    const refused = await daemon.http.post('/config/agents', { text: '{"agents": [{"id": "x"}]}' });
    expect(refused).toMatchObject({ status: 400, body: { error: 'validator_refused' } });
    expect(refused.body.message).toContain('agents.0');
    const more = JSON.parse(text) as { agents: object[] };
    more.agents.push({ id: 'newest', harness: 'claude', env: { TOKEN: 'hunter2' } });
    const written = await daemon.http.post('/config/agents', {
      text: JSON.stringify(more),
      expected_digest: digest,
    });
    expect(written.body).toMatchObject({ in_force: true, restart_required: false });
    const { text: registry } = await daemon.http.get('/agents');
    expect(registry).toContain('"newest"');
    expect(registry).not.toContain('hunter2');
    const command = await daemon.home.svc('agents', '--json');
    expect(JSON.parse(command.stdout)).toEqual(JSON.parse(registry));
    await daemon.http.post('/config/agents', { text });
  });

  it('[DSP-3] [OPF-4] the host file takes effect after a restart, and the answer says so', async () => {
    const written = await daemon.http.post('/config/host', {
      text: '{"host_class": "exposed", "max_concurrent": 2}',
    });
    expect(written.body).toMatchObject({
      in_force: false,
      restart_required: true,
      overridden_by: 'SVC_HOST',
    });
    expect(written.body.note).toMatch(/svc daemon restart.*SVC_LISTEN=unix/);
    expect((await daemon.http.post('/config/host', { text: '' })).body).toMatchObject({ in_force: true });
  });

  it('[WPL-15] a project is made a store and appended once, also by concurrent requests', async () => {
    const folders = ['one', 'two', 'three'].map((name) => daemon.home.path(`dev/${name}`));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const [one = ''] = folders;
    const shown = await daemon.http.post('/projects', { path: one, dry_run: true });
    expect(shown.body.would).toContain(`make ${one} a store and write`);
    expect(existsSync(join(one, '.fibers'))).toBe(false);

    const answers = await Promise.all(
      [...folders, one].map((path) => daemon.http.post('/projects', { path })),
    );
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    const { projects, projects_digest } = await lists();
    expect(projects.toSorted()).toEqual(folders.toSorted());
    for (const folder of folders) expect(existsSync(join(folder, '.fibers'))).toBe(true);
    const again = await daemon.http.post('/projects', { path: `${one}/` });
    expect(again.body).toMatchObject({ changed: false, initialised: false, project: one });

    expect(await daemon.http.post('/projects', { path: daemon.home.path('nowhere') })).toMatchObject({
      status: 400,
      body: { error: 'not_a_directory', message: expect.stringMatching(/^not a directory: /) },
    });
    expect((await daemon.http.post('/projects', { path: one, projects: [] })).status).toBe(400);
    const whole = { projects: [one], expected_digest: projects_digest };
    expect((await daemon.http.post('/projects', whole)).body.projects).toEqual([one]);
    expect(await daemon.http.post('/projects', whole)).toMatchObject({
      status: 409,
      body: { conflict: true },
    });
    // Projects of the pickers are not polled (DSP-8).
    expect((await daemon.state()).poll_health.stores.map(({ store }) => store)).toEqual([daemon.home.store]);
  });

  it('[WPL-20] [ERR-22] asks a person for a folder, and closes the dialog when the client disconnects', async () => {
    const picker = (script: string) =>
      chmodSync(daemon.home.write('bin/zenity', `#!/bin/sh\n${script}\n`), 0o755);
    // A desktop may have one of its own, which would open a dialog.
    const has_one = ['zenity', 'kdialog'].some((name) => findProgram(name, process.env.PATH ?? '') !== null);
    expect((await lists()).native_folder_picker).toBe(has_one);
    if (!has_one)
      expect(await daemon.http.post('/choose-folder', {})).toMatchObject({
        status: 501,
        body: { error: 'folder_picker_unavailable' },
      });
    picker('echo /srv/dev');
    expect((await lists()).native_folder_picker).toBe(true);
    expect((await daemon.http.post('/choose-folder', { title: 'Which?' })).body).toEqual({
      ok: true,
      path: '/srv/dev',
    });
    picker('exit 1');
    expect((await daemon.http.post('/choose-folder', {})).body).toEqual({ ok: false, cancelled: true });
    expect((await daemon.http.post('/choose-folder', { dry_run: true })).status).toBe(400);

    picker(`echo $$ > ${daemon.home.path('shown')}; exec sleep 60`);
    const [host, port] = daemon.address.split(':');
    const asked = request({
      ...{ host, port, method: 'POST', path: '/api/v1/choose-folder' },
      headers: { 'content-type': 'application/json' },
    });
    asked.on('error', () => undefined);
    asked.end('{}');
    const pid = await until('the dialog', () => {
      try {
        return Number(readFileSync(daemon.home.path('shown'), 'utf8')) || null;
      } catch {
        return null;
      }
    });
    expect((await daemon.http.post('/choose-folder', {})).body.error).toBe('dialog_open');
    asked.destroy();
    await until('the end of the dialog', () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });
});

describe('a daemon with an external CLI', () => {
  it('[ERR-27] [WPL-16] writes nothing while that CLI cannot run, and says to retry', async () => {
    const own = await startTestDaemon({
      prepare(home) {
        const cli = home.write(
          'cli',
          `#!/bin/sh\n[ "$1" != remotes ] || exec sleep 30\n[ "$1" != agents ] || exit 127\necho '{"host": "${TEST_HOST}", "contract": 1}'\n`,
        );
        chmodSync(cli, 0o755);
        Object.assign(home.env, { SVC_CLI: cli, SVC_CLI_TIMEOUT_MS: '300' });
      },
    });
    try {
      for (const id of ['remotes', 'agents'])
        expect(await own.http.post(`/config/${id}`, { text: '{}' })).toMatchObject({
          status: 503,
          body: { error: 'cli_unavailable', message: expect.stringContaining('nothing was written') },
        });
      expect(existsSync(own.home.path('config/remotes.json'))).toBe(false);
      expect((await own.http.post('/config/host', { text: `{"host": "${TEST_HOST}"}` })).status).toBe(200);
    } finally {
      await own.dispose();
    }
  });
});
