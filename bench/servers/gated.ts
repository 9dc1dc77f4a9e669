// The server of this project with one cheap row; argv[2] is `on` or `off`: with the gate of this system, or none.
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { systemPeerCredentials, UNKNOWN_PEERS } from '../../src/platform/peer-credentials.ts';

const server = createHttpServer({
  host: 'host-a',
  routes: [
    {
      method: 'GET',
      path: '/',
      summary: 'Says hello',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      replies: { 200: 'text' },
      handler: () => ({ status: 200, json: 'hello' }),
    },
  ],
  access: { own_names: [], allowed_hosts: [], dev_origins: [] },
  booting: () => null,
  route: () => ({ kind: 'local' }),
  logger: silentLogger,
  peers: process.argv[2] === 'on' ? systemPeerCredentials() : UNKNOWN_PEERS,
  clock: systemClock,
});
const [address = ''] = await server.listen('127.0.0.1:0');
process.stdout.write(`${address.split(':').at(-1)}\n`);
