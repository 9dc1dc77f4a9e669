import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import {
  isInside,
  type Progress,
  readProgress,
  runDemoAgent,
  writeProgress,
} from '../../../src/cli/verbs/demo/agent.ts';
import { demoEnvironment, demoSocket } from '../../../src/cli/verbs/demo/environment.ts';
import { ownCommand } from '../../../src/cli/verbs/demo/own-command.ts';
import { prepareDemo, requireDemoTools } from '../../../src/cli/verbs/demo/prepare.ts';
import {
  DEMO_FIBER_IDS,
  DEMO_PROJECTS,
  demoFolders,
  isPlayedOut,
} from '../../../src/cli/verbs/demo/store.ts';
import { configuredWelcome, demoCommands, demoWelcome } from '../../../src/cli/verbs/demo/welcome.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { openStore } from '../../../src/fibers/store.ts';
import { claude } from '../../../src/harness/claude/harness.ts';
import { projectFolder } from '../../../src/harness/claude/transcript.ts';
import { hookScript } from '../../../src/harness/hooks/hook-command.ts';
import { compareHooks } from '../../../src/harness/hooks/installed-hooks.ts';
import { createRunner } from '../../../src/platform/process.ts';
import { createMachine, type Machine } from '../kit.ts';

let folder: string;
let machine: Machine;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-demo-'));
  machine = createMachine();
});
afterEach(() => {
  machine.remove();
  rmSync(folder, { recursive: true, force: true });
});

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

describe('a verb after demo', () => {
  it('works on the demo and leaves the user’s own setup unchanged', async () => {
    const dir = join(folder, 'demo');
    mkdirSync(join(dir, 'store', '.fibers'), { recursive: true });
    const { code, out } = await machine.svc('demo', '--dir', dir, 'fiber', 'add', 'Mine', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out).fiber.store).toBe(join(dir, 'store'));
    expect(await machine.svc('demo', '--dir', dir, 'status')).toMatchObject({
      code: 3,
      err: `svc: the daemon does not run; start the demo with: svc demo --dir ${dir}\n`,
    });
  });
});

describe('a demo inside the demo', () => {
  it.each([['demo'], ['demo', '--remove']])(
    'is refused, with what to type instead: svc demo %s %s',
    async (...words) => {
      const typed = words.filter((word) => word !== undefined);
      expect(await machine.svc('demo', '--dir', join(folder, 'demo'), ...typed)).toMatchObject({
        code: 2,
        err: expect.stringContaining('a demo has none of its own'),
      });
    },
  );
});

describe('the demo’s settings', () => {
  it('do not depend on the user’s settings', () => {
    const user = {
      SVC_AGENTS_FILE: '/mine/agents.json',
      SVC_HOST_CONFIG_FILE: '/mine/host.json',
      SVC_PROJECTS: '/mine',
      SVC_CLI: '/mine/svc',
      SVC_LISTEN: '127.0.0.1:0',
    };
    const settings = readSettings({ ...user, ...demoEnvironment(user, folder) });
    expect(settings).toMatchObject({
      agents_file: null,
      host_config_file: null,
      projects: null,
      cli: null,
      listen: '127.0.0.1:0',
      host: 'demo-host',
      stores: [join(folder, 'store')],
      demo: true,
    });
    for (const path of [settings.data_dir, settings.config_dir, settings.tmux_socket])
      expect(path!.startsWith(folder)).toBe(true);
  });

  it('give a socket path that tmux accepts, different for each long folder', () => {
    const long = (name: string) => join(folder, 'x'.repeat(120), name);
    expect(demoSocket(long('a')).length).toBeLessThan(96);
    expect(demoSocket(long('a'))).not.toBe(demoSocket(long('b')));
  });
});

