import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/contract/http/fleet.ts';
import type { Peers } from '../../src/contract/http/peers.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

/** The daemon that is asked, another one with a worker, and what takes connections and says nothing. */
let hub: TestDaemon;
let owner: TestDaemon;
let silent: Server;
beforeAll(async () => {
  silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  [hub, owner] = await Promise.all([
    startTestDaemon({ settings: { SVC_HOST: 'host-a', SVC_REMOTE_ANSWER_MS: '2000' } }),
    startTestDaemon({
      settings: { SVC_HOST: 'host-b' },
      prepare(home) {
        home.fiber('far-away', { agent: 'stays', svc: { host: 'host-b' } });
        home.fiber('plan', { svc: null, front: { tags: ['draft'] }, body: 'Plan the work.\n' });
        home.fiber('shelf', { svc: null });
      },
    }),
  ]);
  await owner.running('far-away');
  const { port } = silent.address() as { port: number };
  hub.home.write('config/remotes.json', {
    remotes: [
      { name: 'host-b', url: `http://${owner.address}` },
      { name: 'silent', port },
      { name: 'nowhere', ssh: 'nowhere-login' },
    ],
  });
  await until('the remotes', async () => (await fleet()).remotes.length === 3);
});
afterAll(async () => {
  silent.close();
  await Promise.all([hub.dispose(), owner.dispose()]);
});

const fleet = async (query = '') => (await hub.http.get<Fleet>(`/fleet${query}`)).body;

