import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

export type AnswerLoad = {
  port: number;
  /** One whole request, as sent. */
  request: string;
  connections: number;
  /** Requests in flight on each connection. */
  pipeline: number;
};

/**
 * Keeps requests in flight until `enough` says so, and answers how many were answered whole. Unlike
 * `measureThroughput` it takes answers of changing lengths.
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
    const wholeIn = answerCounter();
    socket.on('data', (chunk) => {
      const whole = wholeIn(chunk);
      answers += whole;
      if (enough(answers)) resolve();
      else if (whole > 0) socket.write(load.request.repeat(whole));
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

/** Tells of each chunk of one connection how many answers ended in it. */
function answerCounter(): (chunk: Buffer) => number {
  let head = '';
  let left = 0;
  return (chunk) => {
    let count = 0;
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const taken = Math.min(left, chunk.length - at);
        left -= taken;
        at += taken;
      } else {
        const known = head.length;
        head += chunk.toString('latin1', at, Math.min(chunk.length, at + 4_096));
        const end = head.indexOf(HEAD_END, Math.max(0, known - HEAD_END.length));
        if (end < 0) {
          at += head.length - known;
          continue;
        }
        at += end + HEAD_END.length - known;
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
        head = '';
      }
      if (left === 0) count += 1;
    }
    return count;
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}
