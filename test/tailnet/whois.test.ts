import { describe, expect, it } from 'vitest';
import type { TailnetNetwork } from '../../src/contract/threads/fleet.ts';
import { judgeWhois, whoisLookup } from '../../src/tailnet/whois.ts';

const SELF: TailnetNetwork['self'] = {
  ...{
    id: 'n-a',
    user_id: 1,
    dns_name: 'host-a.tail1234.ts.net',
    addresses: ['100.64.0.1', 'fd7a:115c:a1e0::1'],
  },
  is_tagged: false,
};
const NETWORK: TailnetNetwork = { socket: '/t.sock', has_interface: true, self: SELF };
const who = (node: object = {}, user = 1) => ({
  Node: { ID: 7, StableID: 'n-b', Name: 'host-b.tail1234.ts.net.', ...node },
  UserProfile: { ID: user, LoginName: 'me@example.org' },
});
const OWN = { kind: 'own_uid' };
const refused = (why: RegExp) => ({ kind: 'unresolved', reason: expect.stringMatching(why) });

describe('who calls over the tailnet', () => {
  it.each([
    ['another machine of the user', who(), SELF, OWN],
    ['a machine of another user', who({}, 2), SELF, refused(/another user of the tailnet/)],
    ['a tagged machine', who({ Tags: ['tag:ci'] }), SELF, refused(/tagged/)],
    ['a machine that calls a tagged one', who(), { ...SELF, is_tagged: true }, refused(/tagged/)],
    ['this machine, by its id', who({ StableID: 'n-a' }), SELF, refused(/loopback address/)],
    ['this machine, by its number', who({ ID: 5 }), { ...SELF, id: '5' }, refused(/loopback address/)],
    ['this machine, by its name', who({ Name: 'host-a.tail1234.ts.net.' }), SELF, refused(/loopback/)],
    ['nobody that is known', null, SELF, refused(/knows no machine/)],
    ['a text', 'me', SELF, refused(/no usable answer/)],
    ['a machine without a user', { Node: { ID: 1 } }, SELF, refused(/no usable answer/)],
  ])('[OPR-3] [AUT-2] is judged: %s', (_, document, self, verdict) => {
    expect(judgeWhois(document, self)).toEqual(verdict);
  });

  it('[OPR-3] is asked of tailscaled for each connection, and whoever it cannot tell is refused', async () => {
    const asked: string[] = [];
    const lookup = whoisLookup(
      () => NETWORK,
      async (socket, address) => {
        asked.push(`${socket} ${address}`);
        if (address.startsWith('100.64.0.3')) throw new Error('no answer within 3 s');
        return address.startsWith('100.64.0.2') ? who() : null;
      },
    );
    const remotes = [
      '100.64.0.2:50000',
      '100.64.0.3:1',
      '100.64.0.1:2',
      '[fd7a:115c:a1e0::1]:3',
      '127.0.0.1:4',
    ];
    const connections = remotes.map((remote) => ({ local: '100.64.0.1:4000', remote }));
    expect(await lookup.lookUp(connections)).toEqual([
      OWN,
      refused(/no usable answer/),
      refused(/loopback address/),
      refused(/loopback address/),
      refused(/knows no machine/),
    ]);
    expect(asked.toSorted()).toEqual([
      '/t.sock 100.64.0.2:50000',
      '/t.sock 100.64.0.3:1',
      '/t.sock 127.0.0.1:4',
    ]);
  });

  it('[OPR-3] is nobody while tailscaled does not answer', async () => {
    const lookup = whoisLookup(() => null);
    expect(await lookup.lookUp([{ local: '', remote: '100.64.0.2:1' }])).toEqual([
      refused(/does not answer/),
    ]);
  });
});
