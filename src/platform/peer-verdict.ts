/** What can be said about peers, as `GET /version` says it (OPR-1). `uid` is the daemon's own. */
export type PeerGateView = { mode: 'enforced' | 'none'; uid: number | null; source: string };

/** Who is at the other end of one connection. */
export type PeerVerdict =
  | { kind: 'own_uid' }
  | { kind: 'other_uid'; uid: number; own_uid: number }
  | { kind: 'unresolved'; reason: string }
  /** The connection itself is not in the table, or cannot be told from another: it may not even be answered. */
  | { kind: 'no_connection' };
