import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCommands } from '../../src/cli/command-line/command-table.ts';
import { processLife } from '../../src/cli/daemon-client/daemon-process.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { everyLaunchMessage } from '../../src/dispatch/plan/launch-message-digest.ts';
import { packageSkills, readSkillFiles, skillGeneration } from '../../src/harness/hooks/worker-skills.ts';
import { loopbackEnvironment } from '../kit/caller-environment.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

let folder: string;
let env: NodeJS.ProcessEnv;
let packed: { filename: string; size: number; unpackedSize: number; files: { path: string }[] };
let demo: ChildProcess | undefined;

/** How long an install may take, in milliseconds: a registry that does not answer is a failure, not a wait. */
const INSTALL_MS = 120_000;

/** Runs a program to its end; a failure is an answer too. */
function run(
  file: string,
  args: string[],
  cwd: string,
  timeout = 0,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout, maxBuffer: 64 * 1024 * 1024 };
    execFile(file, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const late = error?.killed === true ? `ended after ${timeout} ms\n` : '';
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr: late + stderr });
    });
  });
}

const svc = (...args: string[]) =>
  run(join(folder, 'app', 'node_modules', '.bin', 'svc'), args, join(folder, 'app'));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-packed-'));
  mkdirSync(join(folder, 'app'));
  env = {
    ...loopbackEnvironment(),
    // Without our own node_modules/.bin: the package has to find its Node by itself.
    PATH: (process.env.PATH ?? '')
      .split(':')
      .filter((entry) => !entry.includes('node_modules'))
      .join(':'),
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
    INSTALL_MS,
  );
  if (install.code !== 0) throw new Error(install.stderr);
});

/** Takes away the demo of an attempt that failed. */
async function endDemo(): Promise<void> {
  if (demo?.exitCode !== null) return;
  await svc('demo', '--dir', join(folder, 'demo'), 'daemon', 'stop');
  await svc('demo', '--dir', join(folder, 'demo'), '--remove', '--force');
}

afterAll(async () => {
  if (folder === undefined) return;
  await endDemo();
  await svc('daemon', 'stop');
  rmSync(folder, { recursive: true, force: true });
});

