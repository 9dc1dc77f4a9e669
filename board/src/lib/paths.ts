/**
 * The path of one fiber of a host, of the one that answers for null, below `/api/v1`. The slashes of an id are encoded too:
 * a browser would follow the dots between them to another route.
 */
export function fiberPath(reference: string, origin: string | null = null): string {
  return pathAt(origin, `/fibers/${encodeURIComponent(reference)}`);
}

/** A path that a host is asked; the one that answers for null. */
export function pathAt(origin: string | null, path: string): string {
  if (origin === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}origin=${encodeURIComponent(origin)}`;
}

/** What the sessions ledgers of all hosts say of one fiber. */
export function sessionsPath(uid: string): string {
  return `/sessions/composite?uid=${encodeURIComponent(uid)}`;
}

/** The newest part of what happened to a fiber. */
export function lifePath(uid: string): string {
  return `/fiber-life?uid=${encodeURIComponent(uid)}&limit=100`;
}

/** The state of all hosts. */
export const STATE_PATH = '/state/composite';

/** The files that the workers of all hosts sent. */
export const SENT_FILES_PATH = '/sent-files/all/composite';

/** Where the page keeps the command that starts the daemon, for when it does not answer. */
export const START_COMMAND = 'start-command';
