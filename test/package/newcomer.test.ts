import { type ExecFileException, execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loopbackEnvironment } from '../kit/caller-environment.ts';
import { AGENTS_FOLDER } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
/** Until the agent is seen, after the installation, in milliseconds. */
const TO_THE_AGENT_MS = 60_000;
const COLUMNS = 80;
/** What an installation takes, in MB; see ops/decisions/0068. */
const MOST_MB = 222;

let home: string;
let desk: string;
let env: NodeJS.ProcessEnv;

function run(file: string, args: readonly string[], cwd = home, timeout = 0) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, env, timeout, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, args, options, (error: ExecFileException | null, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}
const tmux = (...args: string[]) => run('tmux', ['-S', desk, '-f', '/dev/null', ...args]);
const keys = (...named: string[]) => tmux('send-keys', '-t', '=desk:', ...named);
const screen = async () => (await tmux('capture-pane', '-p', '-t', '=desk:')).stdout;
/** Types a line into the terminal, and waits until its shell asks for the next one. */
async function type(line: string): Promise<string> {
  await keys('clear', 'Enter');
  await until('an empty screen', async () => /^ready\$\s*$/.test(await screen()));
  await keys('-l', line);
  await keys('Enter');
  await until(`the end of: ${line}`, async () => /\nready\$\s*$/.test(await screen()), TO_THE_AGENT_MS);
  return screen();
}

/** A machine with an empty home: an agent program that is signed in, tmux, git and the Node of this machine. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-newcomer-'));
  desk = join(home, 'desk.sock');
  const bin = join(home, 'npm', 'bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(home, 'my-project'));
  // In the place of the real program, under its name, so that the agent everybody has is started.
  writeFileSync(
    join(bin, 'claude'),
    `#!/bin/sh\nexport CLAUDE_CONFIG_DIR="$HOME/.claude"\nset -- "$@"\n. ${join(AGENTS_FOLDER, 'speak.sh')}\nsay 'here I am'\necho 'AN AGENT AT WORK'\nexec sleep 86400\n`,
  );
  chmodSync(join(bin, 'claude'), 0o755);
  const account = { hasCompletedOnboarding: true, oauthAccount: { emailAddress: 'ada@example.org' } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(account));
  const caller = loopbackEnvironment();
  const path = (caller.PATH ?? '').split(':').filter((entry) => !entry.includes('node_modules'));
  env = {
    ...caller,
    HOME: home,
    PATH: [bin, ...path].join(':'),
    LC_ALL: 'C.UTF-8',
    npm_config_cache: caller.npm_config_cache ?? join(caller.HOME ?? home, '.npm'),
    // Of its own, where the machine has others.
    SVC_TMUX_SOCKET: join(home, 'tmux.sock'),
    SVC_LISTEN: '127.0.0.1:0',
    XDG_RUNTIME_DIR: undefined,
  };
});

afterAll(async () => {
  if (home === undefined) return;
  await run('svc', ['daemon', 'stop']);
  await run('tmux', ['-S', join(home, 'tmux.sock'), 'kill-server']);
  await tmux('kill-session', '-t', '=desk');
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

describe('a newcomer with an empty home', () => {
  it('installs the package, which takes no more than it did, without a word about engines', async () => {
    const pack = await run('npm', ['pack', '--json', '--pack-destination', home], ROOT);
    expect(pack.code, pack.stderr).toBe(0);
    const [{ filename }] = JSON.parse(pack.stdout.slice(pack.stdout.indexOf('[\n'))) as [
      { filename: string },
    ];
    const install = ['install', '-g', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    const prefix = ['--prefix', join(home, 'npm'), join(home, filename)];
    const installed = await run('npm', [...install, ...prefix], home, 240_000);
    expect(installed.code, installed.stderr).toBe(0);
    const taken = await run('du', ['-sm', join(home, 'npm')]);
    const size = Number(taken.stdout.split('\t')[0]);
    process.stdout.write(`installed: ${size} MB\n`);
    expect(size).toBeLessThanOrEqual(MOST_MB);
    const warned = [...installed.stderr.matchAll(/EBADENGINE +package: '(.+)@/g)].map(([, name]) => name);
    expect(warned).toEqual([]);
  });

  it('has an agent at work before it with one more command, and every hint works as it is printed', async () => {
    const at = ['-x', String(COLUMNS), '-y', '24', '-c', join(home, 'my-project')];
    await tmux('new-session', '-d', '-s', 'desk', ...at, 'env', 'PS1=ready$ ', 'sh');
    await until('the shell', async () => (await screen()).includes('ready$'));
    const began = Date.now();
    await keys('-l', 'svc run "Write a HELLO.md that greets the reader"');
    await keys('Enter');
    await until('the agent', async () => (await screen()).includes('AN AGENT AT WORK'), TO_THE_AGENT_MS);
    process.stdout.write(`attached after ${Date.now() - began} ms\n`);
    await keys('C-b', 'd');
    await until('the shell again', async () => /\[detached[\s\S]*ready\$\s*$/.test(await screen()));
    const shown = await screen();
    expect(shown).toMatch(/^store {4}~\/fibers \(new; the daemon watches it from now on\)$/m);
    expect(shown).toMatch(/^worker {3}claude-sonnet in ~\/my-project$/m);

    const [, attach = ''] = /Back, while it works: (svc attach \S+)/.exec(shown.replaceAll('\n', ' ')) ?? [];
    expect(attach).toBe('svc attach write-a-hello-md');
    await keys('-l', attach);
    await keys('Enter');
    await until('the agent again', async () => /AN AGENT AT WORK[\s\S]*\[write-a/.test(await screen()));
    await keys('C-b', 'd');
    await until('the shell a third time', async () => /\[detached[^[]*ready\$\s*$/.test(await screen()));

    expect(await type('svc status')).toContain('write-a-hello-md');
    expect(await type('svc why write | head -n 4')).toContain('write-a-hello-md');
    const document = join(home, 'fibers/.fibers/write-a-hello-md/write-a-hello-md.md');
    expect(readFileSync(document, 'utf8')).toContain('status: active');
    expect(await type('svc daemon stop')).not.toContain('svc: ');
  });
});
