// The floor: uWebSockets.js answering given bytes and nothing else. The answers come as JSON in argv[2], or in the
// file that `@path` names.

import { App, us_socket_local_port } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import type { CannedAnswer } from './canned-answer.ts';

/** From here on a body is kept as bytes: encoding a long text again for each answer would be no floor. */
const LONG_BODY = 16 * 1024;

const [, , given = '[]'] = process.argv;
const answers: CannedAnswer[] = JSON.parse(
  given.startsWith('@') ? readFileSync(given.slice(1), 'utf8') : given,
);
const app = App();
for (const answer of answers) {
  const body = bodyOf(answer.body);
  app.get(answer.path, (res) => {
    res.writeStatus(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) res.writeHeader(name, value);
    if (body === null) res.endWithoutBody();
    else res.end(body);
  });
}

function bodyOf(given: CannedAnswer['body']): string | Buffer | null {
  if (typeof given === 'number') return Buffer.alloc(given, 'x');
  return given !== null && given.length > LONG_BODY ? Buffer.from(given, 'latin1') : given;
}

app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  process.stdout.write(`${us_socket_local_port(socket)}\n`);
});
