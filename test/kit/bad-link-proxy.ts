// The proxy of `BadLink`: `bad-link-proxy.ts <host> <port>`. It tells its parent the port that it listens on, and ends
// with it.
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { LinkOrder, LinkRules } from './bad-link.ts';

const [host = '', port = ''] = process.argv.slice(2);

type Connection = { ends: readonly Socket[]; lost: boolean };
const connections = new Set<Connection>();
const changes = new EventEmitter().setMaxListeners(0);
let rules: LinkRules = {};

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ host, port: Number(port), allowHalfOpen: true });
  const connection = { ends: [near, far], lost: false };
  connections.add(connection);
  for (const end of connection.ends) {
    end.setNoDelay(true);
    end.on('error', () => undefined);
    end.on('close', () => {
      // Where bytes are lost, so is the word that an end is gone.
      if (connection.lost) return;
      connections.delete(connection);
      for (const other of connection.ends) other.destroy();
    });
  }
  void pass(near, far, connection);
  void pass(far, near, connection);
});

/** Passes on what comes from one end, a chunk at a time. */
async function pass(from: Socket, to: Socket, connection: Connection): Promise<void> {
  try {
    for await (const chunk of from) {
      if (rules.delay_ms !== undefined) await delay(rules.delay_ms);
      while (rules.stalls === true) await once(changes, 'rules');
      connection.lost ||= rules.loses === true;
      if (!connection.lost) await new Promise((written) => to.write(chunk, written));
    }
    if (!connection.lost) to.end();
  } catch {
    // Told by `close`.
  }
}

process.on('message', (order: LinkOrder) => {
  if ('rules' in order) {
    rules = order.rules;
    changes.emit('rules');
  } else {
    for (const { ends } of connections) for (const end of ends) end.resetAndDestroy();
    connections.clear();
  }
  process.send?.({});
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
