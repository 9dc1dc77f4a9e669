/** Address of the operator's app server: a Unix socket, or a WebSocket port of this machine. */
export type AppServerAddress =
  | { kind: 'unix'; path: string; text: string }
  | { kind: 'tcp'; host: string; port: number; text: string };

/** Loopback names only, because an app server does not authenticate its clients. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Reads `unix:/path` (also `unix:///path`) or `ws://127.0.0.1:port`; null for anything else. */
export function parseAppServerAddress(text: string): AppServerAddress | null {
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(text);
  if (unix?.[1] !== undefined) return { kind: 'unix', path: unix[1], text };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  const bare = (url.pathname === '/' || url.pathname === '') && url.search === '' && url.username === '';
  if (url.protocol !== 'ws:' || !bare || !LOOPBACK.has(url.hostname) || url.port === '') return null;
  return { kind: 'tcp', host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port), text };
}
