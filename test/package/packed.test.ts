import { type ExecFileException, execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = new URL('../..', import.meta.url).pathname;

let folder: string;
let env: NodeJS.ProcessEnv;
let packed: { filename: string; files: { path: string }[] };

/** Runs a program to its end; a failure is an answer too. */
function run(
  file: string,
  args: string[],
  cwd: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, args, options, (error: ExecFileException | null, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

const svc = (...args: string[]) =>
  run(join(folder, 'app', 'node_modules', '.bin', 'svc'), args, join(folder, 'app'));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-packed-'));
  mkdirSync(join(folder, 'app'));
  env = {
    // Without our own node_modules/.bin: the package has to find its Node by itself.
    PATH: (process.env.PATH ?? '')
      .split(':')
      .filter((entry) => !entry.includes('node_modules'))
      .join(':'),
    HOME: process.env.HOME,
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_CONFIG_DIR: join(folder, 'config'),
    SVC_TMUX_SOCKET: join(folder, 'tmux.sock'),
    SVC_LISTEN: '127.0.0.1:0',
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
  const pack = await run('npm', ['pack', '--json', '--pack-destination', folder], ROOT);
  if (pack.code !== 0) throw new Error(pack.stderr);
  packed = JSON.parse(pack.stdout.slice(pack.stdout.indexOf('[\n')))[0];
  const tarball = join(folder, packed.filename);
  const install = await run(
    'npm',
    ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--prefix', '.', tarball],
    join(folder, 'app'),
  );
  if (install.code !== 0) throw new Error(install.stderr);
});

afterAll(async () => {
  if (folder === undefined) return;
  await svc('daemon', 'stop');
  rmSync(folder, { recursive: true, force: true });
});

describe('the packed package, installed elsewhere', () => {
  it('holds what it runs from and nothing it is built or tested with', () => {
    const paths = packed.files.map((file) => file.path);
    for (const path of [
      'README.md',
      'LICENSE',
      'src/cli/launcher.mjs',
      'dist/build.json',
      'dist/src/cli/main.js',
      'dist/src/daemon.js',
    ])
      expect(paths).toContain(path);
    expect(
      paths.filter((path) => /^(test|bench|ops\/scripts|node_modules)\/|\.ts$|^dist\/test/.test(path)),
    ).toEqual([]);
  });

  it('[OPR-1] answers with the version and the commit it was built from', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const built = JSON.parse(readFileSync(join(ROOT, 'dist', 'build.json'), 'utf8'));
    expect(await svc('--version')).toEqual({
      code: 0,
      stdout: `svc ${version} (${built.git_short_sha})\n`,
      stderr: '',
    });
  });

  it('loads every verb', async () => {
    const { stdout } = await svc('help');
    const verbs = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[options\])? {2,}\S/gm)].map((match) => match[1]!);
    expect(verbs).toContain('daemon');
    for (const verb of verbs.filter((name) => name !== 'help'))
      expect(await svc(verb, '--help')).toMatchObject({ code: 0, stderr: '' });
  });

  it('finds nothing to fail in its own installation', async () => {
    const { code, stdout } = await svc('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { level: string }[] };
    expect(findings.filter((finding) => finding.level === 'fail')).toEqual([]);
    expect(code).toBe(0);
  });

  it('starts the daemon, which answers, and stops it', async () => {
    const started = await svc('daemon', 'start', '--json');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    const { pid, listen } = JSON.parse(started.stdout) as { pid: number; listen: string[] };
    const address = listen.find((entry) => entry.startsWith('127.0.0.1:'));
    const answer = await fetch(`http://${address}/api/v1/version`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ ready: true, pid });
    expect(await svc('daemon', 'stop')).toMatchObject({ code: 0 });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
