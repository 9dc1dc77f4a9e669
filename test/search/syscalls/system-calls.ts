import { readFileSync } from 'node:fs';
import { traced } from '../../kit/strace.ts';

/** What a disk, a full table or a crash can do to one system call. */
const FAULTS = ['EIO', 'ENOSPC', 'EACCES', 'EMFILE', 'EINTR', 'KILL'] as const;
export type Fault = (typeof FAULTS)[number];

/** One call of a run on a file below the folder that was watched. */
export type SystemCall = {
  name: string;
  path: string;
  /** How many calls of this name this thread had made, this one included. */
  nth: number;
  /** How many of them on this path by any thread, this one included. */
  nth_of_path: number;
  /** Opens a file that may not be there yet, or changes what is on disk. */
  changes: boolean;
};

/** Where a fault was put. `nth` counts calls of that name, on `path` alone where there is one. */
export type Injection = { name: string; nth: number; path: string | null; fault: Fault };

const READS = 'openat,statx,newfstatat,getdents64,read,pread64,close,readlink,access,faccessat2';
const CHANGES =
  'write,pwrite64,writev,fsync,fdatasync,rename,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,fchmod,chmod,ftruncate,symlink,utimensat,copy_file_range,sendfile';
const CHANGING = new Set(CHANGES.split(','));

/** Which faults a call can meet; a fault that the kernel never gives for it says nothing. */
export function faultsOf(call: SystemCall): Fault[] {
  const onDescriptor = /^(?:p?read|p?write|f|getdents|close)/.test(call.name);
  return FAULTS.filter((fault) => {
    if (fault === 'EIO') return true;
    if (fault === 'KILL') return call.changes;
    if (fault === 'ENOSPC') return call.changes && !/^(?:unlink|rmdir|f?chmod)/.test(call.name);
    if (fault === 'EACCES') return !onDescriptor;
    if (fault === 'EMFILE') return call.name === 'openat';
    return /^(?:openat|p?read|p?write|fsync|close)/.test(call.name);
  });
}

/** argv before a program whose calls on files are written to `file`. */
export function recording(file: string): string[] {
  return [...traced(`${READS},${CHANGES}`, file), '-y', '--seccomp-bpf'];
}

/** argv before a program of whose calls one fails, or ends the process. What was hit is written to `file`. */
export function injecting({ name, nth, path, fault }: Injection, file: string): string[] {
  const how = fault === 'KILL' ? 'signal=SIGKILL' : `error=${fault}`;
  return [
    ...traced(name, file),
    '-y',
    // With this filter strace is faster and never delivers the signals that it injects.
    ...(fault === 'KILL' ? [] : ['--seccomp-bpf']),
    ...(path === null ? [] : ['-P', path]),
    `--inject=${name}:${how}:when=${nth}`,
  ];
}

/** The calls of a recorded run on files below `folder`, in order. */
export function callsBelow(folder: string, file: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const byThread = new Map<string, number>();
  const byPath = new Map<string, number>();
  for (const line of linesOf(file)) {
    const call = /^(\d+)\s+(\w+)\((.*)$/s.exec(line);
    if (call === null) continue;
    const [, thread = '', name = '', rest = ''] = call;
    const nth = count(byThread, `${thread} ${name}`);
    const path = pathOf(rest);
    if (path === null || !path.startsWith(`${folder}/`)) continue;
    const nth_of_path = count(byPath, `${name} ${path}`);
    const changes = CHANGING.has(name) || (name === 'openat' && rest.includes('O_CREAT'));
    calls.push({ name, path, nth, nth_of_path, changes });
  }
  return calls;
}

/** The path of the call that an injected run hit; null when it hit none. */
export function hitIn(file: string): string | null {
  const lines = linesOf(file);
  const killed = lines.some((line) => line.endsWith('+++ killed by SIGKILL +++'));
  const hit = lines.findLast((line) => (killed ? /^\d+\s+\w+\(/.test(line) : line.includes('(INJECTED)')));
  if (hit === undefined) return null;
  return pathOf(hit.replace(/^\d+\s+\w+\(/, '')) ?? 'a call without a path';
}

function pathOf(rest: string): string | null {
  const path = /^\d+<([^>]*)>|^(?:AT_FDCWD<[^>]*>, )?"((?:[^"\\]|\\.)*)"/.exec(rest);
  return path?.[1] ?? path?.[2] ?? null;
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n');
}

function count(counts: Map<string, number>, key: string): number {
  const next = (counts.get(key) ?? 0) + 1;
  counts.set(key, next);
  return next;
}
