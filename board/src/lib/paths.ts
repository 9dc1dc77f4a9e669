/** The path of one fiber below `/api/v1`; an id may hold slashes. */
export function fiberPath(reference: string): string {
  return `/fibers/${reference.split('/').map(encodeURIComponent).join('/')}`;
}

/** What the sessions ledgers of all hosts say of one fiber. */
export function sessionsPath(uid: string): string {
  return `/sessions/composite?uid=${encodeURIComponent(uid)}`;
}

/** The state of all hosts. */
export const STATE_PATH = '/state/composite';
