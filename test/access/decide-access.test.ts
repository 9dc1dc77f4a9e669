import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccessPolicy,
  type AccessQuestion,
  decideAccess,
  type Peer,
} from '../../src/access/decide-access.ts';
import { isLoopbackName, parseHostHeader } from '../../src/access/host-header.ts';

const POLICY: AccessPolicy = {
  own_names: ['host-a', 'host-a.local'],
  allowed_hosts: ['board.example'],
  dev_origins: ['http://localhost:5173'],
};

const READ: AccessQuestion = {
  host: '127.0.0.1:4000',
  origin: null,
  fetch_site: null,
  method: 'GET',
  is_upgrade: false,
  peer: { kind: 'unchecked' },
};

function verdict(change: Partial<AccessQuestion>): string {
  const decision = decideAccess({ ...READ, ...change }, POLICY);
  return decision.allow ? 'allow' : decision.body.error;
}

describe('the peer', () => {
  const peers: [Peer, string][] = [
    [{ kind: 'unchecked' }, 'allow'],
    [{ kind: 'own_uid' }, 'allow'],
    [{ kind: 'unix_socket' }, 'allow'],
    [{ kind: 'other_uid', uid: 1001, own_uid: 1000 }, 'peer_refused'],
    [{ kind: 'unresolved', reason: 'peer uid unresolved: no matching /proc TCP row' }, 'peer_refused'],
    [{ kind: 'martian' } as unknown as Peer, 'peer_refused'],
  ];
  it.each(peers)('[AUT-2] %j → %s', (peer, expected) => {
    expect(verdict({ peer })).toBe(expected);
    expect(verdict({ peer, method: 'POST' })).toBe(expected);
  });

  it('[AUT-2] is refused with a reason that names both users', () => {
    expect(decideAccess({ ...READ, peer: { kind: 'other_uid', uid: 1001, own_uid: 1000 } }, POLICY)).toEqual({
      allow: false,
      status: 403,
      body: { error: 'peer_refused', reason: "peer uid 1001 is not the daemon's uid 1000" },
    });
  });

  it('[AUT-2] is judged before the host', () => {
    expect(verdict({ peer: { kind: 'unresolved', reason: 'x' }, host: 'evil.example' })).toBe('peer_refused');
  });
});

describe('the Host header', () => {
  const hosts: [string | null, string][] = [
    ['127.0.0.1', 'allow'],
    ['127.0.0.1:4000', 'allow'],
    ['127.255.3.4:1', 'allow'],
    ['localhost', 'allow'],
    ['LocalHost:4000', 'allow'],
    ['localhost.:4000', 'allow'],
    ['[::1]', 'allow'],
    ['[::1]:4000', 'allow'],
    ['host-a:4000', 'allow'],
    ['HOST-A.local', 'allow'],
    ['board.example:8443', 'allow'],
    [null, 'forbidden_host'],
    ['', 'forbidden_host'],
    ['evil.example', 'forbidden_host'],
    ['127.0.0.1.evil.example', 'forbidden_host'],
    ['127.1', 'forbidden_host'],
    ['0127.0.0.1', 'forbidden_host'],
    ['127.0.0.256', 'forbidden_host'],
    ['2130706433', 'forbidden_host'],
    ['0.0.0.0', 'forbidden_host'],
    ['::1', 'forbidden_host'],
    ['[::]', 'forbidden_host'],
    ['[::ffff:127.0.0.1]', 'forbidden_host'],
    ['localhost.evil.example', 'forbidden_host'],
    ['localhost@evil.example', 'forbidden_host'],
    ['localhost/evil', 'forbidden_host'],
    ['localhost:99999', 'forbidden_host'],
    ['localhost:', 'forbidden_host'],
    ['localhost evil', 'forbidden_host'],
    ['localhost, evil.example', 'forbidden_host'],
    ['sub.board.example', 'forbidden_host'],
  ];
  it.each(hosts)('%j → %s on reads', (host, expected) => {
    expect(verdict({ host })).toBe(expected);
    expect(verdict({ host, method: 'HEAD' })).toBe(expected);
  });

  it.each(hosts)('%j → %s on writes', (host, expected) => {
    expect(verdict({ host, method: 'POST' })).toBe(expected);
  });

  it('has no meaning on a Unix socket', () => {
    expect(verdict({ host: 'anything', peer: { kind: 'unix_socket' } })).toBe('allow');
    expect(verdict({ host: null, method: 'POST', peer: { kind: 'unix_socket' } })).toBe('allow');
  });
});

