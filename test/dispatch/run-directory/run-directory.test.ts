import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeRuns, selectExpiredRuns } from '../../../src/dispatch/run-directory/run-directories.ts';
import {
  claimRun,
  listRuns,
  readAgentPid,
  readEnd,
  readExit,
  readManifest,
  recordEnd,
  runDirectoryOf,
  updateRun,
  writeScreen,
} from '../../../src/dispatch/run-directory/run-directory.ts';
import type { RunManifest } from '../../../src/dispatch/run-directory/run-records.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'svc-runs-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

function manifestOf(launch_id: string, change: Partial<RunManifest> = {}): RunManifest {
  return {
    version: 1,
    launch_id,
    run_id: `run-${launch_id}`,
    fiber: 'work/loader',
    uid: '01K2Z3V4W5X6Y7Z8A9B0C1D2E3',
    store: '/srv/notes',
    path: '/srv/notes/.fibers/work/loader/loader.md',
    leaf: 'loader',
    mux_session: 'loader-01K2Z3V4W5X6Y7Z8A9B0C1D2E3-svc',
    agent: 'claude-sonnet',
    harness: 'claude',
    session_uuid: null,
    surface: 'cli',
    project_dir: '/srv/dev',
    dispatched_at: 1_000,
    state: 'claimed',
    ended_at: null,
    boot_id: null,
    ...change,
  };
}

const claim = (launch_id: string, files: { name: string; text: string }[] = []) =>
  claimRun(data, { manifest: manifestOf(launch_id), prompt: 'Do it.', script: '#!/bin/sh\n', files });

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('a run directory', () => {
  it('holds prompt, script, manifest and the adapter’s files, for us alone', () => {
    const dir = claim('a1', [{ name: 'settings.json', text: '{}' }]);
    expect(dir).toBe(join(data, 'runs', 'a1'));
    expect(readdirSync(dir).sort()).toEqual(['prompt.md', 'run.json', 'run.sh', 'settings.json']);
    expect([mode(join(data, 'runs')), mode(dir), mode(join(dir, 'run.sh'))]).toEqual(['700', '700', '700']);
    for (const name of ['prompt.md', 'run.json', 'settings.json']) expect(mode(join(dir, name))).toBe('600');
    expect(readManifest(dir)).toEqual({ kind: 'found', value: manifestOf('a1') });
  });

  it('can be claimed once', () => {
    claim('a1');
    expect(() => claim('a1')).toThrow(expect.objectContaining({ code: 'already_exists' }));
  });

  it.each(['', '..', 'a/b', '.a', 'a b', '-a'])('is not made under the name %j', (id) => {
    expect(() => runDirectoryOf(data, id)).toThrow(/cannot name a run directory/);
  });

  it.each(['../x', 'run.sh', 'exit.json', '.x', 'a/b', ''])('takes no adapter file named %j', (name) => {
    expect(() => claim('a1', [{ name, text: '' }])).toThrow(/cannot name a file/);
    expect(listRuns(data)).toEqual([]);
  });

  it('keeps what an update does not name', () => {
    const dir = claim('a1');
    expect(updateRun(dir, { state: 'spawned', session_uuid: 'u' })).toEqual(
      manifestOf('a1', { state: 'spawned', session_uuid: 'u' }),
    );
    expect(readManifest(dir)).toMatchObject({ value: { state: 'spawned', fiber: 'work/loader' } });
    rmSync(join(dir, 'run.json'));
    expect(() => updateRun(dir, { state: 'ended' })).toThrow(expect.objectContaining({ code: 'not_found' }));
  });

  it('tells a missing record from a torn one', () => {
    const dir = claim('a1');
    for (const [read, name] of [
      [readExit, 'exit.json'],
      [readAgentPid, 'agent.pid'],
      [readEnd, 'end.json'],
    ] as const) {
      expect(read(dir)).toEqual({ kind: 'none' });
      for (const torn of ['', '{"pid":', '[]', '{"pid":1,"start_time":"1"}', 'null']) {
        writeFileSync(join(dir, name), torn);
        expect(read(dir).kind).toBe('unknown');
      }
      rmSync(join(dir, name));
      mkdirSync(join(dir, name));
      expect(read(dir).kind).toBe('unknown');
      rmSync(join(dir, name), { recursive: true });
    }
  });

  it.each([
    { what: 'its file', at: 1_700_000_000_000, written: 1_700_000_000.625, expected: 1_700_000_000_625 },
    {
      what: 'its file, a second later',
      at: 1_700_000_000_000,
      written: 1_700_000_001.5,
      expected: 1_700_000_001_500,
    },
    {
      what: 'the record, if the file is copied later',
      at: 1_700_000_000_000,
      written: 1_700_000_009,
      expected: 1_700_000_000_000,
    },
    {
      what: 'the record, if the file is older',
      at: 1_700_000_000_000,
      written: 1_600_000_000,
      expected: 1_700_000_000_000,
    },
    {
      what: 'the record, if it has its own',
      at: 1_700_000_000_321,
      written: 1_700_000_000.625,
      expected: 1_700_000_000_321,
    },
  ])('tells an exit to the millisecond, from $what', ({ at, written, expected }) => {
    const dir = claim('a1');
    const path = join(dir, 'exit.json');
    writeFileSync(path, JSON.stringify({ code: 0, signal: null, at }));
    utimesSync(path, written, written);
    expect(readExit(dir)).toEqual({ kind: 'found', value: { code: 0, signal: null, at: expected } });
  });

  it('keeps the first reason for which it was ended', () => {
    const dir = claim('a1');
    recordEnd(dir, { reason: 'handoff', at: 5 });
    recordEnd(dir, { reason: 'kill', at: 6 });
    expect(readEnd(dir)).toEqual({ kind: 'found', value: { reason: 'handoff', at: 5 } });
    writeScreen(dir, 'last line');
    expect(readFileSync(join(dir, 'screen.txt'), 'utf8')).toBe('last line');
  });
});

