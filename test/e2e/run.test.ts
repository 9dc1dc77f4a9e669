import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { programOf } from '../kit/built-package.ts';
import { launchesOf } from '../kit/launches.ts';
import { processesMarked } from '../kit/processes.ts';
import { type Ran, run, TestHome } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** A person's own folder, in which nothing of ours is yet. */
describe('svc run', () => {
  let home: TestHome;
  /** The tmux server that stands for the person's terminal. */
  let desk: string;

  beforeEach(() => {
    home = new TestHome({ SVC_STORES: undefined, SVC_HOST: undefined });
    desk = home.path('desk.sock');
    home.project('mine');
    home.write('bin/svc', `#!/bin/sh\nexec '${process.execPath}' '${programOf('launcher.mjs')}' "$@"\n`);
    chmodSync(home.path('bin/svc'), 0o755);
    home.env.PATH = `${home.path('bin')}:${home.env.PATH}`;
  });
  afterEach(async () => {
    await typed('svc daemon stop');
    await run('tmux', ['-S', desk, 'kill-session', '-t', '=desk'], home.env);
    await home.dispose();
  });

  const typed = (line: string): Promise<Ran> =>
    run('/bin/sh', ['-c', `cd '${home.project('mine')}' && ${line}`], home.env, 60_000);
  const screen = async (): Promise<string> =>
    (await run('tmux', ['-S', desk, 'capture-pane', '-p', '-t', '=desk:'], home.env)).stdout;
  const keys = (...named: string[]) =>
    run('tmux', ['-S', desk, 'send-keys', '-t', '=desk:', ...named], home.env);

  it('makes a store, starts the daemon and the agent, and names what shows it', async () => {
    const first = await typed('svc run "Write a HELLO.md that greets the reader" --agent stays');
    expect(first).toMatchObject({ code: 0, stdout: 'svc attach write-a-hello-md\n' });
    expect(first.stderr).toMatch(
      /^store {4}~\/fibers \(new; the daemon watches it from now on\)\nfiber {4}write-a-hello-md\ndaemon {3}started, http:\/\/127\.0\.0\.1:\d+\nworker {3}stays in ~\/projects\/mine\n$/,
    );
    const document = readFileSync(home.documentPath('write-a-hello-md', home.path('fibers')), 'utf8');
    expect(document).toContain('\nname: Write a HELLO.md that greets the reader\n');
    expect(document).toMatch(/\n---\nWrite a HELLO.md that greets the reader\n$/);
    const why = await typed('svc why write');
    expect(why.stdout).toContain('write-a-hello-md runs');

    const second = await typed('svc run "Write a HELLO.md; greet the reader." --json');
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(second.stdout)).toMatchObject({
      fiber: 'write-a-hello-md-2',
      store: { path: home.path('fibers'), is_new: false },
      daemon: { started: false },
      agent: 'stays',
      project_dir: home.project('mine'),
      attach: 'svc attach write-a-hello-md-2',
    });
    // Both were started for the request, so that equal runs are told the same.
    for (const id of ['write-a-hello-md', 'write-a-hello-md-2']) {
      const { entries } = JSON.parse((await typed(`svc log ${id} --json`)).stdout);
      expect(entries[0]).toMatchObject({ kind: 'dispatch', by_request: true });
    }
    // Nothing ran before the first of them, so nothing of it was held.
    const state = JSON.parse((await typed('svc status --json')).stdout).state;
    expect(state.boot_quarantine).toMatchObject({ active: false, held: 0 });
    expect((await typed('svc kill write-a-hello-md- --yes')).stdout).toContain('Stopped write-a-hello-md-2');
  });

  it('shows the agent in the terminal that it is typed in, which its keys leave', async () => {
    const at = ['-x', '80', '-y', '24', '-c', home.project('mine')];
    const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = home.env;
    await run('tmux', ['-S', desk, '-f', '/dev/null', 'new-session', '-d', '-s', 'desk', ...at, 'sh'], env);
    await keys('svc run "Say hello" --agent talks', 'Enter');
    await until('the agent', async () => /\[say-hello.*\d\d:\d\d/.test(await screen()), 60_000);
    await keys('C-b', 'd');
    await until('the way back', async () =>
      /\[detached[\s\S]*\nBack, while it works: svc attach say-hello\n/.test(await screen()),
    );
    const shown = await screen();
    expect(shown).toContain('\nworker   talks in ~/projects/mine\n');
    expect(shown).toContain('\nAttaching. Leave with Ctrl-b d; it goes on working.\n');
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(await home.sessions()).toHaveLength(1);
  });

  it('has a daemon that runs take up a store at once, whenever it next looks at all of them', async () => {
    home.env.SVC_POLL_INTERVAL_MS = '3600000';
    await typed('svc daemon start');
    expect((await typed('svc fiber init ~/notes')).stdout).toBe(
      `Store ${home.path('notes')}\nListed in ${home.path('config/stores.json')}; a daemon that runs works on it from now on.\n`,
    );
    expect((await typed('svc run "Say hello" --agent stays')).stderr).toMatch(
      /^store {4}~\/notes\nfiber {4}say-hello\ndaemon {3}runs, /,
    );
    const second = await typed('svc fiber init ~/more');
    const [, hint = ''] = /have it do so with: (.+)/.exec(second.stdout) ?? [];
    expect((await typed(hint)).stdout).toContain('a daemon that runs works on it from now on');
    expect((await typed('svc run Again --agent stays')).stderr).toContain('name one with --store');
    expect(await typed('svc run Again --agent stays --store ~/more')).toMatchObject({
      code: 0,
      stdout: 'svc attach again\n',
    });
  });

  it('tells that a start is not known where the daemon dies meanwhile, and begins the same task no second time unasked', async () => {
    await typed('svc daemon start');
    await typed(
      'git init -q -b main && git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m First',
    );
    // The worker cannot start before its folder is checked out.
    home.write('projects/mine/.git/hooks/post-checkout', '#!/bin/sh\nexec sleep 30\n');
    chmodSync(home.path('projects/mine/.git/hooks/post-checkout'), 0o755);
    const line = 'svc run "Say hello" --agent stays --worktree';
    const first = typed(line);
    const begun = home.path('data/begun-runs');
    await until('the request', () => existsSync(begun) && readdirSync(begun).length === 1, 60_000);
    const { pid } = JSON.parse(readFileSync(home.path('data/daemon.json'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    const { code, stdout, stderr } = await first;
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    const said = stderr.split('\n').filter((one) => one.startsWith('svc: '));
    expect(said).toEqual([
      expect.stringMatching(
        /^svc: whether say-hello was started is not known yet: .*; look with: svc status say-hello, and if it did not start: svc dispatch say-hello$/,
      ),
    ]);
    expect(stderr).not.toMatch(/ at .*\.(?:ts|js|mjs):\d+|EPIPE/);
    expect(await typed(line)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^svc: the same task was begun here \d+ s ago as say-hello, and whether it was started is not known; look with: svc status say-hello; to begin another one, add --again\n$/,
      ),
    });
    rmSync(home.path('projects/mine/.git/hooks/post-checkout'));
    const old = home.write('data/begun-runs/old.json', '{}');
    const an_hour_ago = Date.now() / 1_000 - 3_600;
    utimesSync(old, an_hour_ago, an_hour_ago);
    expect(await typed(`${line} --again`)).toMatchObject({ code: 0, stdout: 'svc attach say-hello-2\n' });
    // That one was answered, and the note of a run that nobody asks for any more is gone.
    expect(readdirSync(begun)).toEqual([]);
  });

  it('begins a task once whose terminal closes during its start, and tells that when the task is typed again', async () => {
    await typed(
      'git init -q -b main && git -c user.name=Ada -c user.email=ada@example.org commit -q --allow-empty -m First',
    );
    const open = home.path('may-start');
    home.write(
      'projects/mine/.git/hooks/post-checkout',
      `#!/bin/sh\nuntil [ -e '${open}' ]; do sleep 0.1; done\n`,
    );
    chmodSync(home.path('projects/mine/.git/hooks/post-checkout'), 0o755);
    const line = 'svc run "Say hello" --agent stays --worktree';
    const at = ['-x', '80', '-y', '24', '-c', home.project('mine')];
    const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = home.env;
    await run('tmux', ['-S', desk, '-f', '/dev/null', 'new-session', '-d', '-s', 'desk', ...at, 'sh'], env);
    // This command starts the daemon too, which goes on without the terminal.
    await keys(line, 'Enter');
    const begun = home.path('data/begun-runs');
    await until('the request', () => existsSync(begun) && readdirSync(begun).length === 1, 60_000);
    await until('the checkout', () => existsSync(home.path('projects/mine.worktrees')), 60_000);
    const goesOn = () => processesMarked(home.root).some(({ command }) => command.includes(' run Say hello'));
    expect(goesOn()).toBe(true);
    await run('tmux', ['-S', desk, 'kill-session', '-t', '=desk'], home.env);
    await until('the end of the command', () => !goesOn());
    const again = () => typed(line);
    const known = {
      code: 1,
      stderr: expect.stringContaining('the same task was begun here'),
    };
    expect(await again()).toMatchObject(known);
    home.write('may-start', '');
    await until('the worker', async () => (await home.sessions()).length === 1, 60_000);
    expect(await again()).toMatchObject(known);
    expect(launchesOf(home.data, 'say-hello')).toHaveLength(1);
    expect(readdirSync(home.path('fibers/.fibers'))).toEqual(['say-hello']);
  });

  it.each([
    ['its output', '| head -0'],
    ['its output and its messages', '2>&1 | head -0'],
    ['neither', '>&- 2>&-'],
  ])('goes on to its end where nobody reads %s', async (_, closed) => {
    const ran = await typed(`svc run "Say hello" --agent stays ${closed}`);
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/EPIPE|EBADF| at .*\.(?:ts|js|mjs):\d+/);
    await until('the worker', async () => (await home.sessions()).length === 1);
  });

  it('rehearses all of it and writes nothing', async () => {
    const { code, stdout, stderr } = await typed('svc run "Say hello" --dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Would have stays begin say-hello');
    for (const step of ['Make the store', 'Have the daemon work on', 'Create say-hello', 'Start stays on it'])
      expect(stdout).toContain(step);
    for (const path of ['fibers', 'config/stores.json', 'data'])
      expect(existsSync(home.path(path)), path).toBe(false);
  });

  it.each([
    ['svc run "Say hello" --agent stay', /there is no agent "stay".* Did you mean stays\?/],
    ['svc run "Say hello" --dir nowhere', /not a directory: .*nowhere/],
    ['svc run "   "', /a task needs words/],
    ['PATH=/nowhere /bin/sh -c "$(command -v svc) run Hello"', /tmux is not installed/],
  ])('%s is refused before anything is written', async (line, message) => {
    const { code, stdout, stderr } = await typed(line);
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
    for (const path of ['fibers', 'config/stores.json', 'data'])
      expect(existsSync(home.path(path)), path).toBe(false);
  });
});
