import { existsSync, mkdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  groupEntry,
  type MemoryMechanism,
  openMemoryGroups,
  removeParentGroup,
  removeRunGroup,
  sweepGroups,
} from '../../src/platform/memory-groups.ts';
import type { ProcessRunner } from '../../src/platform/process.ts';
import { createRunner } from '../../src/platform/process.ts';
import { scratchFolder } from '../kit/scratch-folder.ts';

const options = {
  data_dir: `/data/${process.pid}`,
  total_bytes: 512e6,
  platform: process.platform,
  uid: process.getuid?.() ?? null,
  env: { PATH: process.env.PATH },
  runner: createRunner(),
};

describe('how a worker enters its memory group', () => {
  const scopes: MemoryMechanism = {
    kind: 'systemd',
    run: ['systemd-run', '--user'],
    slice: 'svc-workers-0.slice',
    oom_policy: true,
  };

  it.each([
    [
      'a scope',
      scopes,
      14e9,
      {
        kind: 'systemd',
        argv: [
          ...[
            'systemd-run',
            '--user',
            '--scope',
            '--quiet',
            '--collect',
            '--unit=svc-run-01k',
            '--slice=svc-workers-0.slice',
          ],
          ...[
            '-p',
            'MemoryMax=14000000000',
            '-p',
            'MemorySwapMax=14000000000',
            '-p',
            'OOMPolicy=continue',
            '--',
          ],
        ],
      },
    ],
    [
      'version 1',
      { kind: 'cgroup', version: 1, parent: '/g/p' },
      14e9,
      {
        kind: 'cgroup',
        folder: '/g/p/run-01K',
        files: [
          ['memory.limit_in_bytes', '14000000000'],
          ['memory.memsw.limit_in_bytes', '28000000000'],
        ],
      },
    ],
    [
      'version 2',
      { kind: 'cgroup', version: 2, parent: '/g/p' },
      14e9,
      {
        kind: 'cgroup',
        folder: '/g/p/run-01K',
        files: [
          ['memory.max', '14000000000'],
          ['memory.swap.max', '14000000000'],
        ],
      },
    ],
    [
      'no limit of its own',
      { kind: 'cgroup', version: 2, parent: '/g/p' },
      null,
      { kind: 'cgroup', folder: '/g/p/run-01K', files: [] },
    ],
    ['nothing', { kind: 'none', why: 'w' }, 14e9, null],
  ] as [string, MemoryMechanism, number | null, unknown][])(
    'is decided for %s',
    (_what, mechanism, limit, entry) => {
      expect(groupEntry(mechanism, '01K', limit)).toEqual(entry);
    },
  );

  it('omits the policy for a systemd whose scopes do not support it', () => {
    const entry = groupEntry({ ...scopes, oom_policy: false }, '01K', 1e9);
    expect(JSON.stringify(entry)).not.toContain('OOMPolicy');
  });
});

describe('the mechanism', () => {
  it('is none on a system without groups, and gives the reason', async () => {
    expect(await openMemoryGroups({ ...options, platform: 'darwin' })).toEqual({
      kind: 'none',
      why: 'this system has no memory groups for processes',
    });
  });

  it('is none if a process cannot enter the groups it made, which are removed again', async () => {
    const refusing: ProcessRunner = {
      ...createRunner(),
      run: async () => ({ kind: 'exited', code: 2, stdout: '', stderr: 'Permission denied\n' }) as never,
    };
    const data_dir = `${options.data_dir}/refused`;
    expect(await openMemoryGroups({ ...options, data_dir, runner: refusing })).toMatchObject({
      kind: 'none',
    });
  });

  it('limits all workers together, and removes only leftovers of ended runs', async ({ skip }) => {
    const mechanism = await openMemoryGroups(options);
    skip(mechanism.kind !== 'cgroup', 'no control group can be made here');
    if (mechanism.kind !== 'cgroup') return;
    const { parent, version } = mechanism;
    const limit = join(parent, version === 1 ? 'memory.limit_in_bytes' : 'memory.max');
    expect(Math.round(Number(readFileSync(limit, 'utf8')) / 1e6)).toBe(512);
    for (const name of ['run-OLD', 'run-LIVE', 'run-YOUNG']) mkdirSync(join(parent, name));
    const now = Date.now() + 120_000;
    expect(sweepGroups(mechanism, new Set(['OLD', 'LIVE', 'YOUNG']), now)).toBe(0);
    expect(sweepGroups(mechanism, new Set(), Date.now())).toBe(0);
    expect(sweepGroups(mechanism, new Set(['LIVE']), now)).toBe(2);
    expect(existsSync(join(parent, 'run-LIVE'))).toBe(true);
    expect(removeRunGroup(join(parent, 'run-LIVE'))).toBe(true);
    removeParentGroup(parent);
    expect(existsSync(parent)).toBe(false);
  });

  it('removes no folder that is not a group of a run', () => {
    const scratch = scratchFolder();
    const other = scratch.mkdir('other');
    utimesSync(other, 0, 0);
    expect(removeRunGroup(other)).toBe(false);
    removeParentGroup(other);
    expect(existsSync(other)).toBe(true);
    scratch.remove();
  });
});
