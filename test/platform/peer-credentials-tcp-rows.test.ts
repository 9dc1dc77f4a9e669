import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AcceptedConnection,
  createRowParser,
  judgePeers,
  NO_PEER_ROW,
  type OwnUid,
  type ScanRows,
  type TcpRow,
  tcpEndpoint,
} from '../../src/platform/peer-credentials-tcp-rows.ts';
import { RECORDED_TCP, RECORDED_TCP6 } from './recorded-tcp-tables.ts';

const PORT = 48_123;
const ENDPOINT = tcpEndpoint('127.0.0.1', PORT, true);
const ROOT: OwnUid = { uid: 0, shared: false };
const NO_CONNECTION = { kind: 'no_connection' };

function parseTcpRows(text: string, port: number): TcpRow[] {
  return createRowParser(port)(Buffer.from(text, 'latin1'));
}

function recordedRows(table: 'tcp' | 'tcp6', port: number): TcpRow[] {
  return parseTcpRows(table === 'tcp' ? RECORDED_TCP : RECORDED_TCP6, port);
}

/** A table as it stands, given row by row as long as there is interest. */
function tableOf(rows: (table: 'tcp' | 'tcp6', port: number) => readonly TcpRow[]): ScanRows {
  return (table, port, take) => void rows(table, port).some((one) => take([one]));
}

const recorded = tableOf(recordedRows);

function accepted(...inodes: number[]): AcceptedConnection {
  return { inodes: new Set(inodes), endpoint: ENDPOINT };
}

function judge(connection: AcceptedConnection, own = ROOT, read = recorded) {
  return judgePeers([connection], read, own, true)[0];
}

describe('createRowParser', () => {
  it('returns every line with the port at either end, and no other', () => {
    expect(parseTcpRows(RECORDED_TCP, PORT)).toHaveLength(19);
    expect(parseTcpRows(RECORDED_TCP, 0xe64a)).toEqual([
      { local: '0100007F:E64A', remote: '0100007F:BBFB', state: '01', uid: 0, inode: 926302 },
      { local: '0100007F:BBFB', remote: '0100007F:E64A', state: '01', uid: 0, inode: 926306 },
    ]);
    expect(parseTcpRows(RECORDED_TCP, 4_000)).toEqual([]);
  });

  it('ignores an incomplete line', () => {
    const whole = parseTcpRows(RECORDED_TCP, PORT);
    fc.assert(
      fc.property(fc.nat(RECORDED_TCP.length), (length) => {
        const rows = parseTcpRows(RECORDED_TCP.slice(0, length), PORT);
        expect(rows).toEqual(whole.slice(0, rows.length));
      }),
    );
  });

  it('finds the same rows however the text is divided', () => {
    const cuts = fc.array(fc.nat(RECORDED_TCP.length), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (at) => {
        const places = [0, ...at.sort((a, b) => a - b), RECORDED_TCP.length];
        const parse = createRowParser(PORT);
        const rows = places.slice(1).flatMap((end, index) => {
          return parse(Buffer.from(RECORDED_TCP.slice(places[index], end), 'latin1'));
        });
        expect(rows).toEqual(parseTcpRows(RECORDED_TCP, PORT));
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => Array.isArray(parseTcpRows(`${text}:BBFB ${text}\n`, PORT))),
    );
  });
});

