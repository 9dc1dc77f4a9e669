/** How peers are checked, as reported by `GET /version` (OPR-1). `uid` is the daemon's own. */
export type PeerGateView = { mode: 'enforced' | 'none'; uid: number | null; source: string };

/** Who is at the other end of one connection. */
export type PeerVerdict =
  | { kind: 'own_uid' }
  | { kind: 'other_uid'; uid: number; own_uid: number }
  | { kind: 'unresolved'; reason: string }
  /** The connection is not in the table or is ambiguous. It is closed without an answer. */
  | { kind: 'no_connection' };
