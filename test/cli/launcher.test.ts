import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processLife } from '../../src/cli/daemon-client/daemon-process.ts';
import { until } from '../kit/until.ts';
import { createMachine, type Machine } from './kit.ts';

const LAUNCHER = new URL('../../src/cli/launcher.mjs', import.meta.url).pathname;
const run = promisify(execFile);

/** Code that runs before the launcher and makes this Node look like another machine. */
function pretend(code: string): string[] {
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
/** A Node of another line, which can replace itself by another program. */
const OTHER_NODE = pretend(`
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '24.1.0', modules: '137' } });
  Object.defineProperty(process, 'execPath', { value: '/usr/bin/other-node' });
`);
const OLD_NODE = pretend(`
  process.execve = undefined;
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0', modules: '115' } });
  Object.defineProperty(process, 'execPath', { value: '/usr/bin/old-node' });
`);

let machine: Machine;
const children: ChildProcess[] = [];

beforeEach(() => {
  machine = createMachine();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  machine.remove();
});

async function svc(argv: string[], options: { flags?: string[]; launcher?: string } = {}) {
  const flags = options.flags ?? [];
  try {
    const args = [...flags, options.launcher ?? LAUNCHER, ...argv];
    const { stdout, stderr } = await run(process.execPath, args, { env: machine.env });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const failed = error as { code: number; stdout: string; stderr: string };
    return { code: failed.code, stdout: failed.stdout, stderr: failed.stderr };
  }
}

describe('svc launcher', () => {
  it('runs the command line in the current Node if that is suitable', async () => {
    const version = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
    expect(await svc(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`^svc ${version} \\([0-9a-f]{7}\\)\n$`),
    });
  });

  it('runs the command line with the pinned Node if the current one is not suitable, and exits as it does', async () => {
    expect(await svc(['ps', '--json'], { flags: OLD_NODE })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('daemon_unreachable'),
    });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'forwards %s to the pinned Node and ends by it',
    async (signal) => {
      writeFileSync(join(machine.data_dir, 'daemon.log'), 'first line\n');
      const args = [...OLD_NODE, LAUNCHER, 'daemon', 'logs', '--follow'];
      const child = spawn(process.execPath, args, { env: machine.env, stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
      const inner = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
      child.kill(signal);
      expect(await new Promise((resolve) => child.once('exit', (_, name) => resolve(name)))).toBe(signal);
      expect(await processLife({ pid: inner, start_time: null })).toBe('gone');
    },
  );

  /** A verb that goes on until it is ended, and the processes below the launcher. */
  async function following(flags: string[]) {
    writeFileSync(join(machine.data_dir, 'daemon.log'), 'first line\n');
    const child = spawn(process.execPath, [...flags, LAUNCHER, 'daemon', 'logs', '--follow'], {
      env: machine.env,
    });
    children.push(child);
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    const inner = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    const ended = new Promise((resolve) => child.once('exit', (code, name) => resolve(name ?? code)));
    return { child, inner, ended, said: () => stderr };
  }

  it.runIf(process.platform === 'linux')(
    'is replaced by the pinned Node if the current one supports that, and prints nothing',
    async () => {
      const { child, inner, ended, said } = await following(OTHER_NODE);
      expect(inner).toBe('');
      expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).toContain('bin/node\0');
      child.kill('SIGTERM');
      expect(await ended).toBe('SIGTERM');
      expect(said()).toBe('');
    },
  );

  it.runIf(process.platform === 'linux')('leaves no process behind when it is killed', async () => {
    const { child, inner, ended } = await following(OLD_NODE);
    expect(await processLife({ pid: Number(inner), start_time: null })).toBe('alive');
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    await until(
      'the end of the pinned Node',
      async () => (await processLife({ pid: Number(inner), start_time: null })) === 'gone',
    );
  });

  it.each([
    ['win32', 'x64', 'WSL2'],
    ['freebsd', 'x64', 'no build for freebsd on x64'],
    ['linux', 'riscv64', 'no build for linux on riscv64'],
  ])('[P36] refuses %s on %s in one sentence', async (platform, arch, words) => {
    const flags = pretend(`
      Object.defineProperty(process, 'platform', { value: '${platform}' });
      Object.defineProperty(process, 'arch', { value: '${arch}' });
    `);
    const { code, stdout, stderr } = await svc(['--version'], { flags });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(words);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });

  it.runIf(process.platform === 'linux')('[P29] refuses a Linux without glibc in one sentence', async () => {
    const other = process.arch === 'x64' ? 'arm64' : 'x64';
    const flags = pretend(`
      Object.defineProperty(process, 'arch', { value: '${other}' });
      process.report.getReport = () => ({ header: {} });
    `);
    const { code, stderr } = await svc(['--version'], { flags });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^svc: Fiber Dispatch needs glibc.*\n$/);
  });

  it('[P29] says what to do if the installation contains no build', async () => {
    const launcher = join(machine.folder, 'src', 'cli', 'launcher.mjs');
    mkdirSync(join(machine.folder, 'src', 'cli'), { recursive: true });
    copyFileSync(LAUNCHER, launcher);
    const { code, stderr } = await svc(['--version'], { launcher });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^svc: This installation .* install the package again\.\n$/);
  });

  it('[P29] says what to do if no Node is suitable', async () => {
    const launcher = join(machine.folder, 'src', 'cli', 'launcher.mjs');
    for (const folder of ['src/cli', 'dist/src/cli'])
      mkdirSync(join(machine.folder, folder), { recursive: true });
    copyFileSync(LAUNCHER, launcher);
    writeFileSync(join(machine.folder, 'dist/src/cli/main.js'), '');
    const { code, stderr } = await svc(['--version'], { launcher, flags: OLD_NODE });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^svc: Node 20\.1\.0 cannot run .* use Node 22\.18 or newer of the 22 line\.\n$/);
  });
});
