/** The path of one fiber below `/api/v1`; an id may hold slashes. */
export function fiberPath(reference: string): string {
  return `/fibers/${reference.split('/').map(encodeURIComponent).join('/')}`;
}

/** What the sessions ledger says of one fiber. */
export function sessionsPath(uid: string): string {
  return `/sessions?uid=${encodeURIComponent(uid)}`;
}
