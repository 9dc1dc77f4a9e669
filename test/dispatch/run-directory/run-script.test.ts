import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAgentPid, readExit } from '../../../src/dispatch/run-directory/run-directory.ts';
import {
  buildRunScript,
  MAX_PROMPT_ARGUMENT_BYTES,
  WORKTREE_SETUP,
} from '../../../src/dispatch/run-directory/run-script.ts';
import { type LaunchArgument, PROMPT, pointerTo } from '../../../src/harness/adapter.ts';
import type { GroupEntry } from '../../../src/platform/memory-groups.ts';
import { runProcess } from '../../../src/platform/process.ts';
import { findProgram } from '../../kit/find-program.ts';
import { isInstalled } from '../../kit/installed.ts';
import { shellcheck } from '../../kit/shellcheck.ts';

const PATH = process.env.PATH ?? '';
const SHELLS = [
  ['dash', []],
  ['bash', ['--posix']],
].filter(([name]) => findProgram(name as string, PATH) !== null) as [string, string[]][];
/** Prints its arguments and the environment it was given as JSON. */
const ECHO = new URL('../../fixtures/mux/echo-agent.mjs', import.meta.url).pathname;

let root: string;
let run_dir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-run-'));
  run_dir = join(root, "run 'dir' $(touch pwn)");
  mkdirSync(run_dir);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function start(
  options: {
    argv: LaunchArgument[];
    prompt?: string;
    env?: Record<string, string>;
    project_dir?: string;
    prompt_on_stdin?: boolean;
    memory?: GroupEntry;
    own_worktree?: boolean;
    again?: boolean;
    nice?: number;
    /** In the folder of a start before. */
    once_more?: boolean;
  },
  shell: [string, string[]] = ['sh', []],
) {
  const prompt = options.prompt ?? 'Do the work.';
  if (options.once_more !== true) rmSync(join(run_dir, 'started'), { force: true });
  writeFileSync(join(run_dir, 'prompt.md'), prompt);
  const script = join(run_dir, 'run.sh');
  writeFileSync(
    script,
    buildRunScript({
      run_dir,
      project_dir: options.project_dir ?? root,
      argv: options.argv,
      env: options.env ?? {},
      prompt_bytes: Buffer.byteLength(prompt),
      prompt_on_stdin: options.prompt_on_stdin ?? false,
      memory: options.memory ?? null,
      own_worktree: options.own_worktree ?? false,
      again: options.again ?? false,
      nice: options.nice ?? 0,
    }),
  );
  return runProcess({
    file: shell[0],
    args: [...shell[1], script],
    env: { PATH, PARENT: 'kept' },
    timeout_ms: 10_000,
    max_output_bytes: 4 * 1024 * 1024,
  });
}

function exitRecord() {
  const read = readExit(run_dir);
  return read.kind === 'found' ? { ...read.value, at: undefined } : read;
}

const agent = (code: string): LaunchArgument[] => [process.execPath, '-e', code];

