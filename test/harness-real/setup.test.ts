import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { HookSpool } from '../../src/dispatch/run-directory/hook-spool.ts';
import { readPhaseSigns } from '../../src/dispatch/run-directory/phase-signs.ts';
import { lastSaid } from '../../src/harness/transcripts/last-said.ts';
import { createRunner } from '../../src/platform/process.ts';
import { programOf } from '../kit/built-package.ts';
import { eventually } from './processes.ts';
import { type RealHarness, startRealHarness } from './real-harness.ts';

const run = promisify(execFile);
const LAUNCHER = programOf('svc.cjs');
let harness: RealHarness | undefined;
/** Takes what the hooks leave, as a daemon does. */
let hooks: HookSpool | undefined;
afterEach(async () => {
  await hooks?.stop();
  await harness?.stop();
  harness = undefined;
});

/** A file of the user that a setup adds to, with what the user has in it. */
const SHARED: Record<HarnessName, { name: string; text: string } | null> = {
  claude: { name: '.claude/settings.json', text: '{"theme":"dark",   "hooks":{}}' },
  codex: { name: '.codex/config.toml', text: '' },
  pi: null,
};

describe.each(HARNESS_NAMES)('the real %s after svc setup', (name) => {
  it('[PRM-8] [P16] reports its session’s start, the prompt and the stop, and is restored exactly by --uninstall', async () => {
    harness = await startRealHarness(name);
    const { home, env, stub } = harness;
    const data_dir = join(home, 'svc');
    const run_dir = join(data_dir, 'runs', 'launch-1');
    mkdirSync(run_dir, { recursive: true });
    // What the program and its hooks get on top; the launch hands the whole environment on.
    Object.assign(env, { SVC_DATA_DIR: data_dir, SVC_RUN_DIR: run_dir });
    const shared = SHARED[name];
    const path = shared === null ? null : join(home, shared.name);
    if (path !== null && shared!.text !== '') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, shared!.text);
    }
    const before = path === null ? null : readFileSync(path, 'utf8');
    const svc = async (...args: string[]) =>
      (await run(process.execPath, [LAUNCHER, ...args], { env })).stdout;
    hooks = new HookSpool({
      data_dir,
      host: 'test-host',
      events_file: join(data_dir, 'events.jsonl'),
      commits_file: join(data_dir, 'commits.jsonl'),
      runner: createRunner(),
      clock: systemClock,
      logger: silentLogger,
    });
    hooks.start();
    await svc('setup', name);
    expect(await svc('setup', name)).toBe(`${name}: nothing to change\n`);

    stub.script({ match: 'marker-7f', steps: [{ text: 'done' }] });
    const launched = await harness.launch('Say done. marker-7f', 'marker-7f');
    const found = await harness.transcript(launched, (text) => text.includes('done'));
    const lines = () =>
      existsSync(join(data_dir, 'events.jsonl'))
        ? readFileSync(join(data_dir, 'events.jsonl'), 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : [];
    const seen = await eventually(async () => {
      const types = lines().map(({ type }) => type);
      return ['session_start', 'user_prompt_submit', 'stop'].every((type) => types.includes(type))
        ? types
        : null;
    }, 30_000);
    expect(seen, JSON.stringify(lines())).not.toBeNull();
    expect(lines().find(({ type }) => type === 'session_start')).toMatchObject({
      sessionId: found.session_uuid,
      harness: name,
      cwd: harness.project_dir,
      originName: 'test-host',
    });
    expect(JSON.stringify(lines())).not.toContain('marker-7f');
    const start = JSON.parse(readFileSync(join(run_dir, 'sessions.jsonl'), 'utf8').split('\n')[0]!);
    expect(start).toMatchObject({ type: 'session_start', source: 'startup', session: found.session_uuid });
    // What its phases are read from: the turn, and then its end with what it said.
    const signs = await eventually(async () => {
      const told = readPhaseSigns(run_dir).filter(({ session }) => session === found.session_uuid);
      return told.at(-1)?.phase === 'idle' ? told : null;
    }, 30_000);
    expect(signs?.[0]).toMatchObject({ phase: 'working', said: null });
    expect(signs?.at(-1)?.said).toBe('done');
    const said = async () => ((await lastSaid(name, found.path)) === 'done' ? true : null);
    expect(await eventually(said, 30_000), 'what it said last, in its transcript').toBe(true);
    await harness.kill(launched.session_name);

    const now = path === null ? null : readFileSync(path, 'utf8');
    await svc('setup', name, '--uninstall');
    // Codex itself may write to its config between the two; then what it wrote stays, and ours goes.
    if (path !== null && name === 'claude') expect(readFileSync(path, 'utf8')).toBe(before);
    if (path !== null && name === 'codex') {
      expect(now).toContain('fiber-dispatch: begin');
      expect(readFileSync(path, 'utf8')).not.toContain('fiber-dispatch');
    }
    for (const left of ['.claude', '.codex', '.pi/agent'])
      expect(existsSync(join(home, left, 'skills', 'fiber-service'))).toBe(false);
  });
});