describe('judgePeers', () => {
  it.each([
    ['a peer of our own user', 926306, { kind: 'own_uid' }],
    ['a peer of another user', 926307, { kind: 'other_uid', uid: 65_534, own_uid: 0 }],
    ['a peer of a third user', 926313, { kind: 'other_uid', uid: 1_000, own_uid: 0 }],
    ['a peer by an IPv4-mapped address', 926308, { kind: 'other_uid', uid: 1_000, own_uid: 0 }],
    ['a peer that nobody holds any more', 926309, NO_PEER_ROW],
    ['the listener itself', 926301, NO_CONNECTION],
    ['a client’s own socket', 926302, NO_CONNECTION],
    ['a socket that is in no table', 12, NO_CONNECTION],
    ['inode 0, which all connections that were not accepted share', 0, NO_CONNECTION],
  ])('[AUT-2] judges %s', (_, inode, verdict) => {
    expect(judge(accepted(inode))).toEqual(verdict);
    expect(judge(accepted(12, inode, 13))).toEqual(verdict);
  });

  it('[AUT-2] does not mistake the uid 0 of a connection in TIME_WAIT for our own', () => {
    const server = row({ local: ENDPOINT.local, remote: '0100007F:E3CE', inode: 77 });
    const read = (table: 'tcp' | 'tcp6', port: number) => [...recordedRows(table, port), server];
    expect(judge(accepted(77), ROOT, tableOf(read))).toEqual(NO_PEER_ROW);
  });

  it('[AUT-2] cannot distinguish two connections and therefore recognises neither', () => {
    expect(judge(accepted(926306, 926307))).toEqual(NO_CONNECTION);
  });

  it('[AUT-2] accepts a row that occurs twice, but not two different rows', () => {
    const server = row({ local: ENDPOINT.local, remote: '0100007F:1111', inode: 5 });
    const peer = row({ local: '0100007F:1111', remote: ENDPOINT.local, inode: 6 });
    const verdict = (...rows: TcpRow[]) =>
      judge(
        accepted(5, 99),
        ROOT,
        tableOf((table) => (table === 'tcp' ? rows : [])),
      );
    expect(verdict(server, peer, server, peer)).toEqual({ kind: 'own_uid' });
    expect(verdict(server, peer, { ...peer, uid: 7 })).toEqual(NO_PEER_ROW);
    expect(verdict(server, peer, { ...peer, inode: 0 })).toEqual(NO_PEER_ROW);
    expect(verdict(server, peer, { ...peer, inode: 8 })).toEqual(NO_PEER_ROW);
    expect(verdict(server, { ...server, remote: '0100007F:2222' }, peer)).toEqual(NO_CONNECTION);
  });

  it('[AUT-2] does not accept a peer that is still connecting', () => {
    const server = row({ local: ENDPOINT.local, remote: '0100007F:1111', inode: 5 });
    for (const [state, kind] of [
      ['01', 'own_uid'],
      ['02', 'unresolved'],
      ['03', 'unresolved'],
      ['05', 'own_uid'],
      ['08', 'own_uid'],
    ] as const) {
      const peer = { ...row({ local: '0100007F:1111', remote: ENDPOINT.local, inode: 6 }), state };
      const verdict = judge(
        accepted(5),
        ROOT,
        tableOf((table) => (table === 'tcp' ? [server, peer] : [])),
      );
      expect(verdict?.kind, state).toBe(kind);
    }
  });

  it('[AUT-2] reads only what it needs, and to the end if there may be a doubt', () => {
    const server = row({ local: ENDPOINT.local, remote: '0100007F:1111', inode: 5 });
    const peer = row({ local: '0100007F:1111', remote: ENDPOINT.local, inode: 6 });
    const rest = Array.from({ length: 50 }, (_, at) =>
      row({ local: `0100007F:2${at}`, remote: 'x', inode: 9 }),
    );
    const seen = (connection: AcceptedConnection, rows: TcpRow[]) => {
      let count = 0;
      judge(connection, ROOT, (table, port, take) => {
        tableOf((name) => (name === 'tcp' ? rows : []))(table, port, (some) => {
          count += some.length;
          return take(some);
        });
      });
      return count;
    };
    expect(seen(accepted(5), [peer, server, ...rest])).toBe(2);
    expect(seen(accepted(5), [server, peer, ...rest])).toBe(2);
    expect(seen(accepted(5, 99), [server, peer, ...rest])).toBe(52);
    expect(seen(accepted(5), [server, ...rest])).toBe(51);
  });

  it('[AUT-2] judges each of many connections like a single one', () => {
    const all = [926306, 926307, 926313, 926308, 926309, 926301, 12].map((inode) => accepted(inode));
    expect(judgePeers(all, recorded, ROOT, true)).toEqual(all.map((one) => judge(one)));
  });

  it('[AUT-2] identifies nobody if our uid also represents users without a mapping', () => {
    const shared = { uid: 65_534, shared: true };
    expect(judge(accepted(926307), shared)).toMatchObject({ kind: 'unresolved' });
    expect(judge(accepted(926307), { uid: 65_534, shared: false })).toEqual({ kind: 'own_uid' });
  });

  it('[AUT-2] admits only a peer with a held row of our own uid at exactly the reversed address', () => {
    const end = fc.constantFrom(ENDPOINT.local, '0100007F:0001', '0100007F:0002', '0200007F:0001');
    const rows = fc.uniqueArray(
      fc.record({
        local: end,
        remote: end,
        state: fc.constantFrom('01', '06', '08', '0A'),
        uid: fc.nat(2),
        inode: fc.nat(6),
      }),
      // No two sockets have one inode; those that nobody holds any more have none.
      { maxLength: 8, comparator: (one, other) => one.inode > 0 && one.inode === other.inode },
    );
    const own = { uid: 1, shared: false };
    fc.assert(
      fc.property(rows, fc.uniqueArray(fc.nat(4)), (table, inodes) => {
        const read = tableOf((name) => (name === 'tcp' ? table : []));
        const verdict = judge(accepted(...inodes), own, read);
        if (verdict?.kind !== 'own_uid') return;
        const server = table.filter(
          (one) =>
            one.local === ENDPOINT.local && one.state !== '0A' && one.inode > 0 && inodes.includes(one.inode),
        );
        expect(new Set(server.map((one) => one.remote)).size).toBe(1);
        const peers = table.filter((one) => one.local === server[0]!.remote && one.remote === ENDPOINT.local);
        expect(peers.length).toBeGreaterThan(0);
        // With one candidate, the first row of the peer decides: there is but one of its kind in a table.
        const seen = inodes.length === 1 ? peers.slice(0, 1) : peers;
        expect(seen.every((one) => one.uid === 1 && one.inode > 0)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('tcpEndpoint', () => {
  it.each([
    ['127.0.0.1', true, { table: 'tcp', local: '0100007F:0FA0', port: 4_000 }],
    ['127.0.0.1', false, { table: 'tcp', local: '7F000001:0FA0', port: 4_000 }],
    ['::1', true, { table: 'tcp6', local: '00000000000000000000000001000000:0FA0', port: 4_000 }],
    ['::1', false, { table: 'tcp6', local: '00000000000000000000000000000001:0FA0', port: 4_000 }],
  ] as const)('writes %s as the kernel does (little endian: %s)', (host, little_endian, endpoint) => {
    expect(tcpEndpoint(host, 4_000, little_endian)).toEqual(endpoint);
  });
});

function row(rest: Pick<TcpRow, 'local' | 'remote' | 'inode'>): TcpRow {
  return { state: '01', uid: 0, ...rest };
}
