import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A program that gives this answer to every request, until `use` is over. */
export async function whileAnswering<T>(
  told: object,
  use: (url: string) => Promise<T>,
  status = 200,
): Promise<T> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
