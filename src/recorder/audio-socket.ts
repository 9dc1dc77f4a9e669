import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { Samples } from './audio/samples.ts';

/** What becomes of the sender of a recorder, in order; a sender that is replaced is first gone. */
export type SenderListener = {
  connected(): void;
  samples(pcm: Int16Array): void;
  gone(): void;
};

export type AudioSocket = {
  /** Closes the sender and the socket, whose path is then gone. */
  close(): Promise<void>;
};

/**
 * Takes a phone's audio at a Unix socket, which only this user can connect to. It has one sender: a new one replaces it. It
 * reads whatever comes, at all times. Throws the system error.
 */
export async function openAudioSocket(path: string, listener: SenderListener): Promise<AudioSocket> {
  // Left by a recorder that was killed; its launch id is ours, so that nobody else listens there.
  rmSync(path, { force: true });
  let sender: Socket | null = null;
  const leave = (one: Socket) => {
    if (sender !== one) return;
    sender = null;
    listener.gone();
  };
  const server = createServer((socket) => {
    const before = sender;
    if (before !== null) {
      leave(before);
      before.destroy();
    }
    sender = socket;
    const samples = new Samples();
    listener.connected();
    socket.on('data', (bytes) => {
      if (sender === socket) listener.samples(samples.push(bytes));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => leave(socket));
  });
  await listening(server, path);
  return {
    async close() {
      const last = sender;
      if (last !== null) leave(last);
      last?.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function listening(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is made in this call, so that no other file gets this mask.
    const mask = process.umask(0o177);
    server.listen(path, resolve);
    process.umask(mask);
  });
  chmodSync(path, 0o600);
}
