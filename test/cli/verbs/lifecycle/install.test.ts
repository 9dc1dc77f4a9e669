import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runVerb } from '../../../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../../../fixtures/fibers/temp-store.ts';

let temp: TempStore;
beforeEach(async () => {
  temp = createTempStore();
  await temp.store.create({ name: 'a' });
});
afterEach(() => temp.remove());
/** Codex is there, Pi is not. */
const run = (verb: string, args: string[], path = programs()) =>
  runVerb([verb, ...args], {
    env: { PATH: path, SVC_STORES: temp.root, SVC_HOST: 'host-a', SVC_DATA_DIR: `${temp.root}/data` },
    cwd: temp.root,
  });

function programs(): string {
  const bin = `${temp.root}/bin`;
  mkdirSync(bin, { recursive: true });
  for (const name of ['codex', 'claude']) writeFileSync(`${bin}/${name}`, '', { mode: 0o755 });
  return bin;
}

describe('service verbs', () => {
  it('[FIB-5] installs a fiber on this host, in a folder given relative to the current one', async () => {
    expect(
      await run('install', ['a', '--project-dir', '.', '--agent', 'codex', '--effort', 'high']),
    ).toMatchObject({
      code: 0,
      out: 'a: ready to start, once on host-a\nNo daemon runs here; start it with: svc daemon start\n',
    });
    expect(temp.store.read('a')).toMatchObject({
      status: 'active',
      svc: { kind: 'oneshot', host: 'host-a', project_dir: temp.root, agent: 'codex', effort: 'high' },
    });
  });

  describe('with an agent whose program is not there', () => {
    const absent = ['--project-dir', '.', '--agent', 'pi'];

    it.each([
      ['install', absent],
      ['install', [...absent, '--dry-run']],
      ['repeat', [...absent, '--schedule', '@daily']],
      ['pin', absent],
    ])('refuses it, names the mend and --anyway, and writes nothing: svc %s', async (verb, more) => {
      const { digest } = temp.store.read('a');
      expect(await run(verb, ['a', ...more])).toMatchObject({
        ...{ code: null, error: 'agent_unavailable' },
        err: 'agent pi cannot start here: Pi is not installed (npm install -g @earendil-works/pi-coding-agent, then run "pi" once to sign in). To have it ready to start all the same, add --anyway',
      });
      expect(temp.store.read('a').digest).toBe(digest);
    });

    it('takes it with --anyway, and warns', async () => {
      const { code, err } = await run('install', ['a', ...absent, '--anyway']);
      expect([code, err]).toEqual([
        0,
        expect.stringContaining('svc: warning: the fiber is written, but agent pi cannot start here: '),
      ]);
      expect(temp.store.read('a')).toMatchObject({ status: 'active', svc: { agent: 'pi' } });
    });

    it('warns of the one that has the model', async () => {
      await run('install', ['a', '--project-dir', '.']);
      const { code, err } = await run('set-model', ['a', 'gpt-6.1-sol'], '/nowhere');
      expect([code, err]).toEqual([0, expect.stringContaining('agent codex-sol cannot start here: ')]);
    });

    it('takes it for another host, and from a daemon that has asked for the document alone', async () => {
      expect(
        await run('install', ['a', '--project-dir', '/srv/x', '--agent', 'pi', '--host', 'host-b']),
      ).toMatchObject({
        code: 0,
      });
      expect(await run('install', ['a', ...absent, '--host', 'host-a', '--local'])).toMatchObject({
        code: 0,
      });
    });

    it('warns of one that would take over at a usage limit', async () => {
      await run('install', ['a', '--project-dir', '.']);
      const { code, err } = await run('reshape', ['a', '--on-limit', 'pi']);
      expect(code).toBe(0);
      expect(err).toContain(
        'svc: warning: the fiber is written, but agent pi, which takes over at a usage limit, cannot start here: Pi is not installed (npm',
      );
    });
  });

  it('[CAP-7] installs a fiber as an app conversation, with an agent that supports them', async () => {
    const app = ['a', '--project-dir', '.', '--surface', 'app', '--json'];
    expect(JSON.parse((await run('install', app)).out).fiber.svc).toMatchObject({ surface: 'app' });
    expect(JSON.parse((await run('install', [...app, '--agent', 'codex'])).out).fiber.svc).toMatchObject({
      surface: 'app',
      agent: 'codex',
    });
  });

  it.each([
    ['agent', ['--agent', 'nobody'], 'agent_unknown', /no agent "nobody".*claude.*codex.*svc agents/],
    ['effort', ['--agent', 'codex', '--effort', 'huge'], 'effort_unknown', /takes one of .*high.*"huge"/],
    [
      'surface',
      ['--agent', 'claude-opus', '--surface', 'app'],
      'surface_unsupported',
      /codex agent \(.*codex/,
    ],
  ])(
    '[WPL-3] refuses an unsupported %s, lists the supported ones, and writes nothing',
    async (_what, more, code, said) => {
      const { digest } = temp.store.read('a');
      const refused = await run('install', ['a', '--project-dir', '.', ...more]);
      expect(refused).toMatchObject({ code: null, error: code, err: expect.stringMatching(said) });
      expect(temp.store.read('a').digest).toBe(digest);
    },
  );

  it('[OPF-3] names the fault of the agents file, and takes it for the reason why an agent of it is unknown', async () => {
    const config = `${temp.root}/config`;
    mkdirSync(config);
    writeFileSync(`${config}/agents.json`, '{"agents": [{"id": "mine", "harness": "emacs"}]}');
    const install = (agent: string) =>
      runVerb(['install', 'a', '--project-dir', '.', '--agent', agent], {
        env: { PATH: programs(), SVC_STORES: temp.root, SVC_HOST: 'host-a', SVC_CONFIG_DIR: config },
        cwd: temp.root,
      });
    const fault = expect.stringContaining(`${config}/agents.json is not valid at agents.0`);
    expect(await install('mine')).toMatchObject({ error: 'agent_unknown', err: fault });
    expect(await install('codex')).toMatchObject({ code: 0, err: fault });
  });

  it('gives a ULID to a document without one, since it could not be dispatched otherwise', async () => {
    temp.write('old/old.md', 'just text\n');
    await run('install', ['old', '--project-dir', '.']);
    expect(temp.store.read('old')).toMatchObject({
      uid: expect.stringMatching(/^[0-9A-Z]{26}$/),
      body: 'just text\n',
    });
  });

  it('[STD-1] repeats on a schedule, then pins, then uninstalls twice', async () => {
    const args = ['a', '--project-dir', '.', '--schedule', '0 9 * * 1-5', '--tz', 'Europe/Paris', '--json'];
    expect(JSON.parse((await run('repeat', args)).out).fiber.svc).toMatchObject({
      kind: 'standing',
      schedule: '0 9 * * 1-5',
      tz: 'Europe/Paris',
      runtime: { handed_off_at: expect.any(String) },
    });
    expect((await run('pin', ['a'])).out).toBe(
      'a: draft, by hand on host-a\nIt is started by hand: svc dispatch a\n',
    );
    expect(temp.store.read('a').svc).not.toHaveProperty('schedule');
    expect((await run('uninstall', ['a', '--yes'])).out).toBe('a: draft, no worker is started for it\n');
    const { digest } = temp.store.read('a');
    expect((await run('uninstall', ['a', '--yes'])).code).toBe(0);
    expect(temp.store.read('a').digest).toBe(digest);
  });

  it.each<[string, string[], string]>([
    ['install', ['a'], 'project_dir_missing'],
    ['install', ['a', '--project-dir', 'nowhere'], 'project_dir_missing'],
    ['install', ['a', '--project-dir', 'x', '--host', 'elsewhere'], 'invalid_request'],
    ['install', ['a', '--project-dir', '.', '--surface', 'web'], 'invalid_request'],
    ['repeat', ['a', '--project-dir', '.', '--schedule', 'often'], 'invalid_request'],
    ['repeat', ['a', '--project-dir', '.', '--schedule', '@daily', '--tz', 'Nowhere'], 'invalid_request'],
    ['uninstall', ['nobody', '--yes'], 'fiber_not_found'],
  ])('refuses %#', async (verb, args, error) => {
    const { digest } = temp.store.read('a');
    expect(await run(verb, args)).toMatchObject({ code: null, error });
    expect(temp.store.read('a').digest).toBe(digest);
  });

  it('accepts a folder of another host unchanged', async () => {
    await run('install', ['a', '--project-dir', '/only/there', '--host', 'host-z']);
    expect(temp.store.read('a').svc).toMatchObject({ host: 'host-z', project_dir: '/only/there' });
  });
});
