import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  procPeerCredentials,
  systemPeerCredentials,
  UNKNOWN_PEERS,
} from '../../src/platform/peer-credentials.ts';
import { RECORDED_TCP, RECORDED_TCP6 } from './recorded-tcp-tables.ts';

const endings: (() => void)[] = [];

afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** One connection of this process to itself. */
async function connectToOurselves() {
  const server = createServer((socket) => void endings.push(() => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const dial = async () => {
    const client = connect(port, '127.0.0.1');
    endings.push(() => client.destroy());
    await Promise.all([once(client, 'connect'), once(server, 'connection')]);
  };
  endings.push(() => server.close());
  return { port, dial };
}

describe.runIf(process.platform === 'linux')('systemPeerCredentials on Linux', () => {
  it('[AUT-2] recognises a connection of our own user', async () => {
    const credentials = systemPeerCredentials();
    if (!('judge' in credentials)) throw new Error('this Linux shows no /proc');
    expect(credentials.view).toEqual({ mode: 'enforced', uid: process.geteuid!(), source: '/proc/net/tcp' });
    const { port, dial } = await connectToOurselves();
    credentials.appearedSockets('surely');
    await dial();
    const inodes = credentials.appearedSockets('surely');
    const endpoint = credentials.endpoint('127.0.0.1', port);
    const elsewhere = credentials.endpoint('127.0.0.1', port === 1 ? 2 : port - 1);
    expect(credentials.judge([{ inodes, endpoint }])).toEqual([{ kind: 'own_uid' }]);
    expect(credentials.judge([{ inodes, endpoint: elsewhere }])).toEqual([{ kind: 'no_connection' }]);
  });
});

describe('systemPeerCredentials elsewhere', () => {
  it('[AUT-2] [OPR-1] uses lsof on macOS', () => {
    const uid = process.geteuid?.();
    expect(systemPeerCredentials('darwin').view).toEqual({ mode: 'enforced', uid, source: 'lsof' });
  });

  it('[OPR-1] reports on another system that it cannot identify peers', () => {
    expect(systemPeerCredentials('freebsd')).toBe(UNKNOWN_PEERS);
    expect(UNKNOWN_PEERS.view).toEqual({ mode: 'none', uid: null, source: 'none' });
  });
});

describe('procPeerCredentials', () => {
  it('reads each table at most once for all connections of one burst', () => {
    const reads: string[] = [];
    const credentials = procPeerCredentials({
      files: { numbers: () => [], inodeOf: () => 'closed' },
      readTable(table, take) {
        reads.push(table);
        take(Buffer.from(table === 'tcp' ? RECORDED_TCP : RECORDED_TCP6, 'latin1'));
      },
      own: { uid: 0, shared: false },
      little_endian: true,
    });
    const endpoint = credentials.endpoint('127.0.0.1', 48_123);
    const connections = [926306, 926307, 926308, 926309].map((inode) => ({
      inodes: new Set([inode]),
      endpoint,
    }));
    expect(credentials.judge(connections).map((verdict) => verdict.kind)).toEqual([
      'own_uid',
      'other_uid',
      'other_uid',
      'unresolved',
    ]);
    expect(reads).toEqual(['tcp', 'tcp6']);
  });
});