describe('the other hosts of a daemon', () => {
  it('[RPL-9] [REC-7] are each told with reach, build and workers, and one that says nothing holds up no other', async () => {
    const { host, remotes } = await fleet();
    expect(host).toBe('host-a');
    const { version, git_short_sha } = await owner.version();
    expect(remotes).toMatchObject([
      {
        name: 'host-b',
        source: 'file',
        address: owner.address,
        reach: { state: 'answers', error: null },
        build: { version, git_short_sha, ready: true },
        workers: { running: 1 },
      },
      { name: 'silent', reach: { state: 'no_answer', last_ok_at: null }, build: null, workers: null },
      { name: 'nowhere', ssh: 'nowhere-login', address: null, reach: { state: 'no_address' } },
    ]);
    expect(await fleet('?origin=host-b')).toEqual({ host: 'host-b', remotes: [] });
  });

  it('[RPL-9] are shown by svc fleet on one line each', async () => {
    const { stdout, code } = await hub.home.svc('fleet');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^host-a\s+this host\s+-\s+0\s+0\s/);
    expect(stdout).toMatch(/^host-b\tanswers\t\d+ s\t1\t0\t[\d.]+$/m);
    expect(stdout).toMatch(/^silent\tno answer\t-\t-\t-\t-$/m);
    expect(stdout).toMatch(/^nowhere\tno address\t/m);
    const json = JSON.parse((await hub.home.svc('fleet', '--json')).stdout);
    expect(json).toMatchObject({
      host: 'host-a',
      here: { host: 'host-a' },
      remotes: [{ name: 'host-b' }, {}, {}],
    });
  });

  it('[RPL-15] [RPL-25] [REC-4] have their sessions among the peers, and those that cannot be asked are gaps', async () => {
    const { body } = await hub.http.get<Peers>('/peers');
    const theirs = (await owner.http.get<Peers>('/peers?local=true')).body.sessions;
    expect(theirs).toMatchObject([{ address: expect.stringMatching(/^svc:\/\/host-b\/claude\//) }]);
    expect(body).toMatchObject({
      host: 'host-a',
      sessions: theirs,
      gaps: [
        { host: 'silent', error: 'deadline_exceeded' },
        { host: 'nowhere', error: 'invalid_config' },
      ],
    });
    expect((await hub.http.get<Peers>('/peers?local=true')).body).toMatchObject({ sessions: [], gaps: [] });
    const { stdout } = await hub.home.svc('peers');
    expect(stdout).toContain(theirs[0]!.address);
    expect(stdout).toMatch(/^The sessions of silent are not listed: silent did not answer within 2 s/m);
  });

  it('[RTE-2] [MSG-1] have their fibers found by the verbs that name one', async () => {
    const { home } = hub;
    const why = await until('the fibers of the remote', async () => {
      const ran = await home.svc('why', 'far-away');
      return ran.code === 0 ? ran : null;
    });
    expect(why.stdout).toMatch(/^far-away runs/);
    expect(why.stderr).toBe('svc: far-away is on host-b\n');
    expect((await home.svc('status', 'far-away', '--host', 'host-b')).stdout).toContain('far-away');
    const log = JSON.parse((await home.svc('log', 'far-away', '--json')).stdout);
    expect(log).toMatchObject({ host: 'host-b', fiber: { id: 'far-away' } });
    const sent = JSON.parse((await home.svc('send', 'far-away', 'Hello.', '--json')).stdout);
    expect(sent.address).toMatch(/^svc:\/\/host-b\/claude\//);
    expect((await home.svc('kill', 'far-away', '--yes')).stdout).toMatch(/^Stopped far-away/);
    await owner.rowWhen('far-away', 'without a worker', ({ runtime }) => runtime === undefined);
    expect((await home.svc('dispatch', 'far-away', '--force', '--yes')).stdout).toMatch(
      /^far-away (?:started|resumed): /,
    );
    await owner.running('far-away');
    const missing = await home.svc('why', 'nowhere-at-all');
    expect(missing.code).toBe(1);
    const unknown = await home.svc('kill', 'far-away', '--host', 'host-z', '--yes');
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no host is called host-z. Did you mean'),
    });
  });

  it('[RTE-2] [WPL-2] [WPL-3] have their fibers changed by the verbs of the lifecycle', async () => {
    const { home } = hub;
    await until('the fibers of the remote', async () => (await home.svc('why', 'far-away')).code === 0);
    const shown = await home.svc('set-outcome', 'far-away', 'Shown.', '--dry-run');
    expect(shown).toMatchObject({ code: 0, stderr: 'svc: far-away is on host-b\n' });
    expect(shown.stdout).toContain('+outcome: Shown.');
    expect((await owner.row('far-away'))?.outcome).toBeUndefined();

    const written = await home.svc('set-outcome', 'far-away', 'Told from afar.', '--json');
    expect(JSON.parse(written.stdout)).toMatchObject({
      fiber: { id: 'far-away', outcome: 'Told from afar.', store: owner.home.store },
    });
    expect(await home.svc('pause', 'far-away', '--host', 'host-b')).toMatchObject({ code: 0, stderr: '' });
    await owner.rowWhen('far-away', 'paused', ({ status }) => status === 'open');
    expect((await home.svc('resume', 'far-away')).code).toBe(0);
    await owner.rowWhen('far-away', 'active', ({ status }) => status === 'active');
    const at_rest = await home.svc('reopen', 'far-away', '--message', 'Once more.');
    expect(at_rest).toMatchObject({ code: 2, stderr: expect.stringContaining('far-away is not closed') });

    // The folder is one of its host, which refuses what it does not have.
    const refused = await home.svc('install', 'plan', '--project-dir', '/srv/nowhere');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not a directory: /srv/nowhere'),
    });
    expect((await home.svc('install', 'plan', '--project-dir', owner.home.root)).code).toBe(0);
    await owner.rowWhen('plan', 'of its own host', ({ svc }) => svc?.host === 'host-b');
    expect((await home.svc('uninstall', 'plan', '--yes')).code).toBe(0);
    await owner.rowWhen('plan', 'a plain document', ({ svc }) => svc === undefined);

    const missing = await home.svc('pause', 'nowhere-at-all');
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('nowhere-at-all') });
  });

  it('[RTE-2] [WPL-11] [WPL-12] have their documents shown, edited and filed by the verbs of fibers', async () => {
    const { home } = hub;
    await until('the fibers of the remote', async () => (await home.svc('why', 'far-away')).code === 0);
    expect(await home.svc('fiber', 'show', 'plan', '--body-only')).toMatchObject({
      code: 0,
      stdout: 'Plan the work.\n',
      stderr: 'svc: plan is on host-b\n',
    });
    const edited = await home.svc(
      ...['fiber', 'edit', 'plan', '--host', 'host-b', '--json'],
      ...['--tag', 'urgent', '--untag', 'draft', '--body', 'Plan it today.', '--set', 'horizon=now'],
    );
    expect(JSON.parse(edited.stdout)).toMatchObject({
      fiber: { id: 'plan', tags: ['urgent'], horizon: 'now', body: 'Plan it today.\n' },
    });
    const late = await home.svc(
      'fiber',
      'edit',
      'plan',
      '--name',
      'Late',
      '--expected-digest',
      '0'.repeat(64),
    );
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('changed') });
    const roster = await home.svc(
      'fiber',
      'edit',
      'plan',
      '--collaboration',
      '{"reviewer":["ada"]}',
      '--json',
    );
    expect(JSON.parse(roster.stdout)).toMatchObject({ fiber: { collaboration: { reviewer: ['ada'] } } });

    const shown = await home.svc('fiber', 'nest', 'plan', '--under', 'shelf', '--dry-run');
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was written') });
    const nested = await home.svc('fiber', 'nest', 'plan', '--under', 'shelf');
    expect(nested).toMatchObject({ code: 0, stdout: expect.stringContaining('plan is now shelf/plan') });
    await owner.rowWhen('shelf/plan', 'filed', ({ name }) => name === 'Fiber plan');
  });

  it('[RPL-9] [RPL-15] say so at once when they have stopped', async () => {
    await owner.kill9();
    const { remotes } = await fleet();
    expect(remotes[0]).toMatchObject({
      name: 'host-b',
      reach: { state: 'no_answer', last_ok_at: expect.any(Number), error: { code: 'remote_unreachable' } },
    });
    const { gaps } = (await hub.http.get<Peers>('/peers')).body;
    expect(gaps.map(({ host }) => host)).toEqual(['host-b', 'silent', 'nowhere']);
  });
});
