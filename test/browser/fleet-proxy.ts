import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FibersComposite } from '../../src/contract/http/fibers.ts';

type Origins = FibersComposite['origins'];

/** Stands before a daemon and adds other hosts to the composite of its feed, as a fleet would; `address` is its own. */
export type FleetProxy = { address: string; close(): Promise<void> };

/** `others` makes them from the part of the daemon's own host, whose read is whole where the page asked for all. */
export async function startFleetProxy(
  daemon: string,
  others: (composite: FibersComposite) => Origins,
): Promise<FleetProxy> {
  const server = createServer((asked, answer) => {
    const whole = asked.url?.startsWith('/api/v1/fibers/composite') === true;
    const onward = request(`http://${daemon}${asked.url}`, {
      method: asked.method ?? 'GET',
      headers: asDaemon(asked.headers, daemon, whole),
    });
    onward.on('error', () => answer.destroy());
    onward.on('response', (came) => {
      if (!whole || came.statusCode !== 200) {
        answer.writeHead(came.statusCode ?? 502, came.headers);
        came.pipe(answer);
        return;
      }
      void textOf(came).then((text) => {
        const composite = JSON.parse(text) as FibersComposite;
        Object.assign(composite.origins, others(composite));
        const { 'content-length': _, 'transfer-encoding': __, ...headers } = came.headers;
        answer.writeHead(200, headers).end(JSON.stringify(composite));
      });
    });
    asked.pipe(onward);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (asked, socket) => {
    const { hostname, port } = new URL(`http://${daemon}`);
    const onward = connect(Number(port), hostname, () => {
      const headers = Object.entries(asDaemon(asked.headers, daemon, false));
      onward.write(
        `GET ${asked.url} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
      );
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on('error', () => undefined);
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** As the page of the daemon itself would ask it. */
function asDaemon(headers: IncomingHttpHeaders, daemon: string, plain: boolean): IncomingHttpHeaders {
  const { 'accept-encoding': _, origin, ...rest } = headers;
  return {
    ...rest,
    host: daemon,
    ...(origin === undefined ? {} : { origin: `http://${daemon}` }),
    ...(plain || headers['accept-encoding'] === undefined
      ? {}
      : { 'accept-encoding': headers['accept-encoding'] }),
  };
}

async function textOf(came: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of came.setEncoding('utf8')) text += chunk;
  return text;
}
