import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hookCommand } from '../../../src/harness/hooks/hook-command.ts';
import { ContextMailbox } from '../../../src/messages/context-mailbox.ts';
import { until } from '../../kit/until.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/svc.cjs', import.meta.url));
const ADDRESS = { host: 'here', harness: 'claude', native_id: 's-1' } as const;
let dir: string;
let started: ChildProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-hook-context-'));
});
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started = [];
  rmSync(dir, { recursive: true, force: true });
});

const transcript = () => join(dir, 'transcript.jsonl');
const mailbox = () => join(dir, 'data', 'messages', 'context', 'claude-s-1');

function put(id: string): void {
  const box = new ContextMailbox(join(dir, 'data', 'messages'));
  const marker = `[message ${id} from `;
  const place = { transcript: transcript(), offset: 0, created_at: Date.now() };
  box.put(ADDRESS, { message_id: id, marker, text: `${marker}ada]\nHello.`, ...place });
}

const input = (event: string, more: object = {}) =>
  JSON.stringify({ session_id: 's-1', transcript_path: transcript(), hook_event_name: event, ...more });

const env = () => ({ HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: join(dir, 'data'), SVC_HOST: 'here' });

/** Runs a hook as the agent program does, through the shell; gives what it printed. */
function hook(event: string, more: object = {}, command = hookCommand('claude')): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { env: env(), stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stdin.end(input(event, more));
  return new Promise((resolve) => child.on('close', () => resolve(out)));
}

const shown = (out: string) => (out === '' ? null : JSON.parse(out).hookSpecificOutput);

describe('a hook', () => {
  it.each(['UserPromptSubmit', 'PostToolUse'])('[MSG-2] of %s adds what waits, once', async (event) => {
    put('c-1');
    put('c-2');
    expect(shown(await hook(event))).toEqual({
      hookEventName: event,
      additionalContext: '[message c-1 from ada]\nHello.\n\n[message c-2 from ada]\nHello.',
    });
    expect(await hook(event)).toBe('');
  });

  it.each([
    ['Stop', {}],
    ['SessionStart', { source: 'startup' }],
    ['PreToolUse', {}],
    // A sub-agent has a conversation of its own.
    ['PostToolUse', { agent_id: 'a-1' }],
    ['UserPromptSubmit', { session_id: 's-2' }],
    ['UserPromptSubmit', { session_id: '../s-1' }],
  ])('[MDS-1] of %s %j adds nothing', async (event, more) => {
    put('c-1');
    expect(await hook(event, more)).toBe('');
    expect(readdirSync(mailbox())).toEqual([expect.stringMatching(/waiting$/)]);
  });

  it('that another version set up, whose output is lost, takes nothing', async () => {
    put('c-1');
    const old = `${process.execPath} ${LAUNCHER} hook event --harness claude >/dev/null 2>&1 || true`;
    await hook('UserPromptSubmit', {}, old);
    expect(shown(await hook('UserPromptSubmit'))).toMatchObject({
      additionalContext: expect.stringContaining('c-1'),
    });
  });

  it('leaves no mailbox behind once the transcript shows what was in it', async () => {
    put('c-1');
    const { additionalContext } = shown(await hook('UserPromptSubmit'));
    writeFileSync(transcript(), JSON.stringify({ additionalContext }));
    await hook('PostToolUse');
    expect(readdirSync(join(mailbox(), '..'))).toEqual([]);
  });

  it('adds each message once where many hooks of a session run at once', async () => {
    const ids = Array.from({ length: 6 }, (_, at) => `c-${at}`);
    for (const id of ids) put(id);
    const outputs = await Promise.all(ids.map(() => hook('PostToolUse')));
    const all = outputs.join('');
    for (const id of ids) expect(all.split(`[message ${id} from `)).toHaveLength(2);
  });

  it('adds nothing that is not whole, and is not kept from the rest by it', async () => {
    put('c-1');
    const [name = ''] = readdirSync(mailbox());
    writeFileSync(join(mailbox(), name.replace(/^\d{15}/, '000000000000000')), '{"version":1,"te');
    expect(shown(await hook('UserPromptSubmit'))).toMatchObject({
      additionalContext: expect.stringContaining('c-1'),
    });
  });
});

describe('a hook that is killed between taking and printing', () => {
  /** A pipe that takes nothing more, so that the hook stands where it prints. */
  function fullPipe(): { path: string; close(): void; read(): string } {
    const path = join(dir, 'pipe');
    execFileSync('mkfifo', [path]);
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const block = Buffer.alloc(4_096, '.');
    const fill = () => {
      try {
        while (writeSync(fd, block) > 0);
      } catch {
        // It is full.
      }
    };
    fill();
    return {
      path,
      close: () => closeSync(fd),
      read() {
        const chunk = Buffer.alloc(1024 * 1024);
        try {
          return chunk.toString('utf8', 0, readSync(fd, chunk));
        } catch {
          return '';
        }
      },
    };
  }

  const hookPid = () => join(dir, 'hook.pid');

  /** An agent program: it runs one hook with its output in the pipe, and lives on. */
  function agent(pipe: string): ChildProcess {
    const script = `
      const { spawn } = require('node:child_process');
      const [command, input, pid] = process.argv.slice(1);
      const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'inherit', 'inherit'], detached: true });
      require('node:fs').writeFileSync(pid, String(child.pid));
      child.stdin.end(input);
      setInterval(() => {}, 1000);`;
    const command = `exec 1>${pipe}; ${hookCommand('claude')}`;
    const child = spawn(process.execPath, ['-e', script, command, input('UserPromptSubmit'), hookPid()], {
      env: env(),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    started.push(child);
    return child;
  }

  it('[MSG-2] is not repeated while its agent lives, and its message is added to the resumed conversation', async () => {
    put('c-1');
    const pipe = fullPipe();
    try {
      const first = agent(pipe.path);
      const taken = await until('the hook took the message', () =>
        readdirSync(mailbox()).find((name) => name.includes('.taken-')),
      );
      expect(taken).toContain(`.taken-${first.pid}-`);
      // The shell and the hook are a group of their own.
      process.kill(-Number(readFileSync(hookPid(), 'utf8')), 'SIGKILL');
      expect(pipe.read()).not.toContain('c-1');
      expect(await hook('UserPromptSubmit')).toBe('');
      const gone = new Promise((resolve) => first.on('exit', resolve));
      first.kill('SIGKILL');
      await gone;
      expect(shown(await hook('UserPromptSubmit'))).toMatchObject({
        additionalContext: expect.stringContaining('c-1'),
      });
      expect(await hook('UserPromptSubmit')).toBe('');
    } finally {
      pipe.close();
    }
  });
});