describe('preparing the demo', () => {
  it.each([
    [['tmux', 'git'], null],
    [['git'], /^the demo needs tmux to run its workers in; install it \(.*tmux.*\) and try again$/],
    [[], /needs tmux to run its workers in and git for the repositories/],
  ])('with %j on the PATH', async (programs, message) => {
    for (const name of programs) program('bin', name);
    const required = requireDemoTools(join(folder, 'bin'));
    if (message === null) await required;
    else await expect(required).rejects.toThrow(message);
  });

  it('makes eight fibers of all kinds once, and an agent in addition to the built-in ones', async () => {
    const folders = demoFolders(join(folder, 'demo'));
    const options = { runner: createRunner(), pace_ms: 5, socket: join(folder, 'demo', 't.sock') };
    await prepareDemo(folders, options);
    const store = openStore(folders.store);
    const { documents, errors } = store.list();
    expect(errors).toEqual([]);
    expect(documents.map((document) => document.id).sort()).toEqual([...DEMO_FIBER_IDS].sort());
    expect(documents).toHaveLength(8);
    expect(new Set(documents.map((document) => document.svc?.kind))).toEqual(
      new Set(['oneshot', 'standing', 'pinned', undefined]),
    );
    expect(new Set(documents.map((document) => document.status))).toEqual(
      new Set(['open', 'active', 'closed']),
    );
    for (const name of DEMO_PROJECTS)
      expect(readFileSync(join(folders.projects, name, '.git', 'HEAD'), 'utf8')).toContain('ref:');
    expect(JSON.parse(readFileSync(join(folders.config, 'projects.json'), 'utf8'))).toEqual(
      DEMO_PROJECTS.map((name) => join(folders.projects, name)),
    );
    expect(isPlayedOut(documents)).toBe(false);
    const done = documents.map(({ id }) => ({ id, status: id === 'archive' ? 'active' : 'closed' }) as const);
    expect(isPlayedOut(done)).toBe(true);
    await store.remove('loader');
    await prepareDemo(folders, options);
    expect(store.list().documents).toHaveLength(7);
  });

  it('[MSG-2] gives its agent the hooks that it calls, so that it takes context', async () => {
    const folders = demoFolders(join(folder, 'demo'));
    await prepareDemo(folders, { runner: createRunner(), pace_ms: 5, socket: join(folder, 't.sock') });
    const [hooks] = await compareHooks({ ...process.env, CLAUDE_CONFIG_DIR: folders.agent });
    expect(hooks).toEqual({ harness: 'claude', state: 'current', program: null });
  });

  it('has svc demo setup work on its own agent, and on nothing of the user', async () => {
    const dir = join(folder, 'demo');
    const setUp = (harness: string) => machine.svc('demo', '--dir', dir, 'setup', harness);
    machine.env.CLAUDE_CONFIG_DIR = join(folder, 'own-claude');
    machine.env.CODEX_HOME = join(folder, 'own-codex');
    expect(await setUp('claude')).toMatchObject({ code: 2, err: expect.stringContaining('start it first') });
    const folders = demoFolders(dir);
    await prepareDemo(folders, { runner: createRunner(), pace_ms: 5, socket: join(folder, 't.sock') });
    expect(await setUp('claude')).toMatchObject({ code: 0, out: 'claude: nothing to change\n' });
    rmSync(join(folders.agent, 'settings.json'));
    expect(await setUp('claude')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`create ${join(folders.agent, 'settings.json')}\n`),
    });
    expect(await setUp('codex')).toMatchObject({
      code: 2,
      err: 'svc: the demo sets up its own agent only, which takes the hooks of Claude Code; for your own setup, leave out the word demo\n',
    });
    expect(['own-claude', 'own-codex'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });
});

