import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import { fiberAnswer, runningRow, stateAnswer, versionAnswer } from './answers.ts';
import { type Answers, createMachine, type Machine, serveDaemon } from './kit.ts';

let machine: Machine;

beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const serve = (answers: Answers) => serveDaemon(machine, answers);

const WHY = {
  fiber_id: 'work/loader',
  uid: null,
  host: 'host-a',
  at: 1_000,
  verdict: 'waits',
  first: {
    gate: 'held',
    state: 'shut',
    reason: 'held',
    message: 'a person stopped its worker',
    mend: 'start it with `svc dispatch work/loader`',
  },
  gates: [
    { gate: 'svc_block', state: 'open' },
    { gate: 'held', state: 'shut', message: 'a person stopped its worker' },
    { gate: 'project_dir', state: 'not_asked' },
  ],
  project_dir: { path: '/srv/dev', looked_at: false },
  workers: { count: 1, resting: 0, most: null },
  waits_since: null,
};

describe('svc why', () => {
  it('[DSP-4] shows the cause, the fix, every gate, and whether the folder was checked', async () => {
    await serve({ 'GET /why?fiber=work%2Floader&look=1': { body: WHY } });
    const { code, out: short } = await machine.svc('why', 'work/loader');
    expect(code).toBe(0);
    expect(short).toBe(
      'work/loader does not run: a person stopped its worker.\nWhat to do: start it with `svc dispatch work/loader`.\n',
    );
    const { out } = await machine.svc('why', 'work/loader', '--all');
    expect(out.startsWith(short)).toBe(true);
    expect(out).toContain('Its folder /srv/dev was not looked at.');
    expect(out).toMatch(/held\s+SHUT\s+a person stopped its worker\nproject_dir\tnot asked\t\n/);
  });

  it('[DSP-4] leaves the question of an agent with its own end', async () => {
    const message = 'its worker waits for an answer, it says: Which file?';
    const first = { ...WHY.first, gate: 'running', message, mend: 'answer it: `svc attach work/loader`' };
    await serve({
      'GET /why?fiber=work%2Floader&look=1': { body: { ...WHY, verdict: 'running', first, gates: [first] } },
    });
    expect((await machine.svc('why', 'work/loader')).out).toBe(
      `work/loader runs: ${message}\nWhat to do: answer it: \`svc attach work/loader\`.\n`,
    );
  });

  it('[DSP-4] accesses nothing with --no-look', async () => {
    const { seen } = await serve({ 'GET /why?fiber=x&look=0': { body: WHY } });
    expect((await machine.svc('why', 'x', '--no-look', '--json')).out).toBe(
      `${JSON.stringify(WHY, null, 2)}\n`,
    );
    expect(seen).toHaveLength(1);
  });
});

describe('svc stop-all and svc resume-all', () => {
  const pulled = {
    stopped: true,
    changed: true,
    since: 5,
    note: null,
    running: [],
    killed: [],
    not_killed: [],
  };

  it('show which workers keep running, which were ended, and which fibers stay held', async () => {
    const { seen } = await serve({
      'POST /brake': { body: { ...pulled, running: ['a'] } },
      'POST /brake/release': { body: { stopped: false, changed: true, held: ['b'] } },
    });
    expect((await machine.svc('stop-all', '--note', 'why')).out).toContain('Still at work: a;');
    expect((await machine.svc('resume-all')).out).toContain(
      'Still held: b; svc status says what lets each one start',
    );
    expect(seen.map(({ body }) => body)).toEqual([{ note: 'why' }, {}]);
  });

  it('name the captures that go on without a fiber, and how to end them', async () => {
    await serve({
      'POST /brake': { body: { ...pulled, running: ['a'], captures: ['capture-1', 'capture-2'] } },
    });
    const { code, out } = await machine.svc('stop-all');
    expect(code).toBe(0);
    expect(out).toMatch(
      /Still at work without a fiber: capture-1, capture-2; end each as this one: tmux .*kill-session -t '=capture-1'/,
    );
  });

  it('name the captures that were ended, and exit with 1 when one that was to end goes on', async () => {
    const captures = { captures: ['capture-2'], ended_captures: ['capture-1'] };
    await serve({ 'POST /brake': { body: { ...pulled, ...captures } } });
    const { code, out } = await machine.svc('stop-all', '--kill', '--yes');
    expect(code).toBe(1);
    expect(out).toMatch(
      /Ended without a fiber: capture-1; .*svc status\nStill at work without a fiber: capture-2;/,
    );
  });

  it('exit with 1 when the end of a worker could not be confirmed', async () => {
    const not_killed = [{ fiber_id: 'a', message: 'tmux does not answer' }];
    await serve({ 'POST /brake': { body: { ...pulled, running: ['a'], not_killed } } });
    const { code, err } = await machine.svc('stop-all', '--kill', '--yes');
    expect([code, err]).toEqual([1, 'svc: a was not ended: tmux does not answer\n']);
  });

  it('show in svc status that the brake is on, and the limit of workers', async () => {
    const brake = { on: true, since: Date.now() - 120_000, note: 'a leak' };
    const state = stateAnswer({ brake, workers: { count: 1, resting: 0, most: 3 } });
    const { fiber_id: id, uid: _, store: __, ...runtime } = runningRow();
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /state': { body: state },
      'GET /fibers': { body: { fibers: [fiberAnswer({ id, runtime })] } },
    });
    Object.assign(machine.context, { outIsTerminal: true, columns: 80, colour: false });
    const { out } = await machine.svc('status');
    expect(out).toMatch(/brake +is on: a leak +2 min\n +svc resume-all\n/);
    expect(out).toContain(' 1 working, 1 of 3 places taken\n');
  });
});