describe('the list of runs', () => {
  it('is empty before the first run', () => {
    expect(listRuns(data)).toEqual([]);
  });

  it('shows good runs beside torn, foreign and unfinished ones', () => {
    claim('a1');
    claim('b2');
    writeFileSync(join(data, 'runs', 'b2', 'run.json'), '{"version":1,');
    mkdirSync(join(data, 'runs', 'c3'));
    writeFileSync(join(data, 'runs', 'note.txt'), 'hello');
    mkdirSync(join(data, 'runs', 'd4'));
    writeFileSync(join(data, 'runs', 'd4', 'run.json'), JSON.stringify(manifestOf('a1')));
    const shown = listRuns(data).map((entry) => [entry.dir.slice(-2), entry.kind]);
    expect(shown).toEqual([
      ['a1', 'run'],
      ['b2', 'unreadable'],
      ['c3', 'unreadable'],
      ['d4', 'unreadable'],
    ]);
  });
});

describe('retention', () => {
  it('removes ended runs over the number or the age, and never another', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            state: fc.constantFrom('claimed' as const, 'spawned' as const, 'ended' as const),
            age: fc.nat(100),
          }),
          { maxLength: 40 },
        ),
        fc.nat(10),
        fc.nat(100),
        (runs, most, max_age_ms) => {
          const now = 1_000;
          const entries = runs.map((run, index) => ({
            kind: 'run' as const,
            dir: String(index),
            manifest: manifestOf(String(index), { state: run.state, ended_at: now - run.age }),
          }));
          const removed = selectExpiredRuns(
            [...entries, { kind: 'unreadable', dir: 'torn', detail: '' }],
            now,
            { most, max_age_ms },
          ).map(Number);
          for (const index of removed) expect(runs[index]?.state).toBe('ended');
          const kept = runs.filter((run, index) => run.state === 'ended' && !removed.includes(index));
          expect(kept.length).toBeLessThanOrEqual(most);
          for (const run of kept) expect(run.age).toBeLessThanOrEqual(max_age_ms);
          const youngestRemoved = Math.min(...removed.map((index) => runs[index]!.age));
          if (kept.length < most && removed.length > 0) expect(youngestRemoved).toBeGreaterThan(max_age_ms);
          if (removed.length > 0)
            for (const run of kept) expect(run.age).toBeLessThanOrEqual(youngestRemoved);
        },
      ),
    );
  });

  it('deletes what was chosen', () => {
    const dir = claim('a1');
    claim('b2');
    updateRun(dir, { state: 'ended', ended_at: 0 });
    removeRuns(selectExpiredRuns(listRuns(data), 10, { most: 0, max_age_ms: 100 }));
    expect(listRuns(data)).toMatchObject([{ manifest: { launch_id: 'b2' } }]);
  });
});
