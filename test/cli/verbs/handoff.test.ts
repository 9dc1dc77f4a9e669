import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endSession } from '../../../src/cli/verbs/handoff/end-session.ts';
import { readProcessStart } from '../../../src/platform/file-lock.ts';
import { runVerb } from '../../fixtures/fibers/run-verb.ts';
import { createTempStore, type TempStore } from '../../fixtures/fibers/temp-store.ts';

let temp: TempStore;
let runDir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  temp = createTempStore();
  runDir = join(temp.root, 'run');
  mkdirSync(runDir);
  temp.write('a/a.md', '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nstatus: active\nsvc:\n  kind: oneshot\n---\n');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  temp.remove();
});

/** A real agent process, named in the run's folder; `trap` is what it ignores. */
async function startAgent(trap: string): Promise<ChildProcess> {
  const script = `trap '' ${trap} USR1; echo up; while :; do sleep 0.05; done`;
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  await once(child.stdout!, 'data');
  nameAgent(child.pid!, readProcessStart(child.pid!)!);
  return child;
}
function nameAgent(pid: number, start_time: string): void {
  writeFileSync(join(runDir, 'agent.pid'), JSON.stringify({ pid, start_time }));
}

describe('svc handoff', () => {
  it('[LIF-7] only stamps the document outside a run, and says so', async () => {
    const outcome = await runVerb(['handoff'], { env: { SVC_STORES: temp.root, SVC_FIBER: 'a' } });
    expect(outcome).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        'This is no worker’s session: the document is stamped, and no session is ended.\n',
      ),
    });
    expect(temp.store.read('a').svc?.runtime?.handed_off_at).toMatch(/^\d{4}-.*Z$/);
    expect(await runVerb(['handoff'], { env: { SVC_STORES: temp.root } })).toMatchObject({
      error: 'invalid_request',
    });
  });

  it.runIf(process.platform === 'linux')(
    '[LIF-7] stamps, records the reason and sends SIGHUP to its own agent',
    async () => {
      const agent = await startAgent('');
      const gone = once(agent, 'exit');
      const env = { SVC_STORES: temp.root, SVC_FIBER_UID: '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z', SVC_RUN_DIR: runDir };
      expect(await runVerb(['handoff', '--json'], { env })).toMatchObject({ code: 0, error: null });
      expect((await gone)[1]).toBe('SIGHUP');
      const end = join(runDir, 'end.json');
      expect(JSON.parse(readFileSync(end, 'utf8'))).toEqual({ reason: 'handoff', at: expect.any(Number) });
      expect(statSync(end).mode & 0o777).toBe(0o600);
    },
  );

  it.runIf(process.platform === 'linux').each([
    ['HUP', 'SIGTERM'],
    ['HUP TERM', 'SIGKILL'],
  ])('sends the next signal when the agent ignores %s', async (trap, signal) => {
    const agent = await startAgent(trap);
    const gone = once(agent, 'exit');
    expect(await endSession(runDir, { hangUpMs: 60, terminateMs: 60 })).toMatch(/ended|still there/);
    expect((await gone)[1]).toBe(signal);
  });

  it.runIf(process.platform === 'linux')('ends the commands that the agent still runs, too', async () => {
    const script = `(trap '' TERM HUP; while :; do sleep 0.05; done) & echo $!; sleep 600 & echo $!; wait`;
    const agent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(agent);
    let told = '';
    for await (const chunk of agent.stdout!) {
      told += chunk;
      if (told.split('\n').length > 2) break;
    }
    const commands = told.trim().split('\n').map(Number);
    expect(commands.map((pid) => readProcessStart(pid))).not.toContain(null);
    nameAgent(agent.pid!, readProcessStart(agent.pid!)!);
    expect(await endSession(runDir, { hangUpMs: 500, terminateMs: 500 })).toBe('ended');
    await expect.poll(() => commands.map((pid) => readProcessStart(pid))).toEqual([null, null]);
  });

  it.runIf(process.platform === 'linux')('signals only the process that was named', async () => {
    const agent = await startAgent('');
    const patience = { hangUpMs: 20, terminateMs: 20 };
    nameAgent(agent.pid!, '1');
    expect(await endSession(runDir, patience)).toContain('not the one');
    for (const pid of [1, 0, -1, process.pid]) {
      nameAgent(pid, readProcessStart(pid) ?? '1');
      expect(await endSession(runDir, patience)).toContain('never ended');
    }
    writeFileSync(join(runDir, 'agent.pid'), '{}');
    expect(await endSession(runDir, patience)).toContain('names no process');
    expect(await endSession(join(runDir, 'nowhere'), patience)).toContain('cannot be read');
    expect(agent.signalCode).toBeNull();
    expect(readProcessStart(agent.pid!)).not.toBeNull();
  });
});