describe('the demo agent', () => {
  it.each<[string, string, Progress]>([
    ['takes a fiber without a plan as one session', 'Just text', { done: 0, planned: 1 }],
    ['starts a plan', 'x\n\nSessions planned: 3', { done: 0, planned: 3 }],
    [
      'goes on where the last session stopped',
      'Sessions planned: 3\n\n## Status\n\nSession 2 of 3 is done.',
      { done: 2, planned: 3 },
    ],
    [
      'begins again after the last one',
      'Sessions planned: 2\n\n## Status\n\nSession 2 of 2 is done.',
      { done: 0, planned: 2 },
    ],
  ])('%s', (_, body, progress) => expect(readProgress(body)).toEqual(progress));

  it('rewrites its status and nothing else', () => {
    const body = 'Text\n\nSessions planned: 3\n\n## Status\n\nSession 1 of 3 is done. Old.\n';
    const next = writeProgress(body, { done: 2, planned: 3 });
    expect(next.startsWith('Text\n\nSessions planned: 3\n\n## Status\n\n')).toBe(true);
    expect(next).not.toContain('Old.');
    expect(readProgress(next)).toEqual({ done: 2, planned: 3 });
  });

  it('reports what it does by the hooks of a real agent, and its commit within a tool', async () => {
    const calls: string[] = [];
    const fiber = { fiber: { id: 'work/loader', name: 'Loader', body: 'Sessions planned: 1' } };
    const told: Record<string, unknown>[] = [];
    const code = await runDemoAgent({
      ...{ prompt: 'Fiber: work/loader', session_id: 's1', cwd: join(folder, 'projects', 'loader') },
      ...{ env: { CLAUDE_CONFIG_DIR: folder }, clock: systemClock, out: () => undefined, pace_ms: 1 },
      terminal: null,
      playground: join(folder, 'projects'),
      runner: {
        ...createRunner(),
        async run({ args, input = '' }) {
          const hook = args[0] === hookScript() ? JSON.parse(String(input)) : null;
          if (hook !== null) told.push(hook);
          calls.push(
            hook?.hook_event_name ?? args.find((word) => /^(show|edit|handoff|add|commit)$/.test(word)),
          );
          return { kind: 'exited', code: 0, stdout: JSON.stringify(fiber), stderr: '' };
        },
      },
    });
    expect(code).toBe(0);
    const acts = told.filter(({ hook_event_name }) => hook_event_name === 'PostToolUse');
    expect(calls.slice(0, 5)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'show',
      'PreToolUse',
      'PostToolUse',
    ]);
    expect(calls.slice(-6)).toEqual(['PreToolUse', 'add', 'commit', 'PostToolUse', 'edit', 'handoff']);
    expect([acts.length, acts.at(-1)]).toEqual([
      10,
      {
        ...{ session_id: 's1', cwd: join(folder, 'projects', 'loader'), hook_event_name: 'PostToolUse' },
        ...{ tool_name: 'Bash', tool_input: { command: 'git commit' } },
        transcript_path: expect.stringMatching(/\/s1\.jsonl$/),
      },
    ]);
  });

  it('[MSG-2] has the context that a hook adds in its conversation', async () => {
    const folders = { cwd: join(folder, 'loader'), claude: join(folder, 'claude') };
    const fiber = { fiber: { id: 'work/loader', name: 'Loader', body: 'Sessions planned: 1' } };
    const added = JSON.stringify({ hookSpecificOutput: { additionalContext: '[message c-1 from ada]' } });
    await runDemoAgent({
      ...{ prompt: 'Fiber: work/loader', session_id: 's1', cwd: folders.cwd },
      ...{ env: { CLAUDE_CONFIG_DIR: folders.claude }, clock: systemClock, out: () => undefined, pace_ms: 1 },
      ...{ terminal: null, playground: null },
      runner: {
        ...createRunner(),
        async run({ args, input = '' }) {
          const adds = args.at(-1) === process.execPath && String(input).includes('"UserPromptSubmit"');
          return { kind: 'exited', code: 0, stdout: adds ? added : JSON.stringify(fiber), stderr: '' };
        },
      },
    });
    const path = join(folders.claude, 'projects', projectFolder(folders.cwd), 's1.jsonl');
    const records = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.flatMap((record) => claude.messages.contextOf(record) ?? [])).toEqual([
      '[message c-1 from ada]',
    ]);
  });

  it.each([
    ['/demo/projects/notes', '/demo/projects', true],
    ['/demo/projects', '/demo/projects', false],
    ['/demo/projects-mine', '/demo/projects', false],
    ['/home/me/project', '/demo/projects', false],
    ['/home/me/project', null, false],
  ])('in %s with the playground %s: writes there is %s', (cwd, playground, writes) =>
    expect(isInside(cwd, playground)).toBe(writes),
  );
});

describe('the welcome', () => {
  it('shows the address of the board and its three commands', () => {
    const text = demoWelcome({
      listen: ['127.0.0.1:4711'],
      svc: 'npx svc',
      dir: '/a b',
      root: '/a b',
      played_out: false,
    });
    expect(text).not.toContain('for a fresh demo');
    expect(text.split('\n')[0]).toBe(
      "Board: http://127.0.0.1:4711/   (opened by: npx svc demo --dir '/a b' open)",
    );
    for (const command of demoCommands("npx svc demo --dir '/a b'"))
      expect(text).toContain(`\n  ${command}\n`);
  });

  it('says when an earlier run has finished the fibers', () => {
    const facts = { listen: ['127.0.0.1:1'], svc: 'svc', dir: null, root: '/d', played_out: true };
    expect(demoWelcome(facts)).toContain('type svc demo --remove, and start again');
  });

  it('shows how to begin if stores are configured', () => {
    const text = configuredWelcome({ listen: ['unix:/run/x.sock'], svc: 'svc', stores: ['/srv/notes'] });
    for (const part of ['/srv/notes', 'curl --unix-socket /run/x.sock', 'svc daemon release'])
      expect(text).toContain(part);
  });
});

describe('the command that runs this svc', () => {
  it('is svc if a terminal’s PATH leads here, npx svc if the folder links it, else the path', async () => {
    const launcher = program('package', 'svc.cjs');
    const links = { bin: join(folder, 'bin'), dependency: join(folder, 'node_modules', '.bin') };
    for (const path of Object.values(links)) {
      mkdirSync(path, { recursive: true });
      symlinkSync(launcher, join(path, 'svc'));
    }
    const other = join(program('other', 'svc'), '..');
    const words = (path: string, cwd: string) => ownCommand({ path, cwd, launcher });
    expect(await words(`${links.dependency}:${links.bin}`, '/')).toBe('svc');
    expect(await words(`${other}:${links.bin}`, folder)).toBe('npx svc');
    expect(await words(links.dependency, folder)).toBe('npx svc');
    expect(await words(links.dependency, '/')).toBe(launcher);
  });
});
