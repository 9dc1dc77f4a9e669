import { connect, type Socket } from 'node:net';

/** Everything a peer sent until it closed, or until `complete` was satisfied. */
export type Heard = { text: string; closed: boolean };

type Target = { port: number; host?: string } | { path: string };

/**
 * Speaks bytes to a listener and listens until the peer closes or `complete` holds for what was heard.
 * `parts` are written one after another, each in its own segment.
 */
export function exchangeRaw(
  target: Target,
  parts: (string | Uint8Array)[],
  complete: (text: string) => boolean = () => false,
): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const socket: Socket =
      'path' in target ? connect(target.path) : connect(target.port, target.host ?? '127.0.0.1');
    socket.setNoDelay(true);
    let text = '';
    const finish = (closed: boolean) => {
      socket.destroy();
      resolve({ text, closed });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      if (complete(text)) finish(false);
    });
    socket.once('close', () => finish(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish(true);
      else reject(error);
    });
    socket.once('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return;
        await new Promise<void>((written) => socket.write(part, () => written()));
        await new Promise<void>((turn) => setImmediate(turn));
      }
    });
  });
}

/** A request as text; a body gets its length. */
export function requestText(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): string {
  const all: Record<string, string> = { Host: '127.0.0.1', ...headers };
  if (body !== undefined) {
    all['Content-Type'] ??= 'application/json';
    all['Content-Length'] ??= String(Buffer.byteLength(body));
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

export type Answer = { status: number; headers: Record<string, string>; body: string };

/** Splits what was heard into whole answers; `heads` says which of them answer a HEAD and so have no body. */
export function parseAnswers(text: string, heads: boolean[] = []): Answer[] {
  const answers: Answer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) break;
    const [first, ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const length = heads[answers.length] ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) break;
    answers.push({ status: Number(first!.split(' ')[1]), headers, body });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

/** Sends one request and returns its one answer. */
export async function ask(
  target: Target,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const head = method === 'HEAD';
  const heard = await exchangeRaw(
    target,
    [requestText(method, path, options.headers, options.body)],
    (text) => parseAnswers(text, [head]).length > 0,
  );
  const answer = parseAnswers(heard.text, [head])[0];
  if (answer === undefined) throw new Error(`no answer: ${JSON.stringify(heard)}`);
  return answer;
}
