import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunState } from '../../../src/dispatch/run/run-state.ts';
import { runOfManifest } from '../../../src/dispatch/run/runs.ts';
import { listRuns } from '../../../src/dispatch/run-directory/run-directory.ts';

/** What version 0.1.0 has written into `run.json`, byte for byte but for the fields that a case changes. */
const WRITTEN = {
  version: 1,
  launch_id: '01K2Z3V4W5X6Y7Z8A9B0C1D2E3',
  run_id: '01K2Z3V4W5X6Y7Z8A9B0C1D2E3',
  fiber: 'work/loader',
  uid: '01K2Z3V4W5X6Y7Z8A9B0C1D2E4',
  leaf: 'loader',
  store: '/srv/store',
  path: '/srv/store/.fibers/work/loader.md',
  mux_session: 'loader-01K2Z3V4W5X6Y7Z8A9B0C1D2E4-svc',
  agent: 'demo',
  harness: 'claude',
  session_uuid: '3f0c6f1e-0000-4000-8000-000000000001',
  surface: 'cli',
  project_dir: '/srv/dev',
  dispatched_at: 1_790_000_000_000,
  state: 'spawned',
  ended_at: null,
  boot_id: 'boot-1',
};
const APP = {
  thread_id: 'thread',
  transcript_session_uuid: null,
  project_id: null,
  turn: 'confirmed',
  resumed: false,
  effort: null,
};

const CASES: [string, Record<string, unknown>, RunState][] = [
  ['a claim', { state: 'claimed' }, { kind: 'claimed', answers: false }],
  ['a start that came about', {}, { kind: 'started', answers: false }],
  ['the claim of a person', { claim: 'person' }, { kind: 'running', answers: false }],
  [
    'a claim of a person that was cut short',
    { claim: 'person', state: 'claimed' },
    { kind: 'claimed', answers: false },
  ],
  ['a claimed capture', { claim: 'capture' }, { kind: 'started', answers: false }],
  ['an app conversation', { surface: 'app', app: APP }, { kind: 'running', answers: false }],
];

describe('a run file of an earlier daemon', () => {
  it.each(CASES)('is read as %s', (_name, change, state) => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-runs-'));
    onTestFinished(() => rmSync(data_dir, { recursive: true, force: true }));
    const dir = join(data_dir, 'runs', WRITTEN.launch_id);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'run.json'), `${JSON.stringify({ ...WRITTEN, ...change }, null, 2)}\n`);
    const [entry] = listRuns(data_dir);
    if (entry?.kind !== 'run') throw new Error(`the run file was not read: ${entry?.detail}`);
    expect(runOfManifest(entry.manifest)).toMatchObject({
      state,
      fiber_id: WRITTEN.fiber,
      mux_session: WRITTEN.mux_session,
      session_uuid: WRITTEN.session_uuid,
      started_at: WRITTEN.dispatched_at,
    });
  });
});