describe.each(SHELLS)('the run script under %s', (name, args) => {
  const shell: [string, string[]] = [name, args];

  it.each([
    [0, { code: 0, signal: null }],
    [3, { code: 3, signal: null }],
  ])('records exit code %d of the agent', async (code, record) => {
    const result = await start({ argv: agent(`process.exit(${code})`) }, shell);
    expect(result).toMatchObject({ kind: 'exited', code });
    expect(exitRecord()).toEqual({ ...record, at: undefined });
  });

  it('records the signal that ended the agent', async () => {
    await start({ argv: agent("process.kill(process.pid, 'SIGKILL')") }, shell);
    expect(exitRecord()).toEqual({ code: null, signal: 'SIGKILL', at: undefined });
  });

  it('starts a worker only once, whoever starts the script again, and keeps how the first one ended', async () => {
    const work = { argv: agent("console.log('at work'); process.exit(3)") };
    expect(await start(work, shell)).toMatchObject({ code: 3, stdout: 'at work\n' });
    const second = await start({ ...work, once_more: true }, shell);
    expect(second).toMatchObject({ kind: 'exited', code: 143, stdout: '' });
    expect(second).toMatchObject({ stderr: expect.stringContaining('was started before') });
    expect(exitRecord()).toEqual({ code: 3, signal: null, at: undefined });
    expect(await start({ ...work, once_more: true, again: true }, shell)).toMatchObject({
      code: 3,
      stdout: 'at work\n',
    });
  });

  it('lets the agent and what it starts go after others, by the nice value that is asked for', async () => {
    const own = getPriority();
    const result = await start(
      { argv: agent("require('child_process').spawnSync('nice', { stdio: 'inherit' })"), nice: 3 },
      shell,
    );
    expect(result).toMatchObject({
      kind: 'exited',
      code: 0,
      stdout: `${Math.min(19, own + 3)}\n`,
      stderr: '',
    });
  });

  it('records a missing project directory and starts nothing', async () => {
    await start({ argv: agent(''), project_dir: join(root, 'not there') }, shell);
    expect(exitRecord()).toEqual({ code: null, signal: null, reason: 'project_dir_missing', at: undefined });
    expect(readAgentPid(run_dir)).toEqual({ kind: 'none' });
  });

  it('[P13] becomes no agent once its end is recorded, and has told its process all the same', async () => {
    writeFileSync(join(run_dir, 'end.json'), '{"reason":"kill","at":1}');
    const result = await start({ argv: agent('console.log("at work")') }, shell);
    expect(result).toMatchObject({ kind: 'exited', stdout: '' });
    expect(readAgentPid(run_dir).kind).toBe('found');
    expect(exitRecord()).toEqual({ code: null, signal: 'SIGTERM', at: undefined });
  });

  describe('in a git worktree of a fiber', () => {
    const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args]);
    const inWorktree = (code: string, own_worktree = true) =>
      start({ argv: agent(code), project_dir: root, own_worktree }, shell);

    it('sets it up once before the agent, and keeps what that printed', async () => {
      git('init', '-q');
      git('config', WORKTREE_SETUP, 'echo one; echo two >&2; cat; echo x >>set-up');
      expect(await inWorktree('', false)).toMatchObject({ stdout: '' });
      const ran = await inWorktree('console.log("at work")');
      expect(ran).toMatchObject({ kind: 'exited', code: 0, stderr: '' });
      expect(ran).toMatchObject({ stdout: expect.stringMatching(/Setting up .*\none\ntwo\nat work\n$/) });
      expect(readFileSync(join(run_dir, 'setup.txt'), 'utf8')).toBe('one\ntwo\n');
      expect(await inWorktree('console.log("again")')).toMatchObject({ stdout: 'again\n' });
      expect(readFileSync(join(root, 'set-up'), 'utf8')).toBe('x\n');
    });

    it('starts no agent where the set-up fails, and tries again the next time', async () => {
      git('init', '-q');
      git('config', WORKTREE_SETUP, 'echo broken >&2; exit 7');
      for (const _ of [1, 2]) {
        const ran = await inWorktree('console.log("at work")');
        expect(ran).toMatchObject({ code: 7, stdout: expect.not.stringContaining('at work') });
        expect(ran).toMatchObject({ stderr: expect.stringContaining('failed with 7') });
        expect(readFileSync(join(run_dir, 'setup.txt'), 'utf8')).toBe('broken\n');
        expect(exitRecord()).toEqual({ code: 7, signal: null, at: undefined });
      }
    });

    it('starts the agent at once where the repository names no set-up', async () => {
      git('init', '-q');
      expect(await inWorktree('console.log("at work")')).toMatchObject({ stdout: 'at work\n', stderr: '' });
    });
  });

  it('records a missing agent program', async () => {
    await start({ argv: ['no-such-agent', PROMPT] }, shell);
    expect(exitRecord()).toEqual({ code: null, signal: null, reason: 'agent_missing', at: undefined });
  });

  it('gives every value through unchanged and executes none of it', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed()),
      fc.constantFrom(
        '$(touch pwn)',
        '`touch pwn`',
        "'; touch pwn; '",
        '"',
        "'",
        '\\',
        '\\n\\',
        'a\nb\n',
        '~',
        '*',
        '-n',
        'é💥',
        '%s',
        '!!',
        '',
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(hostile, { maxLength: 4 }),
        hostile,
        hostile.filter((text) => text !== ''),
        async (words, value, prompt) => {
          const result = await start(
            {
              argv: [process.execPath, ECHO, ...words, PROMPT, 'last'],
              env: { GIVEN: value, prompt: value, code: value, name: value },
              prompt,
            },
            shell,
          );
          const said = JSON.parse(result.kind === 'exited' ? result.stdout : '{}');
          expect(said.argv).toEqual([...words, prompt, 'last']);
          expect(said.env).toMatchObject({
            GIVEN: value,
            prompt: value,
            code: value,
            name: value,
            PARENT: 'kept',
          });
          expect(said.cwd).toBe(root);
          expect(said.files).not.toContain('pwn');
        },
      ),
      { numRuns: 8, examples: [[[], '', 'a\nb\n\n']] },
    );
  });
});

