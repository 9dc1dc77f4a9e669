import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The script of a hostile page: `plunder(base)` and `strike(url, json)`. */
export const HOSTILE_SCRIPT = readFileSync(new URL('hostile-page.js', import.meta.url), 'utf8');

export type HostileSite = { port: number; close(): Promise<void> };

/** Serves one page with that script, under every name that leads here. */
export async function serveHostileSite(): Promise<HostileSite> {
  const server = createServer((request, response) => {
    const script = request.url === '/script.js';
    response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    response.end(script ? HOSTILE_SCRIPT : '<!doctype html><script src="/script.js"></script><p>hello</p>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
