import { connect, type Socket } from 'node:net';

const BEGIN = Buffer.from('HTTP/1.1 ');

export type AnswerLoad = {
  port: number;
  /** One whole request, as sent. */
  request: string;
  connections: number;
  /** Requests in flight on each connection. */
  pipeline: number;
};

/**
 * Keeps requests in flight until `enough` says so, and answers how many answers began. Unlike `measureThroughput`
 * it takes answers of changing lengths; their bodies must not hold a status line.
 */
export async function countAnswers(
  load: AnswerLoad,
  enough: (answers: number) => boolean,
): Promise<{ answers: number; ms: number }> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const started = performance.now();
  let answers = 0;
  for (const socket of sockets) {
    let cut = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      const begun = occurrences(cut.length === 0 ? chunk : Buffer.concat([cut, chunk]));
      // The end of a chunk may be the beginning of a status line.
      cut = Buffer.from(chunk.subarray(Math.max(0, chunk.length - BEGIN.length + 1)));
      answers += begun;
      if (enough(answers)) resolve();
      else if (begun > 0) socket.write(load.request.repeat(begun));
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection under load')));
    socket.write(load.request.repeat(load.pipeline));
  }
  try {
    await promise;
  } finally {
    for (const socket of sockets) socket.removeAllListeners('close').destroy();
  }
  return { answers, ms: performance.now() - started };
}

function occurrences(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(BEGIN); at >= 0; at = bytes.indexOf(BEGIN, at + BEGIN.length)) count += 1;
  return count;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}
