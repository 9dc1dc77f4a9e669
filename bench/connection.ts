import { connect, type Socket } from 'node:net';

type Answer = { status: number; etag: string | null; body: Buffer };

/** One kept connection, one request at a time: what is timed is the server, not the opening of sockets. */
export type Connection = {
  get(path: string, if_none_match?: string | null): Promise<Answer>;
  close(): void;
};

export async function openConnection(port: number): Promise<Connection> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connect({ host: '127.0.0.1', port, noDelay: true });
    opened.once('connect', () => resolve(opened));
    opened.once('error', reject);
  });
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted: { head_end: number; total: number; status: number; etag: string | null } | null = null;
  let settle: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;
  const look = () => {
    if (wanted === null) {
      const bytes = Buffer.concat(chunks);
      chunks = [bytes];
      const head_end = bytes.indexOf('\r\n\r\n');
      if (head_end < 0) return;
      const head = bytes.toString('latin1', 0, head_end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      wanted = {
        head_end,
        total: head_end + 4 + length,
        status: Number(head.slice(9, 12)),
        etag: /\r\netag: (\S+)/i.exec(head)?.[1] ?? null,
      };
    }
    if (size < wanted.total) return;
    const { status, etag, head_end } = wanted;
    const body = Buffer.concat(chunks).subarray(head_end + 4);
    chunks = [];
    size = 0;
    wanted = null;
    const waiting = settle;
    settle = null;
    waiting?.resolve({ status, etag, body });
  };
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    look();
  });
  const fail = () => settle?.reject(new Error('the server closed the connection'));
  socket.on('error', fail);
  socket.on('close', fail);
  return {
    get(path, if_none_match = null) {
      const condition = if_none_match === null ? '' : `If-None-Match: ${if_none_match}\r\n`;
      return new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error('the server has closed this connection, which was idle'));
          return;
        }
        settle = { resolve, reject };
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${condition}\r\n`);
      });
    },
    close() {
      settle = null;
      socket.destroy();
    },
  };
}

/** The same, without keeping what comes: a client that is no heavier than the bytes of a large answer. */
export async function openCounter(
  port: number,
): Promise<{ get(path: string): Promise<void>; close(): void }> {
  let rest = -1;
  let settle: { resolve(): void; reject(error: Error): void } | null = null;
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.alloc(1024 * 1024),
        callback(length, bytes) {
          if (rest === -1) {
            const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(length, 16_384)).toString(
              'latin1',
            );
            const stated = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
            rest = head.indexOf('\r\n\r\n') + 4 + Number(stated);
          }
          rest -= length;
          if (rest > 0) return true;
          rest = -1;
          settle?.resolve();
          return true;
        },
      },
    });
    opened.once('connect', () => resolve(opened));
    opened.once('error', reject);
  });
  socket.on('close', () => settle?.reject(new Error('the server closed the connection')));
  return {
    get(path) {
      return new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error('the server has closed this connection, which was idle'));
          return;
        }
        settle = { resolve, reject };
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      });
    },
    close() {
      settle = null;
      socket.destroy();
    },
  };
}
