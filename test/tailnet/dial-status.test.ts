import { describe, expect, it } from 'vitest';
import type { TailnetDial } from '../../src/contract/http/version.ts';
import { DialRecord, dialStatus, isInTailnet } from '../../src/tailnet/dial-status.ts';

const AVAILABLE: TailnetDial = { status: 'available', socket_source: 'system' };
const bound = { address: '100.64.0.1:4000', error: null };
const unbound = { address: null, error: 'cannot listen' };

describe('the status of the way into the tailnet', () => {
  it.each([
    ['is ready where it is listened to', AVAILABLE, bound, null, { status: 'ready' }],
    [
      'is unbound before, with the reason',
      AVAILABLE,
      unbound,
      null,
      { status: 'unbound', error: 'cannot listen' },
    ],
    [
      'is an error once a request failed',
      AVAILABLE,
      bound,
      'no answer',
      { status: 'error', error: 'no answer' },
    ],
    ['is available where nobody listens', AVAILABLE, null, null, { status: 'available' }],
    [
      'is that of tailscaled without it',
      { ...AVAILABLE, status: 'unavailable' },
      bound,
      'x',
      { status: 'unavailable' },
    ],
  ])('[OPR-3] %s', (_, dial, listener, failure, status) => {
    expect(dialStatus(dial, listener, failure)).toEqual({ ...AVAILABLE, ...status });
  });

  it('[OPR-3] keeps a failure until a request goes well', () => {
    let changes = 0;
    const record = new DialRecord(() => {
      changes += 1;
    });
    record.note(null);
    expect([record.failure(), changes]).toEqual([null, 0]);
    record.note(new Error('no answer'));
    record.note(new Error('no answer'));
    expect([record.failure(), changes]).toEqual(['no answer', 1]);
    record.note(null);
    expect([record.failure(), changes]).toEqual([null, 2]);
  });

  it.each([
    ['http://100.64.0.2:4000', true],
    ['http://[fd7a:115c:a1e0::2]:4000', true],
    ['http://host-b.tail1234.ts.net:4000', true],
    ['http://host-b.other.ts.net', false],
    ['http://tail1234.ts.net.example.org', false],
    ['http://192.168.1.2:4000', false],
    ['no url', false],
  ])('counts only requests over it: %s', (url, is) => {
    const self = { id: 'n', user_id: 1, addresses: [], is_tagged: false, dns_name: 'host-a.tail1234.ts.net' };
    expect(isInTailnet({ url }, { socket: '/t', has_interface: true, self })).toBe(is);
    expect(isInTailnet({ socket: '/b.sock' }, null)).toBe(false);
  });
});
