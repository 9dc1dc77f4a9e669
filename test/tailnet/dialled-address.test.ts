import { describe, expect, it } from 'vitest';
import type { TailnetNetwork } from '../../src/contract/threads/fleet.ts';
import { dialledAddress } from '../../src/tailnet/dialled-address.ts';

const network = (has_interface: boolean): TailnetNetwork => ({
  socket: '/run/tailscaled.sock',
  has_interface,
  self: {
    ...{ id: 'n', user_id: 1, dns_name: 'here.tail1.ts.net', addresses: ['100.64.0.1'] },
    is_tagged: false,
  },
});
const url = (text: string) => ({ url: text });

describe('how an address is reached', () => {
  it.each([
    ['an address of the tailnet', url('http://100.64.0.2:4000'), true],
    ['one of IPv6', url('http://[fd7a:115c:a1e0::2]:4000'), true],
    ['a name of the tailnet', url('http://there.tail1.ts.net:4000'), true],
    ['a name of another tailnet', url('http://there.tail2.ts.net:4000'), false],
    ['an address of another network', url('http://192.0.2.1:4000'), false],
    ['this machine', url('http://127.0.0.1:4000'), false],
    ['TLS', url('https://there.tail1.ts.net'), false],
    ['a socket', { socket: '/run/b.sock' }, false],
  ])('[OPR-3] is through tailscaled without an interface alone: %s', (_, address, dials) => {
    const dialled = { ...address, dial: '/run/tailscaled.sock' };
    expect(dialledAddress(address, network(false))).toEqual(dials ? dialled : address);
    expect(dialledAddress(address, network(true))).toEqual(address);
    expect(dialledAddress(address, null)).toEqual(address);
  });
});
