import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AskedNode, askNodes, judgeAnswer, nodesToAsk, urlOf } from '../../src/tailnet/discover.ts';
import { parseStatus } from '../../src/tailnet/tailnet-status.ts';
import { tailnetNode } from '../kit/fake-tailscaled.ts';

const statusOf = (peers: Record<string, unknown>[], self: object = {}) =>
  parseStatus({
    ...{ BackendState: 'Running', Self: tailnetNode('host-a', '100.64.0.1', self) },
    Peer: Object.fromEntries(peers.map((peer, at) => [at, peer])),
  });
const node = (name: string, address = '100.64.0.9'): AskedNode => ({ name, dns_name: '', address });
const version = (host: string) => ({ git_short_sha: 'abc1234', host, booted_at: '2026-01-05T09:00:00.000Z' });
const answer = (value: unknown, status = 200) => ({ status, body: Buffer.from(JSON.stringify(value)) });

describe('the machines that are asked for a daemon', () => {
  it('[OPR-1] are those of the same user that are there, by their names', () => {
    const peers = [
      tailnetNode('host-d', '100.64.0.4', { DNSName: 'host-d-1.tail1234.ts.net.' }),
      tailnetNode('host-b', '100.64.0.2'),
      tailnetNode('away', '100.64.0.5', { Online: false }),
      tailnetNode('shared', '100.64.0.6', { ShareeNode: true }),
      tailnetNode('expired', '100.64.0.7', { Expired: true }),
      tailnetNode('of-another', '100.64.0.8', { UserID: 2 }),
      tailnetNode('tagged', '100.64.0.9', { Tags: ['tag:ci'] }),
      tailnetNode('elsewhere', '192.168.1.1'),
    ];
    expect(nodesToAsk(statusOf(peers))).toEqual([
      { name: 'host-b', dns_name: 'host-b.tail1234.ts.net', address: '100.64.0.2' },
      { name: 'host-d-1', dns_name: 'host-d-1.tail1234.ts.net', address: '100.64.0.4' },
    ]);
  });

  it('are none where this machine is tagged, as all tagged ones have the same number for their user', () => {
    const status = statusOf([tailnetNode('b', '100.64.0.2', { Tags: ['tag:ci'] })], { Tags: ['tag:ci'] });
    expect(() => nodesToAsk(status)).toThrow(/belongs to no user/);
  });

  it('are asked at their address', () => {
    expect(urlOf(node('b', '100.64.0.2'), 4000)).toBe('http://100.64.0.2:4000');
    expect(urlOf(node('b', 'fd7a:115c:a1e0::2'), 4000)).toBe('http://[fd7a:115c:a1e0::2]:4000');
  });
});

describe('what a machine answers', () => {
  it.each([
    ['a version', answer(version('host-b')), expect.objectContaining({ host: 'host-b', version: '' })],
    ['another status', answer(version('host-b'), 403), 'status_403'],
    ['a page', { status: 200, body: Buffer.from('<html>') }, 'not_json'],
    ['another document', answer({ host: 'host-b' }), 'not_svc'],
    ['a host that is no host id', answer(version('$(reboot)')), 'not_svc'],
    ['a host with a long name', answer(version('a'.repeat(101))), 'not_svc'],
  ])('is judged: %s', (_, given, verdict) => {
    expect(judgeAnswer(given)).toEqual(verdict);
  });

  it('is never more than a version or a reason, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.constantFrom(200, 204, 301, 500), (text, status) => {
        const verdict = judgeAnswer({ status, body: Buffer.from(text) });
        if (typeof verdict === 'string') expect(verdict).toMatch(/^(status_\d+|not_json|not_svc)$/);
        else expect(verdict.host).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]*$/);
      }),
    );
  });

  it('[OPR-1] makes a daemon of the first that names a host, and of no machine with the host of this one', async () => {
    const hosts: Record<string, string> = { b: 'host-b', c: 'host-a', d: 'host-b', e: 'host-e' };
    const nodes = ['b', 'c', 'd', 'e', 'f'].map((name) => node(name));
    const { found, rejected } = await askNodes({
      ...{ host: 'host-a', nodes },
      async ask({ name }) {
        if (hosts[name] === undefined) throw new Error('connect ECONNREFUSED');
        return answer(version(hosts[name]));
      },
    });
    expect(found.map((one) => [one.node.name, one.told.host])).toEqual([
      ['b', 'host-b'],
      ['e', 'host-e'],
    ]);
    expect(rejected).toEqual([
      { name: 'c', reason: 'same_host' },
      { name: 'd', reason: 'duplicate_host' },
      { name: 'f', reason: 'refused' },
    ]);
  });

  it('is waited for from no more than sixteen machines at one time', async () => {
    let open = 0;
    let most = 0;
    const nodes = Array.from({ length: 100 }, (_, at) => node(`n-${at}`));
    await askNodes({
      ...{ host: 'host-a', nodes },
      async ask({ name }) {
        open += 1;
        most = Math.max(most, open);
        await new Promise(setImmediate);
        open -= 1;
        return answer(version(name));
      },
    });
    expect(most).toBe(16);
  });
});
