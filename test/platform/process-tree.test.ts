import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { startDetached } from '../../src/platform/detached-process.ts';
import { createRunner } from '../../src/platform/process.ts';
import {
  createProcessFacts,
  isAlive,
  type ProcessIdentity,
  type ProcessRow,
  processStartTime,
} from '../../src/platform/process-facts.ts';
import { endProcessTree, treeOf } from '../../src/platform/process-tree.ts';
import { until } from '../fixtures/mux/private-server.ts';

const facts = createProcessFacts({ platform: process.platform, runner: createRunner() });
const options = { facts, clock: systemClock, grace_ms: 400 };

let dir: string;
const started: ProcessIdentity[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-tree-'));
});
afterEach(async () => {
  for (const identity of started.splice(0)) {
    if ((await isAlive(facts, identity)) === 'alive') process.kill(identity.pid, 'SIGKILL');
  }
  rmSync(dir, { recursive: true, force: true });
});

/** Starts a script in a session of its own; each process of it writes its pid as one line of `pids`. */
async function start(
  script: string,
  count: number,
): Promise<{ root: ProcessIdentity; all: ProcessIdentity[] }> {
  const log_path = join(dir, 'pids');
  const { pid } = await startDetached({
    file: 'sh',
    args: ['-c', script],
    env: process.env,
    cwd: dir,
    log_path,
  });
  const lines = await until('all pids', () => {
    const found = readFileSync(log_path, 'utf8').split('\n').filter(Boolean);
    return found.length === count ? found : null;
  });
  const all = lines.map(Number).map((each) => ({ pid: each, start_time: processStartTime(each)! }));
  started.push(...all);
  return { root: { pid, start_time: processStartTime(pid)! }, all };
}

const lives = async (all: ProcessIdentity[]) => Promise.all(all.map((identity) => isAlive(facts, identity)));

const SAY = 'sh -c \'echo $$; exec "$@"\' sh';

describe('ending a process tree', () => {
  it('ends root, children and their children', async () => {
    const { root, all } = await start(
      `echo $$; sh -c 'echo $$; ${SAY.replaceAll("'", "'\\''")} sleep 60; :' & wait`,
      3,
    );
    expect(await lives(all)).toEqual(['alive', 'alive', 'alive']);
    expect(await endProcessTree(root, options)).toEqual({ kind: 'ended', survivors: [] });
    expect(await lives(all)).toEqual(['gone', 'gone', 'gone']);
  });

  it('SIGKILLs a process that ignores SIGTERM', async () => {
    const { root, all } = await start(`trap '' HUP TERM; echo $$; ${SAY} sleep 60; :`, 2);
    const before = Date.now();
    expect(await endProcessTree(root, options)).toEqual({ kind: 'ended', survivors: [] });
    expect(Date.now() - before).toBeGreaterThanOrEqual(390);
    expect(await lives(all)).toEqual(['gone', 'gone']);
  });

  it('SIGKILLs it in time although the clock was set back meanwhile', async () => {
    const { root, all } = await start(`trap '' HUP TERM; echo $$; ${SAY} sleep 60; :`, 2);
    const wall = [Date.now()];
    const clock = { ...systemClock, now: () => wall.pop() ?? Date.now() - 3 * 3_600_000 };
    expect(await endProcessTree(root, { ...options, clock })).toEqual({ kind: 'ended', survivors: [] });
    expect(await lives(all)).toEqual(['gone', 'gone']);
  });

  it('ends a child whose parent died before, since it kept the session', async () => {
    const { root, all } = await start(
      `echo $$; sh -c '${SAY.replaceAll("'", "'\\''")} sleep 60 &'; sleep 60`,
      2,
    );
    expect((await endProcessTree(root, options)).kind).toBe('ended');
    expect(await lives(all)).toEqual(['gone', 'gone']);
  });

  it('does not signal a process that only has the pid', async () => {
    const { root, all } = await start('echo $$; exec sleep 60', 1);
    expect(await endProcessTree({ ...root, start_time: '1' }, options)).toEqual({
      kind: 'ended',
      survivors: [],
    });
    expect(await lives(all)).toEqual(['alive']);
  });

  it.each([0, 1, -1, Number.NaN])('sends nothing to pid %d', async (pid) => {
    const deaf = {
      lookUp: () => Promise.reject(new Error('asked')),
      table: () => Promise.reject(new Error('asked')),
    };
    expect((await endProcessTree({ pid, start_time: '1' }, { ...options, facts: deaf })).kind).toBe('ended');
  });

  it('is unknown when the processes cannot be listed', async () => {
    const root = { pid: 4_000_000, start_time: '1' };
    const deaf = { ...facts, table: async () => null };
    expect(await endProcessTree(root, { ...options, facts: deaf })).toEqual({
      kind: 'unknown',
      survivors: [root],
    });
  });

  it('is idempotent', async () => {
    const { root } = await start('echo $$; exec sleep 60', 1);
    expect((await endProcessTree(root, options)).kind).toBe('ended');
    expect((await endProcessTree(root, options)).kind).toBe('ended');
  });
});

it('a tree includes the session only if the root leads it, and never this process', () => {
  const row = (pid: number, parent: number, session: number): ProcessRow => ({
    pid,
    parent,
    session,
    state: 'S',
    start_time: '9',
  });
  const table = [row(10, 5, 10), row(11, 10, 10), row(12, 1, 10), row(20, 5, 10), row(process.pid, 10, 10)];
  const pids = (pid: number) => treeOf(table, { pid, start_time: '9' }).map((each) => each.pid);
  expect(pids(10)).toEqual([10, 11, 12, 20]);
  expect(pids(11)).toEqual([11]);
  expect(pids(99)).toEqual([]);
});
