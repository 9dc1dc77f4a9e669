import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAgentPid, readExit } from '../../../src/dispatch/run/run-directory.ts';
import { buildRunScript, MAX_PROMPT_ARGUMENT_BYTES } from '../../../src/dispatch/run/run-script.ts';
import { type LaunchArgument, PROMPT } from '../../../src/harness/adapter.ts';
import { findExecutable } from '../../../src/platform/find-executable.ts';
import { runProcess } from '../../../src/platform/process.ts';

const PATH = process.env.PATH ?? '';
const SHELLS = [
  ['dash', []],
  ['bash', ['--posix']],
].filter(([name]) => findExecutable(name as string, PATH) !== null) as [string, string[]][];
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
  },
  shell: [string, string[]] = ['sh', []],
) {
  const prompt = options.prompt ?? 'Do the work.';
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

  it('records a missing project directory and starts nothing', async () => {
    await start({ argv: agent(''), project_dir: join(root, 'not there') }, shell);
    expect(exitRecord()).toEqual({ code: null, signal: null, reason: 'project_dir_missing', at: undefined });
    expect(readAgentPid(run_dir)).toEqual({ kind: 'none' });
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
          expect(said.argv).toEqual([...words, prompt.replace(/\n+$/, ''), 'last']);
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
      { numRuns: 8 },
    );
  });
});

it('points to the prompt file when no argument can hold the prompt', async () => {
  const prompt = 'x'.repeat(MAX_PROMPT_ARGUMENT_BYTES + 1);
  const result = await start({ argv: [process.execPath, ECHO, PROMPT], prompt });
  const said = JSON.parse(result.kind === 'exited' ? result.stdout : '{}');
  expect(said.argv).toEqual([`Read the file ${run_dir}/prompt.md now: it is your task.`]);
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
  const plan = { run_dir, project_dir: root, argv: ['agent'], env: {}, prompt_bytes: 1 };
  expect(() => buildRunScript({ ...plan, ...(change as Partial<typeof plan>) })).toThrow(
    /run script could not be written/,
  );
});
