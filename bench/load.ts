import { connect, type Socket } from 'node:net';

export type Load = {
  port: number;
  /** One whole request, as sent. */
  request: string;
  connections: number;
  /** Requests in flight on each connection. */
  pipeline: number;
  duration_ms: number;
};

/**
 * Keeps `connections` × `pipeline` requests in flight and answers responses per second. Every response must
 * have the length of the first one, which a server that answers the same bytes has; that makes counting so
 * cheap that the client is not what is measured.
 */
export async function measureThroughput(load: Load): Promise<number> {
  const { length } = await fetchRaw(load.port, load.request);
  const batch = Buffer.from(load.request.repeat(load.pipeline));
  const one = Buffer.from(load.request);
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)));
  let responses = 0;
  const failures: Error[] = [];
  for (const socket of sockets) {
    let rest = 0;
    socket.on('data', (chunk) => {
      rest += chunk.length;
      const whole = Math.floor(rest / length);
      rest -= whole * length;
      responses += whole;
      if (whole === load.pipeline) socket.write(batch);
      else if (whole > 0) socket.write(Buffer.concat(Array.from({ length: whole }, () => one)));
    });
    socket.on('error', (error) => failures.push(error));
    socket.on('close', () => failures.push(new Error('the server closed a connection under load')));
  }
  for (const socket of sockets) socket.write(batch);
  await wait(Math.min(500, load.duration_ms / 4));
  const [from, started] = [responses, performance.now()];
  await wait(load.duration_ms);
  const rate = ((responses - from) / (performance.now() - started)) * 1000;
  for (const socket of sockets) {
    socket.removeAllListeners('close');
    socket.destroy();
  }
  if (failures[0] !== undefined) throw failures[0];
  return rate;
}

/** Sends one request and answers the whole response as text. */
export async function fetchRaw(port: number, request: string): Promise<string> {
  const socket = await open(port);
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const stated = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head));
      if (text.length >= head + 4 + Number(stated?.[1] ?? 0)) socket.end(() => resolve(text));
    });
    socket.on('error', reject);
    socket.write(request);
  });
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
