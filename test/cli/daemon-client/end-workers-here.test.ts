import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { CliContext } from '../../../src/cli/command-line/verb.ts';
import { endWorkersHere, workersHere } from '../../../src/cli/daemon-client/end-workers-here.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { isRunning, processOf } from '../../kit/processes.ts';

let root: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-end-here-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

/** A run directory with these files. */
function run(id: string, files: Record<string, unknown>): string {
  const dir = join(root, 'runs', id);
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(dir, name), JSON.stringify(content));
  return dir;
}

const spawned = (fiber: string) => ({ fiber, state: 'spawned', surface: 'cli' });
function agent() {
  const child = spawn('/bin/sleep', ['600'], { stdio: 'ignore' });
  children.push(child);
  return processOf(child.pid!);
}
const idOf = ({ pid, start_time }: { pid: number; start_time: string }) => ({ pid, start_time });

it('[WPL-4] ends and marks what runs, and touches nothing of what is over', async () => {
  const [worker, capture] = [agent(), agent()];
  const settings = readSettings({ SVC_DATA_DIR: root, SVC_CONFIG_DIR: root, SVC_KILL_GRACE_MS: '2000' });
  const dirs = {
    works: run('01', { 'run.json': spawned('works'), 'agent.pid': idOf(worker) }),
    captured: run('02', {
      'capture.json': { mux_session: 'capture-1', state: 'spawned' },
      'agent.pid': idOf(capture),
    }),
    starts: run('03', { 'run.json': { ...spawned('starts'), state: 'claimed' } }),
    exited: run('04', { 'run.json': spawned('exited'), 'agent.pid': idOf(worker), 'exit.json': { code: 0 } }),
    gone: run('05', { 'run.json': spawned('gone'), 'agent.pid': { pid: worker.pid, start_time: '1' } }),
    settled: run('06', { 'run.json': { ...spawned('settled'), state: 'ended' } }),
    in_app: run('07', { 'run.json': { ...spawned('in-app'), surface: 'app' } }),
    torn: run('08', {}),
  };
  writeFileSync(join(dirs.torn, 'run.json'), '{"fib');

  const { ended, not_ended } = await endWorkersHere(
    { clock: systemClock } as CliContext,
    settings,
    await workersHere(settings),
  );
  expect(ended.sort()).toEqual(['capture-1', 'starts', 'works']);
  expect(not_ended).toEqual([{ fiber_id: 'in-app', message: expect.stringContaining('only the daemon') }]);
  expect([worker, capture].filter(isRunning)).toEqual([]);
  const marked = Object.entries(dirs).filter(([, dir]) => existsSync(join(dir, 'end.json')));
  expect(marked.map(([name]) => name)).toEqual(['works', 'captured', 'starts']);
  expect(JSON.parse(readFileSync(join(dirs.works, 'end.json'), 'utf8'))).toMatchObject({ reason: 'kill' });
});
