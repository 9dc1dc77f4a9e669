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
