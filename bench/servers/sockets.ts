// Holds argv[2] connected sockets of this machine, both ends of each connection.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

const held: unknown[] = [];
const server = createServer((socket) => void held.push(socket));
server.listen({ host: '127.0.0.1', port: 0, backlog: 4_096 });
await once(server, 'listening');
const { port } = server.address() as { port: number };
for (let count = Number(process.argv[2]); count > 0; count -= 200) {
  const some = Array.from({ length: Math.min(100, Math.ceil(count / 2)) }, () => connect(port, '127.0.0.1'));
  await Promise.all(some.map((socket) => once(socket, 'connect')));
  held.push(...some);
}
process.stdout.write(`${port}\n`);
