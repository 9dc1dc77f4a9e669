import type { ErrorCode } from '../contract/error-codes.ts';

/** What the operating system says about the peer of a connection. */
export type Peer =
  /** A TCP peer that was not looked up. */
  | { kind: 'unchecked' }
  /** A TCP peer of the daemon's own user. */
  | { kind: 'own_uid' }
  | { kind: 'other_uid'; uid: number; own_uid: number }
  /** A TCP peer that could not be matched to a user; `reason` says why. */
  | { kind: 'unresolved'; reason: string }
  /** A peer on the Unix socket: the file mode has already checked the user. */
  | { kind: 'unix_socket' }
  /** Another machine of the same user in the tailnet; `names` are those by which it may call this one. */
  | { kind: 'own_machine'; names: readonly string[] };

/** The facts of a request that the decision needs. Header values as sent, null where absent. */
export type AccessQuestion = {
  host: string | null;
  origin: string | null;
  /**
   * `Sec-Fetch-Site`, `Sec-Fetch-Mode` and `Sec-Fetch-Dest`: which page or navigation of a browser sent the request.
   */
  fetch_site: string | null;
  fetch_mode: string | null;
  fetch_dest: string | null;
  /** Upper case. */
  method: string;
  is_upgrade: boolean;
  peer: Peer;
};

/** Names are compared without regard to case; `dev_origins` are whole origins such as `http://localhost:5173`. */
export type AccessPolicy = {
  own_names: readonly string[];
  allowed_hosts: readonly string[];
  dev_origins: readonly string[];
};

export type AccessDecision =
  | { allow: true }
  | {
      allow: false;
      status: 403;
      body: {
        error: ErrorCode & ('peer_refused' | 'forbidden_host' | 'forbidden_origin' | 'forbidden_use');
      } & ({ reason: string } | { message: string });
    };

const ALLOW: AccessDecision = { allow: true };

/**
 * May this request be served? Checks in order, the first refusal wins: the peer's user (AUT-2), then the `Host` header
 * on every request (a rebinding page names its own host), then the page it comes from: `Origin` on writes and upgrades
 * (AUT-3), `Sec-Fetch-Site` on everything. Requests on the Unix socket skip only the first check, since a tunnel can
 * bring browsers to it.
 */
export function decideAccess(question: AccessQuestion, policy: AccessPolicy): AccessDecision {
  const peer = refusePeer(question.peer);
  if (peer !== null) return peer;
  if (!isKnownHost(question.host, policy) && !isOwnName(question)) return FOREIGN_HOST;
  const { origin } = question;
  if (origin !== null && policy.dev_origins.some((entry) => sameText(entry, origin))) return ALLOW;
  const reads = (question.method === 'GET' || question.method === 'HEAD') && !question.is_upgrade;
  if (isFromElsewhere(question.fetch_site)) return reads && opensPage(question) ? ALLOW : FOREIGN_ORIGIN;
  if (reads || origin === null) return ALLOW;
  return isOwnPage(origin, question.host) ? ALLOW : FOREIGN_ORIGIN;
}

/** The first check: the refusal of a peer because of its user, or null where the user is accepted. */
export function refusePeer(peer: Peer): AccessDecision | null {
  switch (peer.kind) {
    case 'unchecked':
    case 'own_uid':
    case 'unix_socket':
    case 'own_machine':
      return null;
    case 'other_uid':
      return peerRefused(`peer uid ${peer.uid} is not the daemon's uid ${peer.own_uid}`);
    case 'unresolved':
      return peerRefused(peer.reason);
    default:
      return peerRefused('peer uid unresolved: unknown kind of peer');
  }
}

/** What a browser does with an answer, as it says in `Sec-Fetch-Dest`, where nothing of the answer can act for a page. */
const DATA_USES = new Set([
  ...['audio', 'document', 'empty', 'frame', 'iframe', 'image', 'track', 'video', 'websocket'],
]);

/**
 * May a browser use data in this way? No text that somebody wrote to a disk is run in the origin of the board, as a script, a
 * worker or a style sheet, although a page of the board itself asks for it. For every answer but the files of the board.
 */