it('gives the prompt byte for byte on standard input, and shows it to nobody else', async () => {
  const prompt = "It's $HOME and `cmd`.\n\n";
  const code = `process.stdin.setEncoding('utf8'); let all = ''; process.stdin.on('data', (text) => { all += text; });
    process.stdin.on('end', () => console.log(JSON.stringify({ all, line: require('fs').readFileSync('/proc/self/cmdline', 'utf8') })))`;
  const result = await start({ argv: agent(code), prompt, prompt_on_stdin: true });
  const said = JSON.parse(result.kind === 'exited' ? result.stdout : '{}');
  expect(said.all).toBe(prompt);
  expect(said.line).not.toContain('$HOME and');
});

describe('an agent with a memory group', () => {
  const inRun = (name: string) => readFileSync(join(run_dir, name), 'utf8');
  const cgroup = (folder: string): GroupEntry => ({
    kind: 'cgroup',
    folder,
    files: [['memory.max', '64000000']],
  });
  const systemd = (text: string): GroupEntry => {
    const program = join(root, 'systemd-run');
    writeFileSync(program, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return { kind: 'systemd', argv: [program, '--scope', '--'] };
  };

  it.each(SHELLS)('enters it before it is recorded, under %s', async (name, args) => {
    const folder = join(root, 'run-1');
    const result = await start({ argv: agent('process.exit(3)'), memory: cgroup(folder) }, [name, args]);
    expect(result).toMatchObject({ kind: 'exited', code: 3 });
    expect(readFileSync(join(folder, 'cgroup.procs'), 'utf8')).toBe('0');
    expect(inRun('memory.group')).toBe(`${folder}\n`);
    expect(inRun('memory.error')).toBe('');
  });

  it('does its work all the same where the group cannot be made, and tells why it had none', async () => {
    const result = await start({ argv: agent('console.log(1)'), memory: cgroup(join(root, 'gone/run-1')) });
    expect(result).toMatchObject({ kind: 'exited', code: 0, stdout: '1\n', stderr: '' });
    expect(inRun('memory.error')).toContain('gone/run-1');
    expect(() => inRun('memory.group')).toThrow();
    expect(exitRecord()).toEqual({ code: 0, signal: null, at: undefined });
  });

  it.each(SHELLS)(
    'is run in a scope, with its input, its output and its end as without one, under %s',
    async (name, args) => {
      const code = `process.stdin.pipe(process.stdout); process.stdin.on('end', () => { console.error('seen'); process.kill(process.pid, 'SIGKILL') })`;
      const options = { argv: agent(code), prompt: 'the words', prompt_on_stdin: true };
      const memory = systemd('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
      const result = await start({ ...options, memory }, [name, args]);
      expect(result).toMatchObject({ stdout: 'the words', stderr: expect.stringContaining('seen') });
      expect(exitRecord()).toEqual({ code: null, signal: 'SIGKILL', at: undefined });
      expect(inRun('memory.group')).toMatch(/^\/sys\/fs\/cgroup/);
      expect(readAgentPid(run_dir).kind).toBe('found');
    },
  );

  it('is run once without a scope where none can be made, and tells why', async () => {
    const memory = systemd('echo Failed to connect to bus >&2; exit 1');
    const result = await start({ argv: agent('console.log(1); process.exit(4)'), memory });
    expect(result).toMatchObject({ kind: 'exited', code: 4, stdout: '1\n' });
    expect(inRun('memory.error')).toBe('Failed to connect to bus\n');
  });
});

it.each(['Words.\n\n\n', '\n', 'Ends with a dot.', "'$(id)'\\n\n"])(
  '[PRM-7] gives the prompt %j as an argument, exact to the last newline',
  async (prompt) => {
    const result = await start({ argv: [process.execPath, ECHO, PROMPT], prompt });
    expect(JSON.parse(result.kind === 'exited' ? result.stdout : '{}').argv).toEqual([prompt]);
  },
);

it('points to the prompt file when no argument can hold the prompt', async () => {
  const prompt = 'x'.repeat(MAX_PROMPT_ARGUMENT_BYTES + 1);
  const result = await start({ argv: [process.execPath, ECHO, PROMPT], prompt });
  const said = JSON.parse(result.kind === 'exited' ? result.stdout : '{}');
  expect(said.argv).toEqual([pointerTo(`${run_dir}/prompt.md`)]);
});

it('gives the largest prompt that an argument can hold as an argument', async () => {
  const prompt = 'é'.repeat(MAX_PROMPT_ARGUMENT_BYTES / 2);
  const result = await start({ argv: [process.execPath, ECHO, PROMPT], prompt });
  expect(JSON.parse(result.kind === 'exited' ? result.stdout : '{}').argv).toEqual([prompt]);
});

it('keeps the caller’s umask for the agent and makes its own files private', async () => {
  const result = await start({ argv: agent('process.stdout.write(process.umask().toString(8))') });
  expect(result).toMatchObject({ stdout: process.umask().toString(8) });
  expect(readFileSync(join(run_dir, 'agent.pid'), 'utf8')).toMatch(/^\{"pid":\d+,"start_time":"[^"]+"\}\n$/);
});

it.each([
  ['a NUL', { argv: ['agent', 'a\0b'] }],
  ['a variable name that is none', { env: { 'A;B': 'x' } }],
  ['a relative directory', { project_dir: 'here' }],
  ['an argv that starts with the prompt', { argv: [PROMPT] }],
  ['half a surrogate pair', { argv: ['agent', '\ud800'] }],
])('refuses %s', (_what, change) => {
  const plan = {
    ...{ run_dir, project_dir: root, argv: ['agent'], env: {} },
    ...{ prompt_bytes: 1, prompt_on_stdin: false, memory: null },
  };
  expect(() => buildRunScript({ ...plan, ...(change as Partial<typeof plan>) })).toThrow(
    /run script could not be written/,
  );
});

it
  .skipIf(!isInstalled('shellcheck'))
  .each<GroupEntry | null>([
    null,
    { kind: 'cgroup', folder: '/group', files: [['memory.max', '64000000']] },
    { kind: 'systemd', argv: ['systemd-run', '--scope', '--'] },
  ])(
  'is a script that shellcheck has nothing to say about (skipped where it is not installed): %j',
  (memory) => {
    const file = join(root, 'run.sh');
    const argv: LaunchArgument[] = ['agent', '--prompt', PROMPT];
    const env = { NAME: 'two words' };
    const script = {
      run_dir: '/runs/one',
      project_dir: '/project',
      argv,
      env,
      prompt_on_stdin: false,
      own_worktree: true,
    };
    writeFileSync(file, buildRunScript({ ...script, prompt_bytes: 10, memory }));
    expect(shellcheck(file)).toBe('');
  },
);
