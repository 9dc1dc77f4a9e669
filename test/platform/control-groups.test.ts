import { describe, expect, it } from 'vitest';
import { findMemoryHierarchy, groupsUpFrom, readGroupMemory } from '../../src/platform/control-groups.ts';

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';
const V1_MOUNT = '31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';

describe('the hierarchy that accounts for memory', () => {
  it.each([
    [
      'version 2',
      '0::/user.slice/a.scope\n',
      V2_MOUNT,
      'cpu memory pids',
      { version: 2, mount: '/sys/fs/cgroup', own: '/user.slice/a.scope' },
    ],
    [
      'version 1',
      '4:memory:/x\n0::/\n',
      `${V2_MOUNT}\n${V1_MOUNT}`,
      '',
      { version: 1, mount: '/sys/fs/cgroup/memory', own: '/x' },
    ],
    ['version 2 without the controller', '0::/a\n', V2_MOUNT, 'cpu pids', null],
    ['version 1 that is not mounted', '4:memory:/x\n', '', '', null],
    [
      'a container that shows a part of it',
      '0::/docker/c1/svc\n',
      V2_MOUNT.replace(' / ', ' /docker/c1 '),
      'memory',
      { version: 2, mount: '/sys/fs/cgroup', own: '/svc' },
    ],
    [
      'a mount with a space in its path',
      '0::/\n',
      V2_MOUNT.replace('/sys/fs/cgroup', '/my\\040groups'),
      'memory',
      { version: 2, mount: '/my groups', own: '/' },
    ],
    ['nothing at all', '', '', '', null],
  ])('is found from %s', (_what, cgroup, mounts, controllers, found) => {
    expect(findMemoryHierarchy(cgroup, mounts, () => controllers)).toEqual(found);
  });

  it('has groups above each group, up to the root', () => {
    expect(groupsUpFrom('/a/b')).toEqual(['/a/b', '/a', '/']);
    expect(groupsUpFrom('/')).toEqual(['/']);
  });
});

describe('the memory of a group', () => {
  const read = (files: Record<string, string>) => readGroupMemory((name) => files[name] ?? null);

  it.each([
    [
      'version 2',
      {
        'memory.events': 'low 0\noom 2\noom_kill 1\noom_group_kill 0\n',
        'memory.peak': '1000\n',
        'memory.max': '1024\n',
      },
      { kills: 1, peak: 1000, limit: 1024 },
    ],
    [
      'version 2 without a peak and without a limit',
      { 'memory.events': 'oom_kill 0\n', 'memory.max': 'max\n' },
      { kills: 0, peak: null, limit: null },
    ],
    [
      'version 1',
      {
        'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 3\n',
        'memory.max_usage_in_bytes': '5\n',
        'memory.limit_in_bytes': '9223372036854771712\n',
      },
      { kills: 3, peak: 5, limit: null },
    ],
    ['a group that is gone', {}, null],
  ])('is read from %s', (_what, files, memory) => {
    expect(read(files as Record<string, string>)).toEqual(memory);
  });
});
