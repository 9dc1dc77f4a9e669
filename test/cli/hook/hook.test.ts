import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseLastCommit } from '../../../src/cli/hook/commit-line.cjs';
import { eventLine } from '../../../src/cli/hook/event-line.cjs';
import { commitFolder } from '../../../src/cli/hook/git-command.cjs';
import { pointerTo } from '../../../src/harness/adapter.ts';
import { ROTATE_BYTES } from '../../../src/ledgers/append-line.cjs';
import { stuckOpen } from '../../kit/stuck-open.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/svc.cjs', import.meta.url));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-hook-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Ended = { code: number | null; out: string; ms: number };

/** Runs the real command; `input` null leaves its stdin open, and so does `isOpen`. */
function hook(
  args: string[],
  input: string | null,
  more: Record<string, string> = {},
  cwd = dir,
  isOpen = false,
): Promise<Ended> {
  const started = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, 'hook', ...args], {
    cwd,
    env: { HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: join(dir, 'data'), SVC_HOST: 'host-a', ...more },
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      out += chunk;
    });
  child.stdin.on('error', () => {});
  if (input !== null) child.stdin.write(input);
  if (input !== null && !isOpen) child.stdin.end();
  return new Promise((resolve) =>
    child.on('close', (code) => {
      child.stdin.destroy();
      resolve({ code, out, ms: performance.now() - started });
    }),
  );
}

const START = {
  session_id: 's-1',
  transcript_path: '/t/s-1.jsonl',
  cwd: '/srv/dev',
  hook_event_name: 'SessionStart',
  source: 'clear',
};
const lines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const events = () => lines(join(dir, 'data', 'events.jsonl'));
const silent = { code: 0, out: '' };

