import { describe, expect, it } from 'vitest';
import { isTailnetAddress, parseStatus } from '../../src/tailnet/tailnet-status.ts';
import { tailnetNode } from '../kit/fake-tailscaled.ts';

const SELF = tailnetNode('host-a', '100.64.0.1');

describe('the status of tailscaled', () => {
  it('[OPR-1] tells this machine and the others, with names without the final dot', () => {
    const status = parseStatus({
      ...{ BackendState: 'Running', TUN: false, Self: SELF },
      Peer: {
        a: tailnetNode('host-b', '100.64.0.2', {
          TailscaleIPs: ['fd7a:115c:a1e0::2', '100.64.0.2', '127.0.0.1'],
        }),
        b: tailnetNode('host-c', '', {
          TailscaleIPs: null,
          Tags: ['tag:ci'],
          ShareeNode: true,
          Expired: true,
        }),
        c: { ID: {}, HostName: 7 },
        d: null,
      },
    });
    expect(status.has_interface).toBe(false);
    expect(status.self).toMatchObject({ dns_name: 'host-a.tail1234.ts.net', addresses: ['100.64.0.1'] });
    expect(status.peers).toMatchObject([
      { host_name: 'host-b', addresses: ['100.64.0.2', 'fd7a:115c:a1e0::2'], online: true, is_tagged: false },
      { host_name: 'host-c', addresses: [], is_tagged: true, is_sharee: true, expired: true },
    ]);
    expect(parseStatus({ BackendState: 'Running', Self: SELF, Peer: null })).toMatchObject({
      ...{ has_interface: true, peers: [] },
    });
  });

  it.each([
    ['is stopped', { BackendState: 'NeedsLogin', Self: SELF }, /NeedsLogin; run: tailscale up/],
    ['says nothing of this machine', { BackendState: 'Running', Self: {} }, /which machine this is/],
    ['is a text', 'Running', /does not have the expected form/],
    ['is empty', null, /does not have the expected form/],
    [
      'has peers that are a list',
      { BackendState: 'Running', Self: SELF, Peer: [1] },
      /does not have the expected form/,
    ],
  ])('is none where it %s', (_, document, why) => {
    expect(() => parseStatus(document)).toThrow(why);
  });

  it.each([
    ['100.64.0.1', true],
    ['100.127.255.254', true],
    ['fd7a:115c:a1e0::1', true],
    ['100.128.0.1', false],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['::ffff:127.0.0.1', false],
    ['fd00::1', false],
    ['host-b', false],
    ['', false],
  ])('takes %s for an address of the private network: %s', (address, is) => {
    expect(isTailnetAddress(address)).toBe(is);
  });
});
