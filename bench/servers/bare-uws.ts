// The floor: uWebSockets.js answering given bytes and nothing else. The answers come as JSON in argv[2].
import { App, us_socket_local_port } from 'uWebSockets.js';
import type { CannedAnswer } from './canned-answer.ts';

const answers: CannedAnswer[] = JSON.parse(process.argv[2] ?? '[]');
const app = App();
for (const answer of answers) {
  const body = typeof answer.body === 'number' ? Buffer.alloc(answer.body, 'x') : answer.body;
  app.get(answer.path, (res) => {
    res.writeStatus(answer.status);
    for (const [name, value] of Object.entries(answer.headers)) res.writeHeader(name, value);
    if (body === null) res.endWithoutBody();
    else res.end(body);
  });
}
app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no port');
  process.stdout.write(`${us_socket_local_port(socket)}\n`);
});
