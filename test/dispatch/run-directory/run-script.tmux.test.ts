import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { RunDirectories } from '../../../src/dispatch/run-directory/run-directories.ts';
import {
  claimRun,
  readAgentPid,
  readExit,
  readManifest,
  recordEnd,
} from '../../../src/dispatch/run-directory/run-directory.ts';
import type { RunManifest } from '../../../src/dispatch/run-directory/run-records.ts';
import { buildRunScript, runScriptCommand } from '../../../src/dispatch/run-directory/run-script.ts';
import { endWorker } from '../../../src/dispatch/surfaces/terminal/end-worker.ts';
import type { World } from '../../../src/dispatch/world/world.ts';
import { PROMPT } from '../../../src/harness/adapter.ts';
import { workerSessionName } from '../../../src/mux/session-name.ts';
import type { createTmux } from '../../../src/mux/tmux.ts';
import type { GroupEntry } from '../../../src/platform/memory-groups.ts';
import { lookUpProcess } from '../../../src/platform/process-facts.ts';
import { createPrivateServer, type PrivateServer, until } from '../../fixtures/mux/private-server.ts';

const AGENT = new URL('../../fixtures/mux/terminal-agent.mjs', import.meta.url).pathname;
const run = promisify(execFile);
const UID = '01K2Z3V4W5X6Y7Z8A9B0C1D2E3';

let server: PrivateServer;
let mux: ReturnType<typeof createTmux>;
beforeEach(() => {
  server = createPrivateServer();
  mux = server.open();
});
afterEach(() => server.dispose());

const PROMPT_TEXT = "it's $(touch pwn)\n`touch pwn`; é \\";

/** Claims a launch of the terminal agent as the dispatcher would. */
function claim(mode: string, options: { memory?: GroupEntry } = {}) {
  const prompt = PROMPT_TEXT;
  const project_dir = join(server.dir, "pro'ject #(touch pwn);");
  mkdirSync(project_dir);
  const run_dir = join(server.dir, 'runs', 'launch-1');
  const name = workerSessionName('loader', UID);
  const manifest: RunManifest = {
    version: 1,
    launch_id: 'launch-1',
    run_id: 'run-1',
    fiber: 'work/loader',
    uid: UID,
    store: '/srv/notes',
    path: '/srv/notes/.fibers/work/loader/loader.md',
    leaf: 'loader',
    mux_session: name,
    agent: 'demo',
    harness: 'claude',
    session_uuid: null,
    surface: 'cli',
    project_dir,
    dispatched_at: Date.now(),
    state: 'claimed',
    ended_at: null,
    boot_id: null,
  };
  const script = buildRunScript({
    run_dir,
    project_dir,
    argv: [process.execPath, AGENT, mode, PROMPT],
    env: { SAID: join(server.dir, 'said'), QUOTED: `'"$(touch pwn)"'` },
    prompt_bytes: Buffer.byteLength(prompt),
    prompt_on_stdin: false,
    memory: options.memory ?? null,
  });
  claimRun(server.dir, { manifest, prompt, script, files: [] });
  return { project_dir, run_dir, name, prompt };
}

/** Launches it, and gives its session and what it said of itself. */
async function launch(mode: string) {
  const { project_dir, run_dir, name, prompt } = claim(mode);
  const made = await mux.create({ name, cwd: project_dir, command: runScriptCommand(run_dir) });
  if (made.kind !== 'created') throw new Error(JSON.stringify(made));
  const said = await until('the agent', () =>
    existsSync(join(server.dir, 'said')) ? JSON.parse(readFileSync(join(server.dir, 'said'), 'utf8')) : null,
  );
  return { session: made.session, run_dir, project_dir, said, prompt };
}

const exitOf = (run_dir: string) =>
  until('exit.json', () => {
    const read = readExit(run_dir);
    return read.kind === 'found' ? read.value : null;
  });

