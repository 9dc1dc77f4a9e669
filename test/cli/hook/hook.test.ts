import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSpooled } from '../../../src/dispatch/run-directory/spooled-hook.ts';
import { hookCommand, hookScript } from '../../../src/harness/hooks/hook-command.ts';
import { parseLastCommit } from '../../../src/ledgers/commit-line.cjs';
import { stuckOpen } from '../../kit/stuck-open.ts';
import { until } from '../../kit/until.ts';

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/svc.cjs', import.meta.url));
/** A copy of the script that any user may read, wherever this checkout is. */
const readable = mkdtempSync(join(tmpdir(), 'svc-hook-script-'));
const SCRIPT = join(readable, 'svc-hook.sh');
chmodSync(readable, 0o755);
copyFileSync(hookScript(), SCRIPT);
chmodSync(SCRIPT, 0o644);
afterAll(() => rmSync(readable, { recursive: true, force: true }));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-hook-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Ended = { code: number | null; out: string; ms: number };
type How = {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Its stdin stays open. */
  open?: boolean;
  /** Who runs it, if the tests run as root. */
  uid?: number;
};

/** Runs a program with this on its stdin. */
function run(
  [file = '', ...args]: string[],
  input: string,
  { env = {}, cwd = dir, open = false, uid }: How = {},
): Promise<Ended> {
  const started = performance.now();
  const child = spawn(file, args, {
    cwd,
    env: { HOME: dir, PATH: process.env.PATH, SVC_DATA_DIR: join(dir, 'data'), ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      out += chunk;
    });
  child.stdin.on('error', () => {});
  child.stdin.write(input);
  if (!open) child.stdin.end();
  return new Promise((resolve) =>
    child.on('close', (code) => {
      child.stdin.destroy();
      resolve({ code, out, ms: performance.now() - started });
    }),
  );
}

const script = (input: string, how?: How, shell = '/bin/sh') =>
  run([shell, hookScript(), 'claude'], input, how);
const svc = (args: string[], input: string, how?: How) =>
  run([process.execPath, LAUNCHER, 'hook', ...args], input, how);

const START = {
  session_id: 's-1',
  transcript_path: '/t/s-1.jsonl',
  cwd: '/srv/dev',
  hook_event_name: 'SessionStart',
  source: 'clear',
};
const folder = () => join(dir, 'data', 'hook-spool');
const names = () => (existsSync(folder()) ? readdirSync(folder()).filter((name) => name !== 'dropped') : []);
const left = () => names().map((name) => parseSpooled(readFileSync(join(folder(), name), 'utf8')));
const dropped = () => statSync(join(folder(), 'dropped'), { throwIfNoEntry: false })?.size ?? 0;
/** Root may do everything. */
const asUser = () => (process.getuid?.() === 0 ? { uid: 65_534 } : {});
const silent = { code: 0, out: '' };
const SHELLS = ['/bin/sh', '/bin/dash', '/bin/bash', '/usr/bin/zsh', '/usr/bin/mksh'].filter((shell) =>
  existsSync(shell),
);

describe('the script of a hook', () => {
  it.each(SHELLS)(
    '[EVT-4] leaves the event with its surroundings, and prints nothing, in %s',
    async (shell) => {
      const event = { ...START, prompt: 'é "q" \\n %s $(x) `y`\n', text: '𝒳'.repeat(200_000) };
      const surroundings = { SVC_RUN_DIR: `${dir}/a run`, TMUX: '/tmp/t,1,0', TMUX_PANE: '%3' };
      symlinkSync(shell, join(dir, 'sh'));
      expect(await script(JSON.stringify(event), { env: surroundings }, join(dir, 'sh'))).toMatchObject(
        silent,
      );
      expect(left()).toEqual([
        { harness: 'claude', run_dir: `${dir}/a run`, tmux: '/tmp/t,1,0', pane: '%3', input: event },
      ]);
    },
  );

  it('starts no program but cat, and none at all besides the shell that runs it', async () => {
    mkdirSync(folder(), { recursive: true });
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync(execFileSync('which', ['cat'], { encoding: 'utf8' }).trim(), join(bin, 'cat'));
    const ended = await run(['/bin/sh', '-c', hookCommand('claude')], JSON.stringify(START), {
      env: { PATH: bin },
    });
    expect(ended).toMatchObject(silent);
    expect(left()).toMatchObject([{ input: START }]);
  });

  it('lets the agent go on if its installation was removed', async () => {
    const command = hookCommand('claude').replaceAll('svc-hook.sh', 'gone.sh');
    for (const shell of ['/bin/sh', ...SHELLS, ...['/usr/bin/fish'].filter((one) => existsSync(one))])
      expect(await run([shell, '-c', command], JSON.stringify(START))).toMatchObject(silent);
    expect(names()).toEqual([]);
  });

  it('is called by its command in every shell that a program may use', async () => {
    const shells = [...SHELLS, ...['/usr/bin/fish'].filter((one) => existsSync(one))];
    for (const shell of shells)
      expect(await run([shell, '-c', hookCommand('claude')], JSON.stringify(START))).toMatchObject(silent);
    expect(left()).toHaveLength(shells.length);
  });

  it('keeps events of a process id that came again apart', async () => {
    mkdirSync(folder(), { recursive: true });
    const taken = `for n in 0 1; do echo other > "${folder()}/$$.$n"; done; exec /bin/sh '${hookScript()}' claude`;
    expect(await run(['/bin/sh', '-c', taken], JSON.stringify(START))).toMatchObject(silent);
    expect(
      names()
        .map((name) => name.replace(/^\d+/, 'pid'))
        .sort(),
    ).toEqual(['pid.0', 'pid.1', 'pid.2']);
    expect(left().filter((one) => one !== null)).toHaveLength(1);
  });

  it('drops and counts what comes on top of 4,096 files, without waiting', async () => {
    mkdirSync(folder(), { recursive: true });
    for (let nth = 0; nth < 4_095; nth += 1) writeFileSync(join(folder(), `1.${nth}`), '');
    expect(await script(JSON.stringify(START))).toMatchObject(silent);
    expect([names().length, dropped()]).toEqual([4_096, 0]);
    for (const nth of [1, 2]) {
      expect(await script(JSON.stringify(START))).toMatchObject(silent);
      expect([names().length, dropped()]).toEqual([4_096, nth]);
    }
  });

  it('drops and counts what comes on top of 256 MiB', async () => {
    mkdirSync(folder(), { recursive: true });
    for (let nth = 0; nth < 40; nth += 1) writeFileSync(join(folder(), `1.${nth}`), '');
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    // So much is not written in a test.
    const tell = (kib: number) =>
      writeFileSync(join(bin, 'du'), `#!/bin/sh\nprintf '%s\\t%s\\n' ${kib} "$2"\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    tell(262_143);
    await script(JSON.stringify(START), { env });
    expect([names().length, dropped()]).toEqual([41, 0]);
    tell(262_144);
    expect(await script(JSON.stringify(START), { env })).toMatchObject(silent);
    expect([names().length, dropped()]).toEqual([41, 1]);
  });

  it('leaves no part of an event that is longer than 16 MiB, and counts it', async () => {
    const event = JSON.stringify({ ...START, text: 'x'.repeat(17 * 1024 * 1024) });
    expect(await script(event)).toMatchObject(silent);
    expect([names(), dropped()]).toEqual([[], 1]);
  });

  it('[EVT-4] has left the event although its stdin stays open', async () => {
    const child = spawn('/bin/sh', [hookScript(), 'claude'], {
      env: { HOME: dir, PATH: process.env.PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    try {
      child.stdin.write(JSON.stringify(START));
      const own = join(dir, '.svc', 'hook-spool');
      await until('the event is there', () => {
        const [name] = existsSync(own) ? readdirSync(own) : [];
        return name !== undefined && parseSpooled(readFileSync(join(own, name), 'utf8')) !== null;
      });
    } finally {
      child.stdin.destroy();
      child.kill('SIGKILL');
    }
  });

  it.each([
    [
      'a folder that this user may not write',
      () => {
        mkdirSync(folder(), { recursive: true });
        for (const path of [dir, join(dir, 'data')]) chmodSync(path, 0o755);
        chmodSync(folder(), 0o500);
        return {};
      },
    ],
    [
      'a folder of another user',
      () => {
        mkdirSync(folder(), { recursive: true });
        for (const path of [dir, join(dir, 'data')]) chmodSync(path, 0o755);
        chmodSync(folder(), process.getuid?.() === 0 ? 0o700 : 0);
        return {};
      },
    ],
    [
      'a file in its place',
      () => {
        mkdirSync(join(dir, 'data'));
        writeFileSync(folder(), '');
        return {};
      },
    ],
    ['a folder that cannot be made', () => ({ SVC_DATA_DIR: '/proc/nowhere' })],
    ['no home', () => ({ SVC_DATA_DIR: '', HOME: '' })],
  ])('lets the agent go on with %s', async (_what, prepare) => {
    const env = prepare();
    const how = { env, cwd: '/', ...asUser() };
    const command = hookCommand('claude').replaceAll(hookScript(), SCRIPT);
    expect(await run(['/bin/sh', '-c', command], JSON.stringify(START), how)).toMatchObject(silent);
    if (statSync(folder(), { throwIfNoEntry: false })?.isDirectory()) {
      chmodSync(folder(), 0o700);
      expect(readdirSync(folder())).toEqual([]);
    }
  });

  it('leaves no part of an event where the disk takes no more, and counts it', async () => {
    const event = JSON.stringify({ ...START, text: 'x'.repeat(200_000) });
    chmodSync(dir, 0o777);
    // Only root could raise the limit again.
    const full = `ulimit -f 64; exec /bin/sh '${SCRIPT}' claude`;
    expect(await run(['/bin/sh', '-c', full], event, { cwd: '/', ...asUser() })).toMatchObject(silent);
    expect([names(), dropped()]).toEqual([[], 1]);
  });
});

describe('svc hook event', () => {
  it('leaves an event as the script does, for hooks of an earlier version', async () => {
    expect(await svc(['event', '--harness', 'codex', '--context'], JSON.stringify(START))).toMatchObject(
      silent,
    );
    expect(await svc(['event'], JSON.stringify(START), { env: { SVC_HARNESS: 'pi' } })).toMatchObject(silent);
    expect(await svc(['event'], JSON.stringify(START))).toMatchObject(silent);
    expect(left().map((one) => [one?.harness, one?.input])).toEqual(
      expect.arrayContaining(['codex', 'pi', 'claude'].map((harness) => [harness, START])),
    );
  });

  it.each(['', 'no json'])('exits with 0 and leaves nothing for %j', async (input) => {
    expect(await svc(['event'], input)).toMatchObject(silent);
    expect(names()).toEqual([]);
  });

  it('exits with 0 soon when its input never ends', async () => {
    const ended = await svc(['event'], '', { open: true });
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeLessThan(10_000);
  });

  it('[EVT-4] accepts complete input although the pipe stays open', async () => {
    expect(await svc(['event'], JSON.stringify(START), { open: true })).toMatchObject(silent);
    expect(left()).toMatchObject([{ input: START }]);
  });
});

describe('svc hook context', () => {
  it('prints nothing and leaves nothing where nothing waits', async () => {
    expect(await svc(['context', '--harness', 'claude'], JSON.stringify(START))).toMatchObject(silent);
    expect(names()).toEqual([]);
  });

  it('exits with 0 in time when a file that it reads hangs', async () => {
    const mailbox = join(dir, 'data', 'messages', 'context', 'claude-s-1');
    mkdirSync(mailbox, { recursive: true });
    writeFileSync(join(mailbox, '000000000000001-0123456789abcdef.waiting'), '{}');
    const stuck = stuckOpen(join(dir, 'fifo'), [`${mailbox}/`]);
    stuck.hold();
    const event = JSON.stringify({ session_id: 's-1', hook_event_name: 'PostToolUse' });
    const ended = await svc(['context', '--harness', 'claude'], event, { env: stuck.env });
    expect(ended).toMatchObject(silent);
    expect(ended.ms).toBeGreaterThan(1_900);
    expect(ended.ms).toBeLessThan(10_000);
  });
});

describe('svc hook commit', () => {
  it('leaves the last commit of the work tree, as a hook of Git', async () => {
    const repo = join(dir, 'repo');
    mkdirSync(repo);
    const who = {
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    };
    const env = {
      HOME: dir,
      PATH: process.env.PATH,
      SVC_DATA_DIR: join(dir, 'data'),
      SVC_RUN_DIR: '/r',
      ...who,
    };
    const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, env, encoding: 'utf8' });
    git('init', '-q');
    const hooked = `#!/bin/sh\n'${process.execPath}' '${LAUNCHER}' hook commit\n`;
    writeFileSync(join(repo, '.git', 'hooks', 'post-commit'), hooked, { mode: 0o755 });
    writeFileSync(join(repo, 'a.txt'), 'one\ntwo\n');
    git('add', '.');
    git('commit', '-qm', 'Add two lines');
    const [one] = left();
    expect(one).toMatchObject({
      run_dir: '/r',
      input: { hook_event_name: 'Commit', top: git('rev-parse', '--show-toplevel') },
    });
    expect(parseLastCommit((one!.input as { log: string }).log)).toMatchObject({
      ...{ sha: git('rev-parse', 'HEAD').trim(), subject: 'Add two lines' },
      ...{ files: 1, insertions: 2, deletions: 0 },
    });
  });

  it('exits with 0 outside a work tree, and records only commits', async () => {
    expect(await svc(['commit'], '', { env: { GIT_CEILING_DIRECTORIES: '/' }, cwd: '/' })).toMatchObject(
      silent,
    );
    expect(names()).toEqual([]);
    expect(parseLastCommit('fatal: not a git repository')).toBeNull();
  });
});