describe('--dry-run', () => {
  it('of the verbs that ask the daemon prints what the daemon would do', async () => {
    const shown = rehearsal('end the worker x', {
      ends: ['x'],
      prompt: 'Hello\u001b[31m',
      command: { argv: ['claude', '<prompt>'], cwd: '/srv', env: ['PATH'], mux_session: 's' },
    });
    const { seen } = await serve(
      Object.fromEntries(
        ['/dispatch', '/kill', '/brake', '/brake/release', '/quarantine/release'].map((path) => [
          `POST ${path}`,
          { body: shown },
        ]),
      ),
    );
    for (const argv of [
      ['dispatch', 'a'],
      ['kill', 'a'],
      ['stop-all'],
      ['resume-all'],
      ['daemon', 'release'],
    ]) {
      const { code, out } = await machine.svc(...argv, '--dry-run');
      expect([argv, code]).toEqual([argv, 0]);
      expect(out).toContain('Would end the worker x. Nothing was written or started.');
      expect(out).toContain('Hello\\u001b[31m');
    }
    for (const { body } of seen) expect(body).toMatchObject({ dry_run: true });
    expect(seen).toHaveLength(5);
  });

  it('of the verbs that write documents shows the diff and writes nothing; the real write then makes that change', async () => {
    const store = join(machine.folder, 'notes');
    mkdirSync(join(machine.folder, 'dev'));
    machine.env.SVC_STORES = store;
    machine.env.SVC_HOST = 'host-a';
    // One that is installed, so that nothing is missing.
    const own = {
      id: 'own',
      harness: 'claude',
      cli: process.execPath,
      args: [],
      effort_levels: [],
      default: true,
    };
    writeFileSync(join(machine.config_dir, 'agents.json'), JSON.stringify({ version: 1, agents: [own] }));
    const files = () =>
      readdirSync(machine.folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'utf8')]);
    const both = async (...argv: string[]) => {
      const before = JSON.stringify(files());
      const dry = await machine.svc(...argv, '--dry-run', '--json');
      expect([argv, dry.code, dry.err]).toEqual([argv, 0, '']);
      expect(JSON.stringify(files())).toBe(before);
      expect(JSON.parse(dry.out)).toMatchObject({ dry_run: true });
      const real = await machine.svc(...argv);
      expect([argv, real.code, real.err]).toEqual([argv, 0, '']);
      return JSON.parse(dry.out) as { would: string; documents: { diff: string }[] };
    };
    await both('fiber', 'init', store);
    expect((await both('fiber', 'add', 'Loader')).documents[0]?.diff).toContain('+name: Loader');
    expect((await both('fiber', 'edit', 'loader', '--outcome', 'Fine')).documents[0]?.diff).toContain(
      '+outcome: Fine',
    );
    const installed = await both('install', 'loader', '--project-dir', 'dev');
    expect(installed.documents[0]?.diff).toMatch(/-status: open\n(?:.*\n)*?\+status: active\n/);
    expect((await both('repeat', 'loader', '--schedule', '0 9 * * *')).documents[0]?.diff).toContain(
      '+  schedule:',
    );
    expect((await both('handoff', 'loader')).documents[0]?.diff).toContain('handed_off_at');
    await both('pin', 'loader');
    await both('uninstall', 'loader', '--yes');
    expect((await both('uninstall', 'loader', '--yes')).would).toContain('write nothing');
    expect((await both('fiber', 'rm', 'loader', '--yes')).documents[0]?.diff).toContain('+++ /dev/null');
  });
});

describe('svc resolve-dir', () => {
  it('[WPL-1] prints the folder as a fiber stores it, with links kept', async () => {
    mkdirSync(join(machine.folder, 'a/b'), { recursive: true });
    symlinkSync(join(machine.folder, 'a'), join(machine.folder, 'link'));
    const path = (of: string) => join(machine.folder, of);
    for (const [given, expected] of [
      ['a/b', 'a/b'],
      ['./a/../a/b/', 'a/b'],
      ['link/b', 'link/b'],
      [path('a'), 'a'],
    ] as const)
      expect(await machine.svc('resolve-dir', given)).toMatchObject({ code: 0, out: `${path(expected)}\n` });
    expect(JSON.parse((await machine.svc('resolve-dir', 'a', '--json')).out)).toEqual({ path: path('a') });
  });

  it('[DSP-4] refuses a folder that no worker may start in', async () => {
    mkdirSync(join(machine.folder, 'notes/.fibers/x'), { recursive: true });
    writeFileSync(join(machine.folder, 'file'), '');
    symlinkSync(join(machine.folder, 'notes/.fibers/x'), join(machine.folder, 'innocent'));
    for (const [given, sentence, exit] of [
      ['nowhere', 'not a directory', 1],
      ['file', 'not a directory', 1],
      ['notes/.fibers/x', 'inside a document store', 1],
      ['innocent', 'inside a document store', 1],
      ['~root/x', 'another user', 2],
      ['a\nb', 'control characters', 2],
    ] as const) {
      const { code, err } = await machine.svc('resolve-dir', given);
      expect([given, code, err]).toEqual([given, exit, expect.stringContaining(sentence)]);
    }
  });
});
