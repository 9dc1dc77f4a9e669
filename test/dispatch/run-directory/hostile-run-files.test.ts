import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { Brake } from '../../../src/dispatch/holds/brake.ts';
import { BreakerBook } from '../../../src/dispatch/holds/breaker-book.ts';
import { IncidentBook } from '../../../src/dispatch/holds/incidents.ts';
import { UsageLimitBook } from '../../../src/dispatch/holds/usage-limit-book.ts';
import { RunDirectories } from '../../../src/dispatch/run-directory/run-directories.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const CULPRITS = [
  { what: 'a named pipe', make: (path: string) => execFileSync('mkfifo', [path]) },
  { what: 'a device', make: (path: string) => symlinkSync('/dev/zero', path) },
];

describe.each(CULPRITS)('$what in the place of', ({ what, make }) => {
  it('a file of a run is no record of it, and stands in nobody’s way', () => {
    const runDirectories = new RunDirectories({ data_dir: scratch.path, logger: silentLogger });
    const run = scratch.mkdir('runs/a1');
    for (const name of [
      'run.json',
      'prompt.md',
      'agent.pid',
      'exit.json',
      'end.json',
      'screen.txt',
      'sessions.jsonl',
      'phases.jsonl',
      'usage-limits.jsonl',
    ])
      make(join(run, name));
    expect(runDirectories.manifest('a1')).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining(what),
    });
    expect(runDirectories.readPrompt('a1')).toBeNull();
    expect(runDirectories.readScreen('a1')).toBeNull();
    expect(runDirectories.sessionStarts('a1')).toEqual([]);
    expect(runDirectories.phaseSigns('a1')).toEqual([]);
    expect(runDirectories.usageNotice('a1')).toBeNull();
    expect(runDirectories.prune(Date.now())).toBe(0);
  });

  it('what the daemon keeps is passed over, and for the brake counts as pulled', () => {
    const state = scratch.mkdir('state');
    const place = (name: string) => {
      const path = join(state, name);
      rmSync(path, { force: true });
      mkdirSync(state, { recursive: true });
      make(path);
      return path;
    };
    const logger = silentLogger;
    expect(new IncidentBook({ path: place('incidents.json'), logger }).fibers()).toEqual([]);
    expect(new Brake({ path: place('brake.json'), logger, onChange: () => undefined }).pulled).toEqual({
      since: null,
      note: null,
    });
    const policy = { deaths: 3, quick_ends: 3, quick_ms: 1_000, pauses_ms: [1_000] };
    expect(() => new BreakerBook({ path: place('breaker.json'), policy, logger })).not.toThrow();
    expect(() => new UsageLimitBook({ path: place('usage-limits.json'), logger })).not.toThrow();
  });
});
