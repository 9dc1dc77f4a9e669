import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  judgeByLsof,
  type LsofRow,
  lsofPeerLookup,
  parseLsof,
} from '../../src/platform/peer-credentials-lsof.ts';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';
import { findProgram } from '../kit/find-program.ts';

const LISTED = `f5
n127.0.0.1:48126->127.0.0.1:55930
TST=ESTABLISHED
TQR=0
TQS=0
f6
n127.0.0.1:48126->127.0.0.1:55944
TST=ESTABLISHED
TQR=0
TQS=0
f7
n[::1]:48126->[::1]:60280
TST=ESTABLISHED
TQR=0
TQS=0
`;
/**
 * Recorded as uid 12345, while 24197 served a client of its own user on each IP version and one of another user,
 * whose process is not listed.
 */
const RECORDED = `p24197
u12345
${LISTED}p24198
u12345
f3
n127.0.0.1:55930->127.0.0.1:48126
TST=ESTABLISHED
TQR=0
TQS=0
p24200
u12345
f3
n[::1]:60280->[::1]:48126
TST=ESTABLISHED
TQR=0
TQS=0
`;
const OWN = { pid: 24197, uid: 12345 };
const NO_ROW = { kind: 'unresolved', reason: 'peer uid unresolved: no matching lsof row' };

function judge(text: string, remote: string, local = '127.0.0.1:48126') {
  return judgeByLsof(parseLsof(text), { local, remote }, OWN);
}

describe('judgeByLsof', () => {
  it('[AUT-2] recognises a peer of our own user, on either IP version', () => {
    expect(judge(RECORDED, '127.0.0.1:55930')).toEqual({ kind: 'own_uid' });
    expect(judge(RECORDED, '[::1]:60280', '[::1]:48126')).toEqual({ kind: 'own_uid' });
  });

  it('[AUT-2] refuses a peer whose process is not listed', () => {
    expect(judge(RECORDED, '127.0.0.1:55944')).toEqual(NO_ROW);
  });

  it('[AUT-2] does not recognise a connection that is not ours', () => {
    expect(judge(RECORDED, '127.0.0.1:55931')).toEqual({ kind: 'no_connection' });
    expect(judge(RECORDED.replaceAll('p24197', 'p24190'), '127.0.0.1:55930')).toEqual({
      kind: 'no_connection',
    });
    expect(judge('', '127.0.0.1:55930')).toEqual({ kind: 'no_connection' });
  });

  it('[AUT-2] refuses a peer whose socket another user holds, alone or too', () => {
    const both = `${RECORDED}p9\nu65534\nf3\nn127.0.0.1:55930->127.0.0.1:48126\nTST=ESTABLISHED\n`;
    const other = { kind: 'other_uid', uid: 65_534, own_uid: 12_345 };
    expect(judge(both, '127.0.0.1:55930')).toEqual(other);
    expect(judge(RECORDED.replace('p24198\nu12345', 'p24198\nu65534'), '127.0.0.1:55930')).toEqual(other);
  });

  it('[AUT-2] refuses a peer without a known user, or that is still connecting', () => {
    expect(judge(RECORDED.replace('p24198\nu12345\n', 'p24198\n'), '127.0.0.1:55930')).toEqual(NO_ROW);
    expect(judge(RECORDED.replace('p24198\nu12345\n', 'p24198\nuroot\n'), '127.0.0.1:55930')).toEqual(NO_ROW);
    const dialling = RECORDED.replace(
      'n127.0.0.1:55930->127.0.0.1:48126\nTST=ESTABLISHED',
      'n127.0.0.1:55930->127.0.0.1:48126\nTST=SYN_SENT',
    );
    expect(judge(dialling, '127.0.0.1:55930')).toEqual(NO_ROW);
  });

  it('[AUT-2] does not trust a truncated listing', () => {
    const whole = parseLsof(RECORDED);
    for (let length = 0; length < RECORDED.length; length += 1) {
      const verdict = judge(RECORDED.slice(0, length), '127.0.0.1:55944');
      expect(verdict.kind).not.toBe('own_uid');
    }
    expect(whole.map((row: LsofRow) => row.pid)).toEqual([24197, 24197, 24197, 24198, 24200]);
  });
});

describe('lsofPeerLookup', () => {
  const ends = [{ local: '127.0.0.1:48126', remote: '127.0.0.1:55930' }];
  const lookup = (result: ProcessResult) => lsofPeerLookup({ ...OWN, run: async () => result });

  it.each<ProcessResult>([
    { kind: 'timed_out' },
    { kind: 'overflowed', stdout: RECORDED },
    { kind: 'not_started', code: 'ENOENT' },
    { kind: 'signalled', signal: 'SIGKILL', stdout: RECORDED, stderr: '' },
    { kind: 'exited', code: 2, stdout: RECORDED, stderr: '' },
  ])('[AUT-2] refuses every peer if lsof ends with %j', async (result) => {
    expect(await lookup(result).lookUp(ends)).toEqual([
      { kind: 'unresolved', reason: 'peer uid unresolved: lsof gave no answer' },
    ]);
  });

  it('[OPR-1] reports its source', () => {
    expect(lookup({ kind: 'timed_out' }).view).toEqual({ mode: 'enforced', uid: 12_345, source: 'lsof' });
  });
});

const NO_LSOF = findProgram('lsof', process.env.PATH ?? '') === null ? 'there is no lsof here' : null;

describe.skipIf(NO_LSOF !== null)(`the real lsof${NO_LSOF === null ? '' : ` (${NO_LSOF})`}`, () => {
  const endings: (() => void)[] = [];
  afterEach(() => {
    for (const end of endings.splice(0)) end();
  });

  it('[AUT-2] recognises a connection of our own user, and no other', async () => {
    const server = createServer((socket) => void endings.push(() => socket.destroy())).listen(0, '127.0.0.1');
    endings.push(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const client = connect(port, '127.0.0.1');
    endings.push(() => client.destroy());
    await Promise.all([once(client, 'connect'), once(server, 'connection')]);
    const lookup = lsofPeerLookup({
      run: createRunner().run,
      pid: process.pid,
      uid: process.geteuid?.() ?? -1,
    });
    const local = `127.0.0.1:${port}`;
    const remote = `127.0.0.1:${client.localPort}`;
    expect(
      await lookup.lookUp([
        { local, remote },
        { local, remote: '127.0.0.1:1' },
      ]),
    ).toEqual([{ kind: 'own_uid' }, { kind: 'no_connection' }]);
  });
});
