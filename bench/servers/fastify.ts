// The baseline: Fastify answering given bytes. The answers come as JSON in argv[2].
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { CannedAnswer } from './canned-answer.ts';

const answers: CannedAnswer[] = JSON.parse(process.argv[2] ?? '[]');
const app = fastify();
for (const answer of answers) {
  const code = Number(answer.status.slice(0, 3));
  app.get(answer.path, (_request, reply) => {
    reply
      .code(code)
      .headers(answer.headers)
      .send(answer.body ?? undefined);
  });
}
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