describe('svc hook event', () => {
  it('[WPL-5] [P16] finds the run of a claimed session by its pane, until that run has ended', async () => {
    const run = join(dir, 'data', 'runs', 'launch-1');
    for (const folder of [run, join(dir, 'data', 'claimed')]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(dir, 'data', 'claimed', '4711-12'), 'launch-1\n');
    const state = (text: string) =>
      writeFileSync(join(run, 'run.json'), JSON.stringify({ mux_session: 'desk', state: text }));
    const stop = JSON.stringify({
      session_id: 's-1',
      hook_event_name: 'Stop',
      last_assistant_message: 'Done.',
    });
    const tell = (pane: string) => hook(['event'], stop, { TMUX: '/tmp/tmux-0/a,b,4711,3', TMUX_PANE: pane });
    state('spawned');
    for (const pane of ['%12', '%13', '%../../runs', '']) expect(await tell(pane)).toMatchObject(silent);
    state('ended');
    expect(await tell('%12')).toMatchObject(silent);
    expect(lines(join(run, 'phases.jsonl'))).toMatchObject([
      { session: 's-1', phase: 'idle', said: 'Done.' },
    ]);
    expect(events().map(({ tmuxSession }) => tmuxSession)).toEqual(['desk', null, null, null, null]);
  });

  it('[P7] records the event and, in its run, the session id that the program reports', async () => {
    const run = join(dir, 'run');
    mkdirSync(run);
    writeFileSync(
      join(run, 'run.json'),
      JSON.stringify({ mux_session: 'loader-01K-svc', session_uuid: 's-0' }),
    );
    expect(
      await hook(['event', '--harness', 'codex'], JSON.stringify(START), { SVC_RUN_DIR: run }),
    ).toMatchObject(silent);
    expect(events()).toEqual([
      {
        id: expect.any(String),
        timestamp: expect.any(Number),
        type: 'session_start',
        sessionId: 's-1',
        cwd: '/srv/dev',
        tmuxSession: 'loader-01K-svc',
        harness: 'codex',
        originName: 'host-a',
        source: 'clear',
      },
    ]);
    expect(lines(join(run, 'sessions.jsonl'))).toEqual([
      {
        at: expect.any(Number),
        type: 'session_start',
        source: 'clear',
        session: 's-1',
        transcript: '/t/s-1.jsonl',
      },
    ]);
    expect(statSync(join(run, 'sessions.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('[P16] records the time that the agent program reports, unless that is implausible', async () => {
    const run = join(dir, 'run');
    mkdirSync(run);
    const before = Date.now();
    for (const told_at of [before - 5_000, before - 3_600_000, before + 3_600_000, 'soon', undefined])
      await hook(['event'], JSON.stringify({ session_id: 's-1', hook_event_name: 'Stop', told_at }), {
        SVC_RUN_DIR: run,
      });
    const [first, ...others] = events().map(({ timestamp }) => timestamp);
    expect(first).toBe(before - 5_000);
    expect(others).toHaveLength(4);
    for (const at of others) {
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
    expect(lines(join(run, 'phases.jsonl')).map(({ at }) => at)).toEqual([first, ...others]);
  });

  it('[P10] records in its run a turn that failed at a usage limit, and no other failure', async () => {
    const run = join(dir, 'run');
    mkdirSync(run);
    const failure = (said: string) =>
      JSON.stringify({
        session_id: 's-1',
        hook_event_name: 'StopFailure',
        error: 'unknown',
        last_assistant_message: said,
      });
    const told = join(run, 'usage-limits.jsonl');
    await hook(['event'], failure('API Error: 400 stub error'), { SVC_RUN_DIR: run });
    expect(existsSync(told)).toBe(false);
    const notice = "You've hit your session limit · resets 8pm (UTC)";
    expect(await hook(['event'], failure(notice), { SVC_RUN_DIR: run })).toMatchObject(silent);
    expect(lines(told)).toEqual([{ at: expect.any(Number), type: 'usage_limit', session: 's-1', notice }]);
    expect(statSync(told).mode & 0o777).toBe(0o600);
    expect(events().map(({ type }) => type)).toEqual(['stop_failure', 'stop_failure']);
  });

  it.each(['', 'no json', 'null', '[]', '{"hook_event_name":"PreCompact"}'])(
    'exits with 0 and writes nothing for input that is not an event: %j',
    async (input) => {
      expect(await hook(['event'], input)).toMatchObject(silent);
      expect(existsSync(join(dir, 'data'))).toBe(false);
    },
  );

  it('[P7] loads no TypeScript, no streams, no cryptography and no library', () => {
    const list = join(dir, 'loaded');
    const tell = join(dir, 'tell.cjs');
    const keep = `require('node:fs').writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.concat(Object.keys(require.cache)).join('\\n'))`;
    writeFileSync(tell, `process.on('exit', () => ${keep});`);
    const env = { HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: join(dir, 'data') };
    const words = ['--no-experimental-strip-types', '-r', tell, LAUNCHER, 'hook', 'event'];
    execFileSync(process.execPath, words, { cwd: dir, env, input: JSON.stringify(START) });
    expect(events()).toHaveLength(1);
    const loaded = readFileSync(list, 'utf8').split('\n');
    expect(loaded.filter((name) => /src\/cli\/hook\/run\.cjs$/.test(name))).toHaveLength(1);
    const heavy = /node_modules|\.ts$|NativeModule (stream|crypto|net|child_process|internal\/fs\/promises)$/;
    expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
  });

  it('exits with 0 soon when its input never ends', async () => {
    const ended = await hook(['event'], null);
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeLessThan(10_000);
  });

  it('[EVT-4] accepts complete input although the pipe stays open', async () => {
    expect(await hook(['event'], JSON.stringify(START), {}, dir, true)).toMatchObject(silent);
    expect(events()).toMatchObject([{ type: 'session_start', sessionId: 's-1' }]);
  });

  it.each([
    ['event', JSON.stringify(START), 'SVC_EVENTS_FILE'],
    ['commit', '', 'SVC_COMMITS_FILE'],
  ])('`hook %s` exits with 0 in time when its ledger hangs', async (name, input, variable) => {
    const ledger = join(dir, 'ledger.jsonl');
    const repo = fileURLToPath(new URL('../../..', import.meta.url));
    const stuck = stuckOpen(join(dir, 'fifo'), [ledger]);
    stuck.hold();
    const ended = await hook([name], input, { [variable]: ledger, ...stuck.env }, repo);
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeGreaterThan(1_900);
    expect(ended.ms).toBeLessThan(10_000);
    expect(existsSync(ledger)).toBe(false);
  });

  it.each([
    ['event', JSON.stringify(START), 'SVC_EVENTS_FILE'],
    ['commit', '', 'SVC_COMMITS_FILE'],
  ])('`hook %s` does not wait for a named pipe at the path of its ledger', async (name, input, variable) => {
    const pipe = join(dir, 'pipe');
    const repo = fileURLToPath(new URL('../../..', import.meta.url));
    execFileSync('mkfifo', [pipe]);
    // The end that is open holds back every reader until there is something to read, and fills up.
    const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const full = Buffer.alloc(64 * 1024);
    try {
      while (writeSync(held, full) > 0);
    } catch {
      // It is full.
    }
    const ended = await hook([name], input, { [variable]: pipe }, repo);
    closeSync(held);
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeLessThan(10_000);
  });

  it.each([
    ['event', JSON.stringify(START), 'run.json'],
    ['commit', '', 'run.json'],
    ['commit', '', 'sessions.jsonl'],
    ['event', JSON.stringify(START), 'host.json'],
  ])('`hook %s` exits with 0 in time when a file that it reads hangs', async (name, input, file) => {
    const repo = fileURLToPath(new URL('../../..', import.meta.url));
    const run = join(dir, 'run');
    mkdirSync(run);
    const stuck = stuckOpen(join(dir, 'fifo'), [join(run, file)]);
    stuck.hold();
    const more = {
      SVC_RUN_DIR: run,
      SVC_HOST_CONFIG_FILE: join(run, 'host.json'),
      SVC_HOST: '',
      ...stuck.env,
    };
    const ended = await hook([name], input, more, repo);
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeGreaterThan(1_900);
    expect(ended.ms).toBeLessThan(10_000);
  });

  it('reads nothing from a pipe or an endless file at the path of its files', async () => {
    const run = join(dir, 'run');
    mkdirSync(run);
    execFileSync('mkfifo', [join(run, 'run.json')]);
    symlinkSync('/dev/zero', join(run, 'host.json'));
    const more = { SVC_RUN_DIR: run, SVC_HOST_CONFIG_FILE: join(run, 'host.json'), SVC_HOST: '' };
    const ended = await hook(['event'], JSON.stringify(START), more);
    expect(ended).toMatchObject(silent);
    expect(events()).toMatchObject([{ type: 'session_start', sessionId: 's-1' }]);
  });

  it.each([
    ['a full disk', () => ({ SVC_EVENTS_FILE: '/dev/full' })],
    ['a folder that cannot be made', () => ({ SVC_EVENTS_FILE: '/proc/nowhere/events.jsonl' })],
    [
      'a folder in the file’s place',
      () => {
        mkdirSync(join(dir, 'data', 'events.jsonl'), { recursive: true });
        return {};
      },
    ],
  ])('exits with 0 and prints nothing on %s', async (_what, prepare) => {
    expect(await hook(['event'], JSON.stringify(START), prepare())).toMatchObject(silent);
  });

  it('[EVT-4] [P7] loses no line of 50 concurrent processes, while one of them rotates the file once', async () => {
    const path = join(dir, 'data', 'events.jsonl');
    mkdirSync(join(dir, 'data'));
    openSync(path, 'w');
    truncateSync(path, ROTATE_BYTES);
    const ends = await Promise.all(
      Array.from({ length: 50 }, (_, nth) =>
        hook(['event'], JSON.stringify({ ...START, session_id: `s-${nth}` })),
      ),
    );
    expect(ends.every(({ code }) => code === 0)).toBe(true);
    expect(statSync(`${path}.1`).size).toBeGreaterThanOrEqual(ROTATE_BYTES);
    expect(existsSync(path) ? statSync(path).size : 0).toBeLessThan(100_000);
    const old = readFileSync(`${path}.1`).subarray(ROTATE_BYTES).toString('utf8');
    const all = [
      ...old
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
      ...(existsSync(path) ? events() : []),
    ];
    expect(all.map(({ sessionId }) => sessionId).sort()).toEqual(
      Array.from({ length: 50 }, (_, nth) => `s-${nth}`).sort(),
    );
  }, 90_000);

  const around = { id: 'i', now: 5, harness: 'claude', mux_session: null, host: 'h' };
  it('records the files of a tool call, and no text of a command, an answer or a message', () => {
    const secret = 'do not keep';
    const tool = (tool_name: string, tool_input: object) =>
      eventLine(
        { hook_event_name: 'PreToolUse', session_id: 's', tool_name, tool_input, tool_response: secret },
        around,
      );
    expect(tool('SendUserFile', { files: ['out/a.png', 3], caption: secret })).toMatchObject({
      tool: 'SendUserFile',
      toolInput: { files: ['out/a.png'] },
    });
    expect(tool('Bash', { command: secret })).not.toHaveProperty('toolInput');
    for (const event of [
      tool('Bash', { command: secret }),
      tool('Write', { file_path: '/a', content: secret }),
      eventLine({ hook_event_name: 'UserPromptSubmit', prompt: secret }, around),
      eventLine({ hook_event_name: 'Notification', message: secret }, around),
      eventLine({ hook_event_name: 'Stop', last_assistant_message: secret }, around),
    ])
      expect(JSON.stringify(event)).not.toContain(secret);
  });

  it('marks the input of a tool as truncated above 8 KiB, and keeps its files', () => {
    const write = (length: number) =>
      eventLine(
        {
          hook_event_name: 'PreToolUse',
          tool_name: 'Write',
          tool_input: { file_path: '/a', content: 'é'.repeat(length) },
        },
        around,
      );
    expect(write(4_050)).not.toHaveProperty('truncated');
    expect(write(4_100)).toMatchObject({ truncated: true, toolInput: { file_path: '/a' } });
  });

  it('distinguishes messages of a harness or the service from messages that a person typed', () => {
    const prompt = (text: string, prompt_source?: string) =>
      eventLine({ hook_event_name: 'UserPromptSubmit', prompt: text, prompt_source }, around);
    for (const text of [
      'You are a fiber worker: activate …',
      pointerTo('/data/runs/01K/prompt.md'),
      '<file name="/data/runs/01K/prompt.md">\nYou are a fiber worker:',
      'Another Claude session sent a message:\nhello',
      'Stop hook feedback:\ngo on',
      '<task-notification>done</task-notification>',
      '\n<hook_prompt id="1">go on</hook_prompt>',
      '[message m-1 from svc://host-a/claude/s-1]\nhello',
      '[message m-1 from ada]\nhello',
      '[message m-1 (ends with 0a1b2c3d4e5f6071) from ada]\nhello',
    ])
      expect(prompt(text)).toMatchObject({ machine: true });
    expect(prompt('hello', 'extension')).toMatchObject({ machine: true });
    expect(prompt('hello', 'interactive')).not.toHaveProperty('machine');
    expect(prompt('tell me: You are a fiber worker: what is that?')).not.toHaveProperty('machine');
  });

  it.each([
    ['Bash', { command: 'git add . && git commit -m "x"' }, '/w'],
    ['Bash', { command: 'cd sub && git commit -m x' }, '/w/sub'],
    ['bash', { command: "git -C '/o t' cherry-pick abc" }, '/o t'],
    ['exec_command', { cmd: 'git merge --no-ff topic' }, '/w'],
    ['Bash', { command: 'git log' }, null],
    ['Bash', { command: 'git status; echo commit' }, null],
    ['Write', { command: 'git commit' }, null],
  ])('searches for a commit after a shell command that may have made one: %s %j', (tool, input, folder) => {
    expect(commitFolder(tool, input, '/w')).toBe(folder);
  });

  it('handles a command of megabytes in which every word may start a match', () => {
    expect(commitFolder('Bash', { command: 'git -C '.repeat(500_000) }, '/w')).toBeNull();
    expect(commitFolder('Bash', { command: `${'git '.repeat(500_000)}commit` }, '/w')).toBe('/w');
  });
});

describe('svc hook commit', () => {
  it('records the last commit once, with the session of its run or of the tool call that made it', async () => {
    const run = join(dir, 'run');
    const repo = join(dir, 'repo');
    mkdirSync(run);
    mkdirSync(repo);
    writeFileSync(join(run, 'run.json'), JSON.stringify({ mux_session: 'm', session_uuid: 's-0' }));
    const hooked = `#!/bin/sh\n'${process.execPath}' '${LAUNCHER}' hook commit\n`;
    const git = (...args: string[]) =>
      new Promise<number | null>((resolve) =>
        spawn('git', args, {
          cwd: repo,
          stdio: 'ignore',
          env: {
            ...{ HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: join(dir, 'data'), SVC_RUN_DIR: run },
            ...{
              GIT_AUTHOR_NAME: 'a',
              GIT_AUTHOR_EMAIL: 'a@b',
              GIT_COMMITTER_NAME: 'a',
              GIT_COMMITTER_EMAIL: 'a@b',
            },
          },
        }).on('close', resolve),
      );
    await git('init', '-q');
    writeFileSync(join(repo, '.git', 'hooks', 'post-commit'), hooked);
    chmodSync(join(repo, '.git', 'hooks', 'post-commit'), 0o755);
    writeFileSync(join(repo, 'a.txt'), 'one\ntwo\n');
    await git('add', '.');
    expect(await git('commit', '-qm', 'Add two lines')).toBe(0);
    expect(lines(join(dir, 'data', 'commits.jsonl'))).toEqual([
      {
        at: expect.any(Number),
        kind: 'commit',
        sha: expect.stringMatching(/^[0-9a-f]{40}$/),
        subject: 'Add two lines',
        repo: expect.stringMatching(/\/repo$/),
        files: 1,
        insertions: 2,
        deletions: 0,
        session: 's-0',
        mux: 'm',
        cwd: expect.stringMatching(/\/repo$/),
      },
    ]);
    const tool = (session_id: string) =>
      hook(
        ['event'],
        JSON.stringify({
          ...{ session_id, cwd: repo, hook_event_name: 'PostToolUse' },
          ...{ tool_name: 'Bash', tool_input: { command: 'git commit -am x' } },
        }),
      );
    expect(await tool('s-5')).toMatchObject(silent);
    expect(await hook(['commit'], '', {}, repo)).toMatchObject(silent);
    expect(lines(join(dir, 'data', 'commits.jsonl'))).toHaveLength(1);
    rmSync(join(repo, '.git', 'hooks', 'post-commit'));
    await git('commit', '-q', '--allow-empty', '-m', 'Nothing');
    expect(await tool('s-5')).toMatchObject(silent);
    expect(lines(join(dir, 'data', 'commits.jsonl'))[1]).toMatchObject({
      ...{ subject: 'Nothing', files: 0, session: 's-5', mux: null },
    });
    const { GIT_COMMITTER_DATE } = { GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z' };
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'Old'],
      {
        cwd: repo,
        env: { HOME: dir, PATH: process.env.PATH, GIT_COMMITTER_DATE },
      },
    );
    expect(await tool('s-5')).toMatchObject(silent);
    expect(lines(join(dir, 'data', 'commits.jsonl'))).toHaveLength(2);
  });

  it('exits with 0 outside a work tree, and records only commits', async () => {
    expect(await hook(['commit'], '', { GIT_CEILING_DIRECTORIES: '/' }, '/')).toMatchObject(silent);
    expect(existsSync(join(dir, 'data'))).toBe(false);
    expect(parseLastCommit('fatal: not a git repository')).toBeNull();
  });
});