describe('the packed package, installed elsewhere', () => {
  it('contains what it runs from and nothing it is built or tested with', () => {
    const paths = packed.files.map((file) => file.path);
    for (const path of [
      'README.md',
      'LICENSE',
      'src/cli/launcher.mjs',
      'src/cli/svc.cjs',
      'src/cli/svc-hook.sh',
      'dist/build.json',
      'dist/src/cli/main.js',
      'dist/src/platform/disk-child.cjs',
      'dist/workers/poller.js',
      'dist/licenses.txt',
      'dist/board/index.html',
      'dist/board/licenses.md',
    ])
      expect(paths).toContain(path);
    expect(
      paths.filter((path) => /^(test|bench|ops\/scripts|node_modules)\/|\.ts$|^dist\/test/.test(path)),
    ).toEqual([]);
  });

  it('contains the native HTTP server for each platform that has a pinned Node, and for no other', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const platforms = Object.keys(optionalDependencies).map((name) => name.split('-').slice(-2).join('_'));
    expect(platforms.sort()).toEqual(['darwin_arm64', 'darwin_x64', 'linux_arm64', 'linux_x64']);
    const binaries = packed.files.map((file) => file.path).filter((path) => path.endsWith('.node'));
    // The tests run on the pinned Node.
    const expected = platforms.map((of) => `dist/native-http/bin/uws_${of}_${process.versions.modules}.node`);
    expect(binaries.sort()).toEqual(expected);
    const licenses = readFileSync(join(ROOT, 'dist', 'licenses.txt'), 'utf8');
    for (const name of ['uws-pack', 'uWebSockets.js and µSockets', 'BoringSSL', 'lsquic'])
      expect(licenses).toContain(`\n${name} `);
  });

  it('has a size that a slow connection can download', () => {
    const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(2)} MiB`;
    process.stdout.write(
      `${packed.filename}: ${mb(packed.size)}, unpacked ${mb(packed.unpackedSize)}, ${packed.files.length} files\n`,
    );
    expect(packed.size).toBeLessThan(11 * 1024 * 1024);
  });

  it('installs no tool it was built or tested with', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const installed = Object.keys(devDependencies).filter((name) =>
      existsSync(join(folder, 'app', 'node_modules', name)),
    );
    expect(installed).toEqual([]);
  });

  it('[OPR-1] reports the version and the commit it was built from', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const built = JSON.parse(readFileSync(join(ROOT, 'dist', 'build.json'), 'utf8'));
    expect(await svc('--version')).toEqual({
      code: 0,
      stdout: `svc ${version} (${built.git_short_sha})\n`,
      stderr: '',
    });
  });

  it('loads every verb', async () => {
    const commands = await readCommands(VERBS);
    expect(commands.length).toBeGreaterThan(50);
    while (commands.length > 0)
      await Promise.all(
        commands
          .splice(0, 4)
          .map(async ({ path }) =>
            expect(await svc(...path, '--help'), path.join(' ')).toMatchObject({ code: 0, stderr: '' }),
          ),
      );
  });

  it('loads no fetch of Node for a command that asks the daemon', async () => {
    const app = join(folder, 'app');
    const probe = join(folder, 'probe.cjs');
    const said = "process.moduleLoadList.filter((name) => name.includes('undici')).join()";
    writeFileSync(probe, `process.on('exit', () => process.stdout.write('[' + ${said} + ']'));`);
    const launcher = join(app, 'node_modules', 'fiber-dispatch', 'src', 'cli', 'launcher.mjs');
    const { stdout, stderr } = await run(process.execPath, ['--require', probe, launcher, 'ps'], app);
    expect(stderr).toContain('the daemon does not run');
    expect(stdout).toBe('[]');
  });

  it('names its files after modules, so that a daemon finds what it loads late also while it is upgraded', async () => {
    const pool = readFileSync(join(ROOT, 'dist', 'workers', 'pool.js'), 'utf8');
    const names = [...pool.matchAll(/import\("([^"]+)"\)/g)].map(([, path = '']) => basename(path, '.js'));
    expect(names).toContain('harness-transcripts-session-spend');
    // Without a hash of its contents: a path of a module, or that and a number.
    const modules = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map((path) =>
      path.replace(/\.\w+$/, '').replaceAll('/', '-'),
    );
    for (const name of names) expect(modules).toContain(name.replace(/\d$/, ''));
  });

  it('finds no failure in its own installation', async () => {
    const { code, stdout } = await svc('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { name: string; level: string }[] };
    expect(findings.filter((finding) => finding.level === 'fail')).toEqual([]);
    expect(findings.filter((finding) => finding.name === 'native http')).toEqual([
      { name: 'native http', level: 'ok', what: 'the HTTP module loads', mend: null },
    ]);
    expect(code).toBe(0);
  });

  it('[PRM-8] [VER-3] contains every skill and reference that a launch message names, at the expected paths', async () => {
    const at = join(folder, 'app', 'node_modules', 'fiber-dispatch', 'ops', 'skills');
    const own = await readSkillFiles(packageSkills());
    expect([...(await readSkillFiles(at))]).toEqual([...own]);
    const paths = [
      ...everyLaunchMessage(at)
        .join('\n')
        .matchAll(/(\/\S+\.md)/g),
    ].map(([path]) => path);
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(existsSync(path), path).toBe(true);
    for (const [name, text] of own)
      for (const [reference] of text.matchAll(/references\/[a-z-]+\.md/g))
        expect(existsSync(join(at, name.split('/')[0]!, reference)), reference).toBe(true);
  });

  it('starts the daemon, which answers, and stops it', async () => {
    const started = await svc('daemon', 'start', '--json');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    const { pid, listen } = JSON.parse(started.stdout) as { pid: number; listen: string[] };
    const address = listen.find((entry) => entry.startsWith('127.0.0.1:'));
    const answer = await fetch(`http://${address}/api/v1/version`);
    expect(answer.status).toBe(200);
    const version = (await answer.json()) as { skew: { of: string }[] };
    expect(version).toMatchObject({
      ready: true,
      pid,
      // On macOS only Node's own server can tell who dialled.
      server: process.platform === 'linux' ? 'uws' : 'node',
      generation: skillGeneration(await readSkillFiles(packageSkills())),
    });
    // What the packed code says goes with the packed skills, whatever this machine has set up.
    expect(version.skew.filter(({ of }) => of === 'prompt')).toEqual([]);
    expect(await svc('daemon', 'stop')).toMatchObject({ code: 0 });
    expect(await processLife({ pid, start_time: null })).toBe('gone');
  });

  it('runs the demo until its workers hand off, shows a new user’s task with the printed commands, and leaves nothing', async () => {
    await endDemo();
    const dir = join(folder, 'demo');
    const app = join(folder, 'app');
    let said = '';
    demo = spawn(join(app, 'node_modules', '.bin', 'svc'), ['demo', '--dir', dir, '--pace-ms', '300'], {
      cwd: app,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    demo.stderr!.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8');
    });
    const ended = new Promise<number | null>((resolve) => demo!.on('exit', resolve));
    await until('the welcome', async () => /Ctrl-C stops/.test(said));
    const board = /Board: (\S+)/.exec(said)![1]!;
    const page = await (await fetch(board)).text();
    const assets = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1]!);
    expect(assets.length).toBeGreaterThan(2);
    for (const path of assets) expect((await fetch(new URL(path, board))).status, path).toBe(200);
    const url = new URL('api/v1/fibers', board);
    const commands = [...said.matchAll(/^ {2}(npx svc demo .* (?:fiber add|install|status my).*)$/gm)].map(
      (match) => match[1]!,
    );
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const { code, stderr } = await run('sh', ['-c', command], app);
      expect(code, `${command}: ${stderr}`).toBe(0);
    }

    type Row = { id: string; status: string; svc?: { runtime?: { handed_off_at?: string } } };
    const rows = async () => ((await (await fetch(url)).json()) as { fibers: Row[] }).fibers;
    const handedOff = (row: Row) => row.svc?.runtime?.handed_off_at !== undefined;
    await until('workers of the demo hand off', async () => (await rows()).filter(handedOff).length >= 3);
    await until('the newcomer’s own fiber', async () =>
      (await rows()).some((row) => row.id === 'my-first-task' && handedOff(row) && row.status === 'closed'),
    );
    const status = await svc('demo', '--dir', dir, 'daemon', 'status');
    expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(/store\tok\t9/) });

    expect((await svc('demo', '--dir', dir)).stderr).toContain('the demo runs already (pid ');
    expect(await svc('demo', '--dir', dir, 'dispatch', 'loader', '--force', '--yes')).toMatchObject({
      code: 0,
    });
    demo.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(said).toMatch(/\nStopped[.;]/);

    expect((await svc('demo', '--dir', dir, '--remove')).stderr).toContain('my-first-task');
    expect(existsSync(dir)).toBe(true);
    expect(await svc('demo', '--dir', dir, '--remove', '--force')).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(dir)).toBe(false);
    await until('no process of the demo', async () => {
      const { stdout } = await run('ps', ['-eo', 'pid=,args='], app);
      return !stdout.includes(dir);
    });
  });
});

/** Waits for a condition of the running product; a failing call counts as not yet. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 90_000; ; ) {
    if (await holds().catch(() => false)) return;
    if (Date.now() > end) throw new Error(`waited 90 s for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
