import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccessPolicy,
  type AccessQuestion,
  decideAccess,
  decideUse,
  isLoopbackName,
  type Peer,
  parseHostHeader,
} from '../../src/access/decide-access.ts';

const POLICY: AccessPolicy = {
  own_names: ['host-a', 'host-a.local'],
  allowed_hosts: ['board.example'],
  dev_origins: ['http://localhost:5173'],
};

const READ: AccessQuestion = {
  host: '127.0.0.1:4000',
  origin: null,
  fetch_site: null,
  fetch_mode: null,
  fetch_dest: null,
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
    [{ kind: 'own_machine', names: [] }, 'allow'],
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
  it.each(hosts)('[P18] %j → %s on reads', (host, expected) => {
    expect(verdict({ host })).toBe(expected);
    expect(verdict({ host, method: 'HEAD' })).toBe(expected);
  });

  it.each(hosts)('[P18] %j → %s on writes', (host, expected) => {
    expect(verdict({ host, method: 'POST' })).toBe(expected);
  });

  it.each(hosts)('[P18] %j → %s for an upgrade', (host, expected) => {
    expect(verdict({ host, is_upgrade: true })).toBe(expected);
  });

  it.each(hosts)('[P18] %j → %s on a Unix socket, where a tunnel may bring a browser', (host, expected) => {
    expect(verdict({ host, peer: { kind: 'unix_socket' } })).toBe(expected);
  });

  it.each([
    ['100.64.0.1', 'allow'],
    ['100.64.0.1:4000', 'allow'],
    ['HOST-A.tail1234.ts.net', 'allow'],
    ['[fd7a:115c:a1e0::1]:4000', 'allow'],
    ['host-b.tail1234.ts.net', 'forbidden_host'],
    ['', 'forbidden_host'],
    [null, 'forbidden_host'],
  ])('[P18] [OPR-3] %j → %s over the tailnet, where this machine has names of its own', (host, expected) => {
    const names = ['100.64.0.1', 'fd7a:115c:a1e0::1', 'host-a.tail1234.ts.net'];
    expect(verdict({ host, peer: { kind: 'own_machine', names } })).toBe(expected);
    if (expected === 'allow') expect(verdict({ host })).toBe('forbidden_host');
  });

  it('[P18] is evaluated again when the policy changes', () => {
    const host = 'other.example';
    expect(verdict({ host })).toBe('forbidden_host');
    const wider = { ...POLICY, allowed_hosts: [host] };
    expect(decideAccess({ ...READ, host }, wider)).toEqual({ allow: true });
    expect(verdict({ host })).toBe('forbidden_host');
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
    [{ fetch_site: 'same-site' }, 'forbidden_origin'],
    [{ fetch_site: 'none', origin: 'null' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site' }, 'forbidden_origin'],
    [
      { fetch_site: 'cross-site', fetch_mode: 'navigate', fetch_dest: 'document', origin: 'null' },
      'forbidden_origin',
    ],
    [{ fetch_site: 'cross-site', fetch_mode: 'navigate', fetch_dest: 'document' }, 'forbidden_origin'],
    [{ fetch_site: 'something-new', origin: own }, 'forbidden_origin'],
    [{ fetch_site: '' }, 'forbidden_origin'],
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

  const reads: [Partial<AccessQuestion>, string][] = [
    [{ fetch_site: 'none', fetch_mode: 'navigate', fetch_dest: 'document' }, 'allow'],
    [{ fetch_site: 'same-origin', fetch_mode: 'cors', fetch_dest: 'empty' }, 'allow'],
    [{ fetch_site: 'same-origin', fetch_mode: 'navigate', fetch_dest: 'iframe' }, 'allow'],
    [{ fetch_site: 'cross-site', fetch_mode: 'navigate', fetch_dest: 'document' }, 'allow'],
    [{ fetch_site: 'same-site', fetch_mode: 'navigate', fetch_dest: 'document' }, 'allow'],
    [{ fetch_site: 'cross-site', fetch_mode: 'navigate', fetch_dest: 'iframe' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'navigate', fetch_dest: 'object' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'navigate' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_dest: 'document' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'no-cors', fetch_dest: 'image' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'no-cors', fetch_dest: 'script' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'cors', fetch_dest: 'empty' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site' }, 'forbidden_origin'],
    [{ fetch_site: 'same-site', fetch_mode: 'no-cors', fetch_dest: 'script' }, 'forbidden_origin'],
    [{ fetch_site: 'something-new' }, 'forbidden_origin'],
    [{ fetch_site: 'cross-site', fetch_mode: 'cors', origin: 'http://localhost:5173' }, 'allow'],
    [{ origin: 'http://evil.example' }, 'allow'],
  ];
  it.each(reads)('a read with %j → %s', (change, expected) => {
    for (const method of ['GET', 'HEAD']) expect(verdict({ ...change, method }), method).toBe(expected);
  });

  it('[AUT-3] holds on a Unix socket too, since a tunnel may end there', () => {
    const peer: Peer = { kind: 'unix_socket' };
    expect(verdict({ peer, method: 'POST', origin: 'http://evil.example' })).toBe('forbidden_origin');
    expect(verdict({ peer, fetch_site: 'cross-site' })).toBe('forbidden_origin');
    expect(verdict({ peer, method: 'POST', origin: own })).toBe('allow');
  });
});

describe('what a browser does with data', () => {
  const runs = ['script', 'worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'xslt'];
  it.each([...runs, 'Script', 'style', 'json', 'object', 'embed', 'report', 'a-use-of-tomorrow', ''])(
    '[RPL-10] is refused as %j, with words',
    (use) => {
      const message = expect.stringContaining('asks for data to run');
      const refused = { allow: false, status: 403, body: { error: 'forbidden_use', message } };
      expect(decideUse(use)).toEqual(refused);
    },
  );

  it.each([null, 'empty', 'Document', 'iframe', 'image', 'video', 'audio', 'track', 'websocket'])(
    '[RPL-10] is allowed as %j',
    (use) => expect(decideUse(use)).toEqual({ allow: true }),
  );
});

const anything = fc.record<AccessQuestion>({
  host: fc.option(
    fc.oneof(fc.constantFrom('localhost', '127.0.0.1:4000'), fc.domain(), fc.ipV4(), fc.string()),
  ),
  origin: fc.option(
    fc.oneof(fc.constantFrom('http://localhost', 'http://127.0.0.1:4000', 'null'), fc.webUrl()),
  ),
  fetch_site: fc.option(fc.constantFrom('none', 'same-origin', 'same-site', 'cross-site', '')),
  fetch_mode: fc.option(fc.constantFrom('navigate', 'cors', 'no-cors', 'websocket')),
  fetch_dest: fc.option(fc.constantFrom('document', 'iframe', 'empty', 'image')),
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'),
  is_upgrade: fc.boolean(),
  peer: fc.constantFrom<Peer>(
    { kind: 'unchecked' },
    { kind: 'own_uid' },
    { kind: 'unix_socket' },
    { kind: 'own_machine', names: [] },
    { kind: 'other_uid', uid: 1, own_uid: 0 },
    { kind: 'unresolved', reason: 'x' },
  ),
});
const NOBODY_ELSE: AccessPolicy = { own_names: [], allowed_hosts: [], dev_origins: [] };

describe('every request', () => {
  it('[P18] is refused if its host is neither loopback nor listed, whatever its other headers', () => {
    fc.assert(
      fc.property(anything, (asked) => {
        const parsed = asked.host === null ? null : parseHostHeader(asked.host);
        const known = parsed !== null && isLoopbackName(parsed.name);
        const decision = decideAccess(asked, NOBODY_ELSE);
        expect(decision.allow && !known).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('[AUT-2] is refused if its peer is another user or unknown, whatever its headers', () => {
    fc.assert(
      fc.property(anything, (asked) => {
        const foreign = asked.peer.kind === 'other_uid' || asked.peer.kind === 'unresolved';
        const decision = decideAccess(asked, NOBODY_ELSE);
        expect(foreign ? decision.allow === false && decision.body.error === 'peer_refused' : true).toBe(
          true,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('[AUT-3] has an effect only without a page, or from the page of the very host it is sent to', () => {
    fc.assert(
      fc.property(anything, (asked) => {
        const reads = (asked.method === 'GET' || asked.method === 'HEAD') && !asked.is_upgrade;
        if (reads || !decideAccess(asked, NOBODY_ELSE).allow) return;
        expect([null, 'none', 'same-origin']).toContain(asked.fetch_site);
        if (asked.origin !== null)
          expect(asked.origin.toLowerCase()).toMatch(new RegExp(`^https?://${asked.host}$`));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not admitted by any addition to the policy except its own host name', () => {
    const policies = fc.record({
      own_names: fc.array(fc.domain()),
      allowed_hosts: fc.array(fc.domain()),
      dev_origins: fc.constant<string[]>([]),
    });
    fc.assert(
      fc.property(anything, policies, (asked, policy) => {
        const before = decideAccess(asked, NOBODY_ELSE);
        const after = decideAccess(asked, policy);
        if (before.allow || !after.allow) return;
        const name = parseHostHeader(asked.host ?? '')?.name;
        expect([...policy.own_names, ...policy.allowed_hosts].map((entry) => entry.toLowerCase())).toContain(
          name,
        );
      }),
    );
  });
});
