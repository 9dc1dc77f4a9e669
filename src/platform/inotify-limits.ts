import { readFileSync } from 'node:fs';

/** A limit of the kernel on file watches of this user; null on a system without inotify. */
export function inotifyLimit(name: 'max_user_watches' | 'max_queued_events'): number | null {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8')) || null;
  } catch {
    return null;
  }
}
