import { readFileSync } from 'node:fs';

/** Of `/proc`, on every Linux that we know. */
const TICKS_PER_SECOND = 100;

/** User and system time of a process and all its threads, in seconds. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** User and system time of the children of this process that have ended, in milliseconds. */
export function childrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[13]) + Number(fields[14])) * 1_000) / TICKS_PER_SECOND;
}

/** Resident and proportional memory of a process, in MB. */
export function memoryOf(pid: number): { rss: number; pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const megabytes = (name: string) =>
    (Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1]) * 1024) / 1e6;
  return { rss: megabytes('Rss'), pss: megabytes('Pss') };
}