describe('Origin and Sec-Fetch-Site', () => {
  const own = 'http://127.0.0.1:4000';
  const writes: [Partial<AccessQuestion>, string][] = [
    [{}, 'allow'],
    [{ origin: own }, 'allow'],
    [{ origin: 'https://board.example', host: 'board.example' }, 'allow'],
    [{ origin: 'HTTP://LOCALHOST:4000', host: 'localhost:4000' }, 'allow'],
    [{ origin: 'http://localhost:5173' }, 'allow'],
    [{ origin: 'http://localhost:5173', fetch_site: 'cross-site' }, 'allow'],
    [{ origin: own, fetch_site: 'same-origin' }, 'allow'],
    [{ fetch_site: 'none' }, 'allow'],
    [{ fetch_site: 'same-site', origin: 'http://127.0.0.1:3000' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site' }, 'forbidden_origin'],
    [{ fetch_site: 'Cross-Site', origin: own }, 'forbidden_origin'],
    [{ origin: 'null' }, 'forbidden_origin'],
    [{ origin: '' }, 'forbidden_origin'],
    [{ origin: 'http://evil.example' }, 'forbidden_origin'],
    [{ origin: 'http://127.0.0.1' }, 'forbidden_origin'],
    [{ origin: 'http://localhost:4000' }, 'forbidden_origin'],
    [{ origin: 'file://127.0.0.1:4000' }, 'forbidden_origin'],
    [{ origin: 'http://127.0.0.1:4000.evil.example' }, 'forbidden_origin'],
    [{ origin: 'http://localhost:5173.evil.example' }, 'forbidden_origin'],
  ];
  it.each(writes)('[AUT-3] a write with %j → %s', (change, expected) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'BREW']) {
      expect(verdict({ ...change, method }), method).toBe(expected);
    }
  });

  it.each(writes)('[AUT-3] an upgrade with %j → %s', (change, expected) => {
    expect(verdict({ ...change, is_upgrade: true })).toBe(expected);
  });

  it('lets a link on any page open the board', () => {
    expect(verdict({ fetch_site: 'cross-site', origin: null })).toBe('allow');
  });

  it('[AUT-3] holds on a Unix socket too, since a tunnel may end there', () => {
    const peer: Peer = { kind: 'unix_socket' };
    expect(verdict({ peer, method: 'POST', origin: 'http://evil.example' })).toBe('forbidden_origin');
    expect(verdict({ peer, method: 'POST', origin: 'http://evil.example', host: 'evil.example' })).toBe(
      'forbidden_origin',
    );
    expect(verdict({ peer, method: 'POST', origin: own })).toBe('allow');
  });
});

describe('every request', () => {
  it('is refused when its host is neither loopback nor listed, whatever else it says', () => {
    const question = fc.record<AccessQuestion>({
      host: fc.option(fc.oneof(fc.domain(), fc.ipV4(), fc.string())),
      origin: fc.option(fc.webUrl()),
      fetch_site: fc.option(fc.constantFrom('none', 'same-origin', 'same-site', 'cross-site')),
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'),
      is_upgrade: fc.boolean(),
      peer: fc.constantFrom<Peer>({ kind: 'unchecked' }, { kind: 'own_uid' }),
    });
    fc.assert(
      fc.property(question, (asked) => {
        const parsed = asked.host === null ? null : parseHostHeader(asked.host);
        const known = parsed !== null && isLoopbackName(parsed.name);
        const decision = decideAccess(asked, { own_names: [], allowed_hosts: [], dev_origins: [] });
        expect(decision.allow && !known).toBe(false);
      }),
    );
  });
});