export function decideUse(fetch_dest: string | null): AccessDecision {
  return fetch_dest === null || DATA_USES.has(fetch_dest.toLowerCase()) ? ALLOW : FOREIGN_USE;
}

/** Browsers count another port of this machine as the same site, but any local user may listen on that port. */
function isFromElsewhere(fetch_site: string | null): boolean {
  return fetch_site !== null && !sameText(fetch_site, 'same-origin') && !sameText(fetch_site, 'none');
}

/** A link opened as a top-level page; the page with the link cannot read the answer. */
function opensPage(question: AccessQuestion): boolean {
  const { fetch_mode, fetch_dest } = question;
  if (fetch_mode === null || fetch_dest === null) return false;
  return sameText(fetch_mode, 'navigate') && sameText(fetch_dest, 'document');
}

/** The origin of the page is the host and port that the request was sent to. */
function isOwnPage(origin: string, host: string | null): boolean {
  const match = /^https?:\/\/(.+)$/i.exec(origin);
  return match !== null && host !== null && sameText(match[1]!, host);
}

/** Caches the last result: a client sends the same `Host` with every request. */
let last: { host: string | null; policy: AccessPolicy; known: boolean } | null = null;

function isKnownHost(host: string | null, policy: AccessPolicy): boolean {
  if (last === null || last.host !== host || last.policy !== policy)
    last = { host, policy, known: judgeHost(host, policy) };
  return last.known;
}

/** Over the tailnet, this machine is called by its names there. */
function isOwnName({ host, peer }: AccessQuestion): boolean {
  if (peer.kind !== 'own_machine' || host === null) return false;
  const name = parseHostHeader(host)?.name;
  return name !== undefined && peer.names.some((entry) => sameText(entry, name));
}

function judgeHost(host: string | null, policy: AccessPolicy): boolean {
  const parsed = host === null ? null : parseHostHeader(host);
  if (parsed === null) return false;
  const { name } = parsed;
  return (
    isLoopbackName(name) ||
    [...policy.own_names, ...policy.allowed_hosts].some((entry) => sameText(entry, name))
  );
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && a.toLowerCase() === b.toLowerCase();
}

function peerRefused(reason: string): AccessDecision {
  return { allow: false, status: 403, body: { error: 'peer_refused', reason } };
}

const FOREIGN_HOST: AccessDecision = {
  allow: false,
  status: 403,
  body: {
    error: 'forbidden_host',
    message:
      'The Host header names no address of this daemon; use a loopback address, or add the name to SVC_ALLOWED_HOSTS.',
  },
};

const FOREIGN_ORIGIN: AccessDecision = {
  allow: false,
  status: 403,
  body: {
    error: 'forbidden_origin',
    message:
      'The request comes from a page of another site; use the board itself, or add the origin to SVC_DEV_ORIGINS.',
  },
};

const FOREIGN_USE: AccessDecision = {
  allow: false,
  status: 403,
  body: {
    error: 'forbidden_use',
    message:
      'A page asks for data to run or to apply it, as a script or a style sheet; only the files of the board itself are used so.',
  },
};

/** A parsed `Host` header: `name` in lower case without brackets or final dot, `port` or null. */
export type HostHeader = { name: string; port: number | null };

const SHAPE = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9]|[a-z0-9][a-z0-9._-]*))(?::(\d{1,5}))?$/;

/** Parses a `Host` header, or the part of an origin after `://`; null for anything malformed. */
export function parseHostHeader(text: string): HostHeader | null {
  const match = SHAPE.exec(text.toLowerCase());
  if (match === null) return null;
  const port = match[3] === undefined ? null : Number(match[3]);
  if (port !== null && port > 65_535) return null;
  const name = match[1] ?? match[2]!.replace(/\.$/, '');
  return name === '' ? null : { name, port };
}

const IPV4_LOOPBACK = /^127(?:\.(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}$/;

/** True for `localhost`, `127.0.0.0/8` in dotted form and `::1`: names that no DNS answer can redirect. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || IPV4_LOOPBACK.test(name);
}