describe('a worker started by its run script in a session', () => {
  it('has the terminal in the foreground, default signals, its prompt and its directory', async () => {
    const { said, run_dir, project_dir, prompt } = await launch('wait');
    expect(said).toMatchObject({ tty: [true, true, true], foreground: true, cwd: project_dir, prompt });
    expect(said.quoted).toBe(`'"$(touch pwn)"'`);
    expect(said.ignored).toEqual([]);
    expect(existsSync(join(project_dir, 'pwn'))).toBe(false);
    const recorded = readAgentPid(run_dir);
    const found = lookUpProcess(said.pid);
    expect(recorded).toEqual({
      kind: 'found',
      value: { pid: said.pid, start_time: found.kind === 'found' ? found.row.start_time : null },
    });
    expect(readManifest(run_dir)).toMatchObject({ kind: 'found', value: { leaf: 'loader' } });
  });

  it.each([0, 3])('records exit code %d, and the session ends', async (code) => {
    const { session, run_dir } = await launch(`exit-${code}`);
    expect(await exitOf(run_dir)).toMatchObject({ code, signal: null });
    await until('the end of the session', async () => (await mux.kill(session)) === 'gone');
  });

  it.each([0, 3])(
    '[P26] keeps the last screen of an agent that ended by itself with %d, before it tells how the agent ended',
    async (code) => {
      const { run_dir } = await launch(`exit-${code}`);
      await exitOf(run_dir);
      expect(readFileSync(join(run_dir, 'screen.txt'), 'utf8')).toContain(`leaving with ${code}`);
      expect(existsSync(join(run_dir, 'screen.txt.tmp'))).toBe(false);
    },
  );

  it('keeps no screen of an agent that somebody ends', async () => {
    const { run_dir, said } = await launch('wait');
    recordEnd(run_dir, { reason: 'handoff', at: Date.now() });
    process.kill(said.pid, 'SIGTERM');
    await exitOf(run_dir);
    expect(existsSync(join(run_dir, 'screen.txt'))).toBe(false);
  });

  it('records that the agent was killed', async () => {
    const { said, run_dir } = await launch('wait');
    process.kill(said.pid, 'SIGKILL');
    expect(await exitOf(run_dir)).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('records that the session was ended', async () => {
    const { session, said, run_dir } = await launch('wait');
    await mux.kill(session);
    expect(await exitOf(run_dir)).toMatchObject({ code: null, signal: 'SIGHUP' });
    await until('the end of the agent', () => lookUpProcess(said.pid).kind === 'gone');
  });

  it('records code and hang-up of an agent that takes the end of its session calmly', async () => {
    const { session, run_dir } = await launch('calm');
    await mux.kill(session);
    expect(await exitOf(run_dir)).toMatchObject({ code: 7, signal: 'SIGHUP' });
  });

  it('[P13] never becomes its agent where its end came before its record, although nothing heeds the hang-up', async () => {
    const { run_dir, name } = claim('wait', {
      memory: { kind: 'cgroup', folder: join(server.dir, 'group'), files: [] },
    });
    // Its script stands still here, before it tells which process it is.
    const gate = join(run_dir, 'memory.error');
    await run('mkfifo', [gate]);
    const command = ['/bin/sh', '-c', `trap '' HUP; exec "$@"`, 'sh', ...runScriptCommand(run_dir)];
    const made = await mux.create({ name, cwd: server.dir, command });
    const runDirectories = new RunDirectories({ data_dir: server.dir, logger: silentLogger });
    runDirectories.writeEnd('launch-1', 'kill', Date.now());
    const ended: unknown[] = [];
    const processes = { end: async (identity: unknown) => void ended.push(identity) };
    const world = { mux, runDirectories, processes } as unknown as World;
    await endWorker(world, { launch_id: 'launch-1', mux_session: name });
    if (made.kind !== 'created') throw new Error(JSON.stringify(made));
    expect([await mux.kill(made.session), ended]).toEqual(['gone', []]);
    // As long as somebody reads it, nothing waits at it.
    const open_gate = openSync(gate, constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(open_gate));
    expect(await exitOf(run_dir)).toMatchObject({ signal: 'SIGTERM' });
    expect([readAgentPid(run_dir).kind, existsSync(join(server.dir, 'said'))]).toEqual(['found', false]);
  });

  it('survives the interrupt key when the agent does', async () => {
    const { session, run_dir, said } = await launch('counts-interrupts');
    await server.tmux('send-keys', '-t', `${session.id}:`, 'C-c');
    await until('the interrupt', async () =>
      (await mux.capture(session.panes[0]!.id))?.includes('interrupted 1'),
    );
    await server.tmux('send-keys', '-t', `${session.id}:`, 'C-c');
    await until('the interrupt', async () =>
      (await mux.capture(session.panes[0]!.id))?.includes('interrupted 2'),
    );
    expect(readExit(run_dir)).toEqual({ kind: 'none' });
    expect(lookUpProcess(said.pid).kind).toBe('found');
  });

  it('records the interrupt that ended the agent', async () => {
    const { session, run_dir } = await launch('wait');
    await server.tmux('send-keys', '-t', `${session.id}:`, 'C-c');
    expect(await exitOf(run_dir)).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  it('is told of the end when the outer shell is killed', async () => {
    const { session, run_dir } = await launch('wait');
    process.kill(session.panes[0]!.pid!, 'SIGKILL');
    expect(await exitOf(run_dir)).toMatchObject({ code: null, signal: 'SIGHUP' });
  });
});
