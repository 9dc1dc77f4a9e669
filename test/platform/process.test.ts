import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDetached } from '../../src/platform/detached-process.ts';
import { spawnPiped } from '../../src/platform/piped-process.ts';
import { runProcess } from '../../src/platform/process.ts';
import { lookUpProcess } from '../../src/platform/process-facts.ts';
import { mountHeldDisk, noHeldDisk } from '../faults/held-disk.ts';
import { until } from '../fixtures/mux/private-server.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-process-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bounds = { timeout_ms: 10_000, max_output_bytes: 10_000 };
const sh = (script: string, change = {}) =>
  runProcess({ file: 'sh', args: ['-c', script], ...bounds, ...change });

describe('running a program', () => {
  it.skipIf(noHeldDisk !== null)(
    'ends in time where a disk holds the child, which no signal ends',
    async () => {
      const disk = await mountHeldDisk(join(dir, 'net'));
      try {
        await disk.hold();
        const call = { file: 'stat', args: [join(dir, 'net', 'a.txt')], ...bounds, timeout_ms: 200 };
        expect(await runProcess(call)).toEqual({ kind: 'timed_out' });
      } finally {
        await disk.remove();
      }
    },
  );

  it('returns exit code, stdout and stderr unchanged', async () => {
    expect(await sh('echo out; echo err >&2; exit 3')).toEqual({
      kind: 'exited',
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('passes arguments without a shell', async () => {
    const args = ['%s\\n', '$(id)', 'a b', "'", ';', '*', ''];
    const result = await runProcess({ file: 'printf', args, ...bounds });
    expect(result).toMatchObject({ stdout: "$(id)\na b\n'\n;\n*\n\n" });
  });

  it('passes input, directory and exactly the given environment', async () => {
    const result = await sh('cat; pwd; env', {
      input: 'in\n',
      cwd: '/',
      env: { PATH: process.env.PATH, A: '1' },
    });
    const lines = result.kind === 'exited' ? result.stdout.split('\n') : [];
    expect(lines.slice(0, 2)).toEqual(['in', '/']);
    expect(lines).toContain('A=1');
    expect(lines.filter((line) => line.startsWith('HOME='))).toEqual([]);
  });

  it('distinguishes a signal from an exit code', async () => {
    expect(await sh('kill -KILL $$')).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' });
  });

  it('kills a process at its deadline', async () => {
    const result = await sh(`echo $$ >${dir}/pid; exec sleep 60`, { timeout_ms: 300 });
    expect(result).toEqual({ kind: 'timed_out' });
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    await until('the end', () => lookUpProcess(pid).kind === 'gone');
  });

  it('does not wait for a grandchild that holds the pipes, and returns the exit code', async () => {
    const before = Date.now();
    const result = await sh(`sleep 60 & echo $! >${dir}/pid; echo hi; exit 4`, { timeout_ms: 500 });
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(result).toMatchObject({ kind: 'exited', code: 4, stdout: 'hi\n' });
    process.kill(Number(readFileSync(join(dir, 'pid'), 'utf8')), 'SIGKILL');
  });

  it('kills a process that prints more than the limit', async () => {
    expect(await runProcess({ file: 'yes', args: [], ...bounds })).toEqual({
      kind: 'overflowed',
      stdout: expect.stringMatching(/^(y\n)+y?$/),
    });
  });

  it.each([
    ['a missing program', { file: '/no/such/program' }, 'ENOENT'],
    ['a file that is no program', { file: '/etc/passwd' }, 'EACCES'],
    ['a missing directory', { file: 'true', cwd: '/no/such/folder' }, 'ENOENT'],
  ])('says why %s could not be started', async (_what, call, code) => {
    expect(await runProcess({ args: [], ...bounds, ...call })).toEqual({ kind: 'not_started', code });
  });
});

describe('a program on pipes', () => {
  it('returns what is written until its input is closed', async () => {
    const child = spawnPiped({ file: 'cat', args: [] });
    let text = '';
    let ended = false;
    child.onStdout((chunk) => {
      text += Buffer.from(chunk).toString();
    });
    child.onExit(() => {
      ended = true;
    });
    expect(child.write('one\n')).toBe(true);
    await until('the answer', () => text === 'one\n');
    child.end();
    await until('the end', () => ended);
    expect(child.write('two\n')).toBe(false);
  });

  it('reports its last stderr, also when it never started or was killed', async () => {
    const endOf = (child: ReturnType<typeof spawnPiped>) =>
      new Promise<string>((resolve) => child.onExit(resolve));
    expect(await endOf(spawnPiped({ file: 'sh', args: ['-c', 'echo why >&2; exit 1'] }))).toBe('why');
    expect(await endOf(spawnPiped({ file: '/no/such/program', args: [] }))).toContain('ENOENT');
    const child = spawnPiped({ file: 'sleep', args: ['60'] });
    child.kill();
    expect(await endOf(child)).toContain('SIGKILL');
  });

  it('refuses more once its backlog is full', async () => {
    const child = spawnPiped({ file: 'sleep', args: ['60'] });
    let accepted = 0;
    while (accepted < 100 && child.write('x'.repeat(100_000))) accepted += 1;
    expect(accepted).toBeGreaterThan(5);
    expect(accepted).toBeLessThan(20);
    child.kill();
  });
});

it('a detached program has its own session and writes to its log', async () => {
  const log_path = join(dir, 'log');
  const { pid } = await startDetached({
    file: 'sh',
    args: ['-c', 'echo started; exec sleep 60'],
    env: process.env,
    cwd: '/',
    log_path,
  });
  await until('the log', () => existsSync(log_path) && readFileSync(log_path, 'utf8') === 'started\n');
  const found = lookUpProcess(pid);
  expect(found).toMatchObject({ kind: 'found', row: { session: pid } });
  process.kill(pid, 'SIGKILL');
});
