import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A control group hierarchy with the memory controller, and the place of this process in it. */
export type MemoryHierarchy = {
  version: 1 | 2;
  /** Mount point. */
  mount: string;
  /** Path of this process's group below the mount, beginning with a slash. */
  own: string;
};

/**
 * The hierarchy that accounts for memory, from `/proc/self/cgroup` and `/proc/self/mountinfo`; null if there is none.
 * `controllers` reads `cgroup.controllers` of a version 2 mount.
 */
export function findMemoryHierarchy(
  cgroup: string,
  mountinfo: string,
  controllers: (mount: string) => string,
): MemoryHierarchy | null {
  const groups = cgroup.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const mounts = mountinfo.split('\n').flatMap(readMount);
  const first = groups.find((group) => group?.[1]?.split(',').includes('memory'));
  if (first?.[2] !== undefined) {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes('memory'));
    return mount === undefined ? null : { version: 1, mount: mount.at, own: within(mount.root, first[2]) };
  }
  const unified = groups.find((group) => group?.[1] === '');
  const mount = mounts.find(({ type }) => type === 'cgroup2');
  if (unified?.[2] === undefined || mount === undefined) return null;
  if (!controllers(mount.at).split(/\s+/).includes('memory')) return null;
  return { version: 2, mount: mount.at, own: within(mount.root, unified[2]) };
}

type Mount = { root: string; at: string; type: string; options: string[] };

/** One line of mountinfo: `36 35 98:0 /root /at rw,relatime shared:1 - type source options`. */
function readMount(line: string): Mount[] {
  const [before, after] = line.split(' - ');
  const [, , , root, at] = before?.split(' ') ?? [];
  const [type, , options] = after?.split(' ') ?? [];
  if (root === undefined || at === undefined || type === undefined) return [];
  return [{ root: plainPath(root), at: plainPath(at), type, options: options?.split(',') ?? [] }];
}

/**
 * In a container the mount shows only a part of the hierarchy, and group paths start at the real root or at that part.
 */
function within(root: string, group: string): string {
  if (root === '/') return group;
  if (group === root) return '/';
  return group.startsWith(`${root}/`) ? group.slice(root.length) : group;
}

/** The kernel escapes space, tab, newline and backslash in paths as octal. */
function plainPath(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** A group and its ancestors, nearest first. */
export function groupsUpFrom(group: string): string[] {
  const all = [group];
  for (let at = group; at !== '/' && at !== '.'; all.push(at)) at = dirname(at);
  return all;
}

/** What the kernel reports about the memory of one group, in bytes. */
export type GroupMemory = {
  /** Number of processes of the group killed by the out-of-memory killer. */
  kills: number;
  /** Peak usage; null where the kernel does not record it. */
  peak: number | null;
  /** Null for no limit. */
  limit: number | null;
};

/** Files with the memory figures of a group, of both versions. */
export const GROUP_FILES = {
  1: { events: 'memory.oom_control', peak: 'memory.max_usage_in_bytes', limit: 'memory.limit_in_bytes' },
  2: { events: 'memory.events', peak: 'memory.peak', limit: 'memory.max' },
} as const;

/** Reads these files of a group, or copies of them; null where they are missing. */
export function readGroupMemory(read: (name: string) => string | null): GroupMemory | null {
  for (const names of [GROUP_FILES[2], GROUP_FILES[1]]) {
    const kills = /^oom_kill (\d+)$/m.exec(read(names.events) ?? '')?.[1];
    if (kills === undefined) continue;
    return { kills: Number(kills), peak: numberIn(read(names.peak)), limit: numberIn(read(names.limit)) };
  }
  return null;
}

/** The current figures of this group; null where it no longer exists. */
export function readGroup(folder: string): GroupMemory | null {
  return readGroupMemory((name) => textIn(folder, name));
}

/** Memory of a group that the kernel cannot reclaim at once, in bytes; null where the group no longer exists. */
export function usedIn(folder: string, version: 1 | 2): number | null {
  const name = version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
  const used = numberIn(textIn(folder, name));
  const cached = /^(?:total_)?inactive_file (\d+)$/m.exec(textIn(folder, 'memory.stat') ?? '')?.[1];
  return used === null ? null : Math.max(0, used - Number(cached ?? 0));
}

function textIn(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return null;
  }
}

/** Version 1 reports “no limit” as a huge number. */
const NO_LIMIT = 2 ** 60;

function numberIn(text: string | null): number | null {
  const number = text === null || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number < NO_LIMIT ? number : null;
}
