import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paint } from '../../../src/cli/command-line/styled-text.ts';
import { type Finding, ok } from '../../../src/cli/verbs/doctor/check.ts';
import { doctorPage } from '../../../src/cli/verbs/doctor/doctor-page.ts';
import { isOlder } from '../../../src/cli/verbs/doctor/runtime.ts';
import { stateAnswer, versionAnswer } from '../answers.ts';
import { type Answers, createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

let machine: Machine;
let daemon: StandIn | undefined;
let taken: Server | undefined;

beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
  await new Promise((resolve) => (taken === undefined ? resolve(null) : taken.close(resolve)));
  taken = undefined;
  machine.remove();
});

async function serve(answers: Answers): Promise<void> {
  daemon = await serveAnswers(answers);
  machine.writeDaemonFile([daemon.listen]);
}

async function examine(): Promise<{ code: number; ok: boolean; of(name: string): Finding[] }> {
  const { code, out } = await machine.svc('doctor', '--json');
  const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  return { code, ok, of: (name) => findings.filter((finding) => finding.name === name) };
}

function write(name: string, value: unknown): string {
  const path = join(machine.config_dir, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

describe('svc doctor', () => {
  it('finds no failure on a fresh machine, and gives every warning its fix', async () => {
    const { code, out } = await machine.svc('doctor', '--json');
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    for (const finding of findings) expect(finding.mend === null).toBe(finding.level === 'ok');
    expect(findings.filter((finding) => ['node', 'native http', 'tmux'].includes(finding.name))).toEqual([
      { name: 'node', level: 'ok', what: `Node ${process.versions.node}`, mend: null },
      { name: 'native http', level: 'ok', what: 'the HTTP module loads', mend: null },
      { name: 'tmux', level: 'ok', what: expect.stringMatching(/^tmux \d.* \(\/.*\/tmux\)$/), mend: null },
    ]);
  });

  it('prints for a person what is wrong and how to fix it', async () => {
    const { out } = await machine.svc('doctor');
    expect(out).toContain(
      'warn  daemon: the daemon does not run\n      fix: start it with: svc daemon start\n',
    );
  });

  it('prints on a terminal what keeps work from starting, what to know, and how much is well', async () => {
    Object.assign(machine.context, { outIsTerminal: true, columns: 80, colour: false });
    machine.env.PATH = machine.folder;
    const { out } = await machine.svc('doctor');
    expect(out).toMatch(
      /^\d+ things? keeps? work from starting\n {2}x tmux is not on the PATH +install tmux /,
    );
    expect(out).toMatch(
      /\n\d+ to know\n[\s\S]* {2}! the daemon does not run +start it with: svc daemon start\n/,
    );
    expect(out).toMatch(/\n\d+ checks? passed \(svc doctor --all\)\n$/);
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect((await machine.svc('doctor', '--all')).out).toContain('ok    node: ');
  });

  it('says on a terminal of a new machine what it lacks before its first work, and exits with 0', async () => {
    Object.assign(machine.context, { outIsTerminal: true, columns: 80, colour: false });
    machine.env.PATH = '/usr/bin:/bin';
    const { code, out } = await machine.svc('doctor');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^2 things to do before the first work\n {2}! no store {3}svc fiber init ~\/fibers\n/,
    );
    expect(out).not.toContain('work from starting');
  });

  it('is one line on a terminal where all is well', () => {
    const page = doctorPage([ok('node', 'Node 22'), ok('tmux', '3.3')], { width: 80, unicode: true }, false);
    expect(paint(page, false, (part) => part)).toBe(
      'Nothing keeps work from starting. 2 checks passed (svc doctor --all)\n',
    );
  });

  it('fails without tmux, and only warns without git', async () => {
    machine.env.PATH = machine.folder;
    const found = await examine();
    expect(found.code).toBe(1);
    expect(found.of('tmux')).toMatchObject([{ level: 'fail' }]);
    expect(found.of('git')).toMatchObject([{ level: 'warn' }]);
  });

  it('fails for a tmux that is too old or does not run', async () => {
    const tmux = join(machine.folder, 'tmux');
    machine.env.PATH = machine.folder;
    for (const [script, words] of [
      ['echo tmux 2.9', 'tmux 2.9 is too old'],
      ['echo tmux 3.1c', 'tmux 3.1c is too old'],
      ['exit 127', 'does not run'],
    ] as const) {
      writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      expect((await examine()).of('tmux')).toMatchObject([
        { level: 'fail', what: expect.stringContaining(words) },
      ]);
    }
  });

  it('warns about folders that are open to others, and fails for an unusable folder', async () => {
    chmodSync(machine.data_dir, 0o755);
    rmSync(machine.config_dir, { recursive: true });
    writeFileSync(machine.config_dir, '');
    const found = await examine();
    expect(found.of('data folder')).toMatchObject([
      { level: 'warn', mend: `close it with: chmod 700 ${machine.data_dir}` },
    ]);
    expect(found.of('config folder')).toMatchObject([{ level: 'fail' }]);
    expect(found.code).toBe(1);
  });

  it('[OPF-4] names the operator file that is not valid and where', async () => {
    write('stores.json', { version: 1, stores: [] });
    const agents = write('agents.json', { version: 1, agents: [{ id: 'x', harness: 'emacs' }] });
    const host = write('host.json', '{"host": ');
    const found = await examine();
    expect(found.of('stores.json')).toMatchObject([{ level: 'ok' }]);
    expect(found.of('agents.json')).toMatchObject([{ level: 'fail', mend: `correct ${agents}` }]);
    expect(found.of('host.json')).toMatchObject([
      { level: 'fail', what: expect.stringContaining(`${host} is not valid`) },
    ]);
  });

  it('tells of a store that is listed under two paths', async () => {
    const [store, alias] = [join(machine.folder, 'store'), join(machine.folder, 'alias')];
    mkdirSync(join(store, '.fibers'), { recursive: true });
    symlinkSync(store, alias);
    write('stores.json', [store, alias]);
    expect((await examine()).of('store')).toMatchObject([
      { level: 'ok', what: store },
      { level: 'fail', what: `${alias} is the same store as ${store}` },
    ]);
  });

  it('names the fix for a store that is away or whose folder is something else', async () => {
    const [gone, file] = [join(machine.folder, 'gone'), join(machine.folder, 'file')];
    mkdirSync(file);
    writeFileSync(join(file, '.fibers'), '');
    write('stores.json', [gone, file]);
    const mend = (root: string) =>
      `mount its disk or fix its path; make a new one with: svc fiber init ${root}`;
    expect((await examine()).of('store')).toMatchObject([
      { level: 'fail', what: expect.stringContaining(`${gone} cannot be read (ENOENT`), mend: mend(gone) },
      { level: 'fail', what: expect.stringContaining(`${file} cannot be read (ENOTDIR`), mend: mend(file) },
    ]);
  });

  it('[DSP-7] checks the stores of the environment, else those of stores.json', async () => {
    const store = join(machine.folder, 'store');
    mkdirSync(join(store, '.fibers'), { recursive: true });
    write('stores.json', [store]);
    expect((await examine()).of('store')).toEqual([{ name: 'store', level: 'ok', what: store, mend: null }]);
    machine.env.SVC_STORES = '/nowhere/at-all';
    expect((await examine()).of('store')).toMatchObject([
      { level: 'fail', mend: expect.stringContaining('svc fiber init /nowhere/at-all') },
    ]);
  });

  it('[VER-3] reports the contract skew that only the daemon knows, with its fix', async () => {
    const skew = [{ of: 'cli' as const, where: '/opt/svc', what: 'it speaks none', mend: 'fix it' }];
    await serve({ 'GET /version': { body: versionAnswer({ skew }) } });
    expect((await examine()).of('SVC_CLI')).toEqual([
      { name: 'SVC_CLI', level: 'warn', what: '/opt/svc: it speaks none', mend: 'fix it' },
    ]);
  });

  it('says which agents can start, and fails for one only when a fiber of this host needs it', async () => {
    machine.env.PATH = `${join(machine.folder, 'bin')}:/usr/bin:/bin`;
    machine.env.SVC_HOST = 'host-a';
    const store = join(machine.folder, 'store');
    machine.env.SVC_STORES = store;
    await machine.svc('fiber', 'init', store);
    await machine.svc('fiber', 'add', 'Loader', '--slug', 'loader');
    await machine.svc(
      'install',
      'loader',
      '--project-dir',
      machine.folder,
      '--agent',
      'codex',
      '--host',
      'host-b',
    );
    const elsewhere = await examine();
    expect(elsewhere.code).toBe(0);
    expect(elsewhere.of('agents')).toMatchObject([
      {
        level: 'warn',
        what: 'no agent',
        mend: expect.stringMatching(/^install /),
      },
    ]);
    await machine.svc('install', 'loader', '--host', 'host-a');
    const here = await examine();
    expect(here.code).toBe(1);
    expect(here.of('agent codex')).toMatchObject([
      { level: 'fail', what: 'Codex is not installed', mend: expect.stringContaining('npm install -g ') },
    ]);
    // That fiber needs none of the others.
    expect([here.of('agents'), here.of('agent claude-sonnet'), here.of('agent pi')]).toEqual([[], [], []]);
    mkdirSync(join(machine.folder, 'bin'));
    mkdirSync(join(machine.folder, '.codex'));
    writeFileSync(join(machine.folder, 'bin', 'codex'), '', { mode: 0o755 });
    writeFileSync(join(machine.folder, '.codex', 'auth.json'), '{"OPENAI_API_KEY": "x"}');
    const mended = await examine();
    expect(mended.code).toBe(0);
    expect(mended.of('agents')).toMatchObject([
      { level: 'ok', what: 'these can start: codex, codex-sol, codex-terra' },
    ]);
  });

  it('[DSP-3] shows the source of the host id', async () => {
    expect((await examine()).of('host id')[0]!.what).toContain('at the first start');
    const path = write('host.json', { version: 1, host: 'host-a' });
    expect((await examine()).of('host id')[0]!.what).toBe(`host-a, from ${path}`);
    machine.env.SVC_HOST = ' host-b ';
    expect((await examine()).of('host id')[0]!.what).toBe('host-b, from SVC_HOST');
  });

  it.runIf(process.platform === 'linux')('[P34] names the process that holds the port', async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken!.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    machine.env.SVC_LISTEN = `127.0.0.1:${port}`;
    expect((await examine()).of('address')).toMatchObject([
      { level: 'fail', what: expect.stringContaining(`127.0.0.1:${port} is taken by pid ${process.pid} (`) },
    ]);
  });

  it('checks the address that it would listen on', async () => {
    for (const [listen, level] of [
      ['unix:/run/x.sock', 'ok'],
      ['127.0.0.1:0', 'ok'],
      ['4000', 'fail'],
      ['192.0.2.1:4000', 'fail'],
    ] as const) {
      machine.env.SVC_LISTEN = listen;
      expect((await examine()).of('address')).toMatchObject([{ level }]);
    }
  });

  it('[P33] warns if the daemon is another build, and fails for a failed component', async () => {
    const audio = {
      name: 'audio',
      state: 'failed' as const,
      restarts: 5,
      started_at: null,
      last_error: 'no recorder',
    };
    await serve({ 'GET /version': { body: versionAnswer({ version: '0.0.9', components: [audio] }) } });
    const found = await examine();
    expect(found.of('daemon')).toMatchObject([{ level: 'ok' }]);
    expect(found.of('build')).toMatchObject([{ level: 'warn', what: expect.stringContaining('0.0.9') }]);
    expect(found.of('component audio')).toMatchObject([
      { level: 'fail', what: 'it has failed: no recorder' },
    ]);
    expect(found.of('address')).toEqual([]);
  });

  it('[P31] shows the tools as the daemon finds them, and which of this shell it does not find', async () => {
    machine.env.PATH = `${machine.folder}:${process.env.PATH}`;
    const here = join(machine.folder, 'claude');
    writeFileSync(here, '', { mode: 0o755 });
    const tools = [
      { name: 'tmux', path: '/usr/bin/tmux', version: 'tmux 3.3a' },
      { name: 'claude', path: null, version: null },
      { name: 'nobody-has-it', path: null, version: null },
    ];
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /doctor': { body: { path: '/usr/bin:/bin', tools } },
    });
    expect((await examine()).of('tools of the daemon')).toMatchObject([
      { level: 'ok', what: 'tmux: /usr/bin/tmux (tmux 3.3a)' },
      { level: 'warn', what: `the daemon does not find claude, which is ${here} in this shell` },
    ]);
  });

  it('[MUX-4] fails where the daemon cannot list the sessions of its tmux server', async () => {
    const state = stateAnswer();
    const mux = {
      ...state.poll_health.mux,
      state: 'unknown' as const,
      detail: 'tmux did not answer in time',
    };
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /state': { body: { ...state, poll_health: { ...state.poll_health, mux } } },
    });
    expect((await examine()).of('tmux server')).toEqual([
      {
        ...{ name: 'tmux server', level: 'fail' },
        what: 'the daemon cannot list its sessions, and starts nothing: tmux did not answer in time',
        mend: expect.stringMatching(/: tmux (-S \S+ )?list-panes -a$/),
      },
    ]);
  });

  it('fails for a daemon that does not answer and for an invalid daemon file', async () => {
    machine.writeDaemonFile(['127.0.0.1:1']);
    expect((await examine()).of('daemon')).toMatchObject([
      { level: 'fail', mend: 'run: svc daemon restart' },
    ]);
    writeFileSync(join(machine.data_dir, 'daemon.json'), 'no');
    expect((await examine()).of('daemon')).toMatchObject([{ level: 'fail' }]);
  });

  it.each([
    ['3.10', '3.9', false],
    ['2.9', '3.0', true],
    ['3.0', '3.0', false],
    ['3', '3.1', true],
  ])('orders version %s and %s', (version, least, older) => {
    expect(isOlder(version, least)).toBe(older);
  });
});
